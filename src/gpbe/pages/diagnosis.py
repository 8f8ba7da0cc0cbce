"""What a diagnosis says, as blocks of a table and notes; and the page that it prints as."""

import io
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from gpbe.exact.diagnose import Diagnosis
    from gpbe.exact.fixed_points import Solution
    from gpbe.exact.stability import Stability

SYMBOL = {"behavior": "d_b", "target": "d_pi", "emphatic": "m"}
METHOD = {"behavior": "off-policy TD", "target": "alternative-life TD", "emphatic": "emphatic TD"}
COLOR = {"converges": "green", "diverges": "red", "undecided": "yellow", "infinite": "yellow"}
"""The color of a word that is all there is in a cell."""
MOST_STATES = 12
"""States that the page has room for."""


class Block(NamedTuple):
    """A table with a title above it and notes below."""

    title: str
    columns: tuple[str, ...]
    words: int
    """Columns that hold words; numbers follow."""
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...]
    sections: int = 0
    """Rows that belong together; 0 if all do."""


def as_text(diagnosis: "Diagnosis", width: int = 100) -> str:
    """The page as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(as_page(diagnosis))
    return out.getvalue().rstrip()


def as_page(diagnosis: "Diagnosis") -> Group:
    """The page as Rich prints it."""
    what, why, warnings = advice(diagnosis)
    said = Text.assemble(("Recommended: ", "bold"), (what, "bold cyan"), f"\n{why}")
    for warning in warnings:
        said.append(Text.assemble(("\nWarning: ", "bold yellow"), warning))
    return Group(
        Rule(Text(heading(diagnosis), style="bold")),
        *(Text(), Padding(said, (0, 0, 0, 2))),
        *(part for block in blocks(diagnosis) for part in _printed(block)),
    )


def heading(diagnosis: "Diagnosis") -> str:
    """Which problem it is, and how large."""
    p = diagnosis.problem
    rank, k = int(diagnosis.findings[0].solution.feature_rank), p.features.shape[-1]
    head = f"{p.name}: {p.mdp.n_states} states, {p.mdp.n_actions} actions, {k} feature{'s' * (k > 1)}"
    return f"{head}{f' (rank {rank})' if rank < k else ''}, lambda = {diagnosis.lam:g}"


def advice(diagnosis: "Diagnosis") -> tuple[str, str, tuple[str, ...]]:
    """What to use, why, and what to mind, as sentences."""
    what, why = diagnosis.recommendation
    return what, f"{why[0].upper()}{why[1:]}.", tuple(f"{warning}." for warning in diagnosis.warnings)


def blocks(diagnosis: "Diagnosis", most_states: int = MOST_STATES) -> tuple[Block, ...]:
    """Everything that a page shows."""
    return _stability(diagnosis), _solutions(diagnosis), _states(diagnosis, most_states)


def _printed(block: Block) -> list[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, column in enumerate(block.columns):
        table.add_column(column, justify="left" if k < block.words else "right")
    for k, row in enumerate(block.rows, 1):
        cells = (Text(cell, style=COLOR.get(cell, "")) for cell in row)  # no markup in names
        table.add_row(*cells, end_section=bool(block.sections) and k % block.sections == 0)
    content = (table, *map(Text, block.notes))
    return [Text(f"\n{block.title}", style="bold"), *(Padding(each, (0, 0, 0, 2)) for each in content)]


def _stability(diagnosis: "Diagnosis") -> Block:
    rows = [
        (
            f"{METHOD[name]}{' (ETD)' if name == 'emphatic' else ''}",
            SYMBOL[name],
            s.verdict,
            _complex(s.eigenvalues[0]),
            f"below {s.largest_step_size:.4g}" if s.largest_step_size else "none",
            "finite" if diagnosis.finite_variance[name] else "infinite",
        )
        for name, s in diagnosis.stability.items()
    ]
    mean, deviation = diagnosis.followon
    deviates = f"standard deviation {_short(deviation)}" if isfinite(deviation) else "an infinite standard deviation"
    spread = f"The followon of ETD has mean {_short(mean)} and {deviates}."
    said = "Step sizes are those for which the expected update contracts; the variance is that of a sampled one."
    notes = (f"{said} {spread} {_lambdas(diagnosis)}",)
    if diagnosis.stability["behavior"].verdict == "diverges":
        notes = (_why(diagnosis, diagnosis.stability["behavior"]), *notes)
    columns = ("method", "weighting", "verdict", "smallest eigenvalue of A", "step sizes", "variance")
    return Block("Does TD converge?", columns, len(columns), rows, notes)


def _why(diagnosis: "Diagnosis", s: "Stability") -> str:
    names = diagnosis.problem.mdp.state_names
    i, ratio = diagnosis.most_missed_state, diagnosis.mismatch
    largest = int(np.abs(s.direction).argmax())
    often = f"{ratio:.3g} times as often as" if np.isfinite(ratio) else "while it is never visited by"
    return (
        f"Why: along one direction of the weights (it moves state '{names[largest]}' most) the expected update adds "
        f"{-s.eigenvalues[0].real:.3g} of the error for each unit of step size instead of removing some. The target "
        f"visits state '{names[i]}' {often} the behavior, so errors bootstrapped from there are corrected too rarely."
    )


def _lambdas(diagnosis: "Diagnosis") -> str:
    good = diagnosis.converging_lambdas
    if good is None:
        return "Other lambdas were left out, for there are many states."
    if not len(good):
        return "Off-policy TD(lambda) converges for no lambda."
    if len(good) == 21:
        return "Off-policy TD(lambda) converges for every lambda."
    return f"Off-policy TD(lambda) converges for lambda in {{{', '.join(f'{x:g}' for x in good)}}} of 0, 0.05, ..., 1."


def _solutions(diagnosis: "Diagnosis") -> Block:
    rows = []
    for f in diagnosis.findings:
        unique = "" if f.solution.unique_values else " *"
        rows.append(
            (
                f.objective.upper(),
                SYMBOL[f.weighting],
                _short(f.error_behavior) + unique,
                _short(f.error_target) + unique,
                "" if f.bound is None else _short(float(f.bound.right)) if f.bound.assumptions_hold else "none",
                _short(diagnosis.penalty[f.weighting]) if f.objective == "pbe" else "",
                _condition(f.solution),
            )
        )
    note = (
        "RMSVE: root mean squared value error. bound: Theorem 1's on the RMSVE under the row's own weighting (none: TD "
        "need not contract). penalty: the squared Bellman error that the PBE does not see there."
    )
    if not all(f.solution.unique_values for f in diagnosis.findings):
        note += " *: the minimum is not unique; the one with the smallest weights is shown."
    columns = ("objective", "weighting", "RMSVE (d_b)", "RMSVE (d_pi)", "bound", "penalty", "condition")
    return Block("What each objective's minimum is worth", columns, 2, rows, (note,), len(SYMBOL))


def _states(diagnosis: "Diagnosis", most: int) -> Block:
    p, d = diagnosis.problem, diagnosis.weightings
    shown = (("pbe", "behavior"), ("pbe", "emphatic"), ("be", "behavior"))
    columns = [*(d[name] for name in SYMBOL), p.values]
    columns += [diagnosis.finding(objective, weighting).solution.values for objective, weighting in shown]
    names, count = p.mdp.state_names, p.mdp.n_states
    rows = [(names[s], *(_short(c[s]) for c in columns)) for s in range(min(count, most))]
    all_of_them = " (all of them with --json)" if diagnosis.converging_lambdas is not None else ""
    more = f"... and {count - most} more states{all_of_them}. " if count > most else ""
    worst = names[diagnosis.most_missed_state]
    note = f"{more}Mismatch kappa(d_pi, d_b) = {_short(diagnosis.mismatch)}, attained in state '{worst}'."
    titles = ("state", "d_b", "d_pi", "m", "v_pi", "PBE, d_b", "PBE, m", "BE, d_b")
    return Block("Where the policies spend their time", titles, 1, rows, (note,))


def _short(x: float) -> str:
    return "0" if abs(x) < 5e-13 else f"{x:.4g}"


def _complex(e: complex) -> str:
    return _short(e.real) if abs(e.imag) < 1e-12 else f"{_short(e.real)} ± {abs(e.imag):.4g}i"


def _condition(solution: "Solution") -> str:
    rank, k = int(solution.rank), solution.weights.shape[-1]
    return _short(float(solution.condition)) if rank == k else f"rank {rank} of {k}"
