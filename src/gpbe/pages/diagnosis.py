"""The page that a diagnosis prints as."""

import io
from typing import TYPE_CHECKING

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
COLOR = {"converges": "green", "diverges": "red", "undecided": "yellow"}
MOST_STATES = 12
"""States that the page has room for."""


def as_text(diagnosis: "Diagnosis", width: int = 100) -> str:
    """The page as plain text."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(as_page(diagnosis))
    return out.getvalue().rstrip()


def as_page(diagnosis: "Diagnosis") -> Group:
    """The page as Rich prints it."""
    p = diagnosis.problem
    rank, k = int(diagnosis.findings[0].solution.feature_rank), p.features.shape[-1]
    head = f"{p.name}: {p.mdp.n_states} states, {p.mdp.n_actions} actions, {k} feature{'s' * (k > 1)}"
    head += f" (rank {rank})" if rank < k else ""
    what, why = diagnosis.recommendation
    advice = Text.assemble(("Recommended: ", "bold"), (what, "bold cyan"), f"\n{why[0].upper()}{why[1:]}.")
    for warning in diagnosis.warnings:
        advice.append(Text.assemble(("\nWarning: ", "bold yellow"), f"{warning}."))
    return Group(
        Rule(Text(f"{head}, lambda = {diagnosis.lam:g}", style="bold")),
        *_block(None, advice),
        *_block("Does TD converge?", _stability(diagnosis)),
        *_block("What each objective's minimum is worth", _solutions(diagnosis)),
        *_block("Where the policies spend their time", _states(diagnosis)),
    )


def _block(title: str | None, *content: RenderableType) -> list[RenderableType]:
    heading = [Text(f"\n{title}", style="bold")] if title else [Text()]
    return [*heading, *(Padding(c, (0, 0, 0, 2)) for c in content)]


def _stability(diagnosis: "Diagnosis") -> Group:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("method", "weighting", "verdict", "smallest eigenvalue of A", "step sizes", "variance"):
        table.add_column(column)
    methods = {"behavior": "off-policy TD", "target": "alternative-life TD", "emphatic": "emphatic TD (ETD)"}
    for name, s in diagnosis.stability.items():
        finite = "finite" if diagnosis.finite_variance[name] else Text("infinite", style="yellow")
        steps = f"below {s.largest_step_size:.4g}" if s.largest_step_size else "none"
        table.add_row(
            methods[name],
            SYMBOL[name],
            Text(s.verdict, style=COLOR[s.verdict]),
            _complex(s.eigenvalues[0]),
            steps,
            finite,
        )
    mean, deviation = diagnosis.followon
    spread = f"The followon of ETD has mean {_short(mean)} and standard deviation {_short(deviation)}."
    said = "Step sizes are those for which the expected update contracts; the variance is that of a sampled one. "
    notes = [Text(f"{said}{spread} {_lambdas(diagnosis)}")]
    if diagnosis.stability["behavior"].verdict == "diverges":
        notes.insert(0, Text(_why(diagnosis, diagnosis.stability["behavior"])))
    return Group(table, *notes)


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


def _solutions(diagnosis: "Diagnosis") -> Group:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("objective", "weighting"):
        table.add_column(column)
    for column in ("RMSVE (d_b)", "RMSVE (d_pi)", "bound", "penalty", "condition"):
        table.add_column(column, justify="right")
    for f in diagnosis.findings:
        bound = "" if f.bound is None else _short(float(f.bound.right)) if f.bound.assumptions_hold else "none"
        penalty = _short(diagnosis.penalty[f.weighting]) if f.objective == "pbe" else ""
        unique = "" if f.solution.unique_values else " *"
        table.add_row(
            f.objective.upper(),
            SYMBOL[f.weighting],
            _short(f.error_behavior) + unique,
            _short(f.error_target) + unique,
            bound,
            penalty,
            _condition(f.solution),
            end_section=f.weighting == "emphatic",
        )
    note = (
        "RMSVE: root mean squared value error. bound: Theorem 1's on the RMSVE under the row's own weighting (none: TD "
        "need not contract). penalty: the squared Bellman error that the PBE does not see there."
    )
    if not all(f.solution.unique_values for f in diagnosis.findings):
        note += " *: the minimum is not unique; the one with the smallest weights is shown."
    return Group(table, Text(note))


def _states(diagnosis: "Diagnosis") -> Group:
    p, d = diagnosis.problem, diagnosis.weightings
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("state")
    for column in ("d_b", "d_pi", "m", "v_pi", "PBE, d_b", "PBE, m", "BE, d_b"):
        table.add_column(column, justify="right")
    columns = [
        *(d[name] for name in SYMBOL),
        p.values,
        *(
            diagnosis.finding(o, w).solution.values
            for o, w in (("pbe", "behavior"), ("pbe", "emphatic"), ("be", "behavior"))
        ),
    ]
    for s in range(min(p.mdp.n_states, MOST_STATES)):
        table.add_row(Text(p.mdp.state_names[s]), *(_short(c[s]) for c in columns))  # no markup in names
    rest = p.mdp.n_states - MOST_STATES
    all_of_them = " (all of them with --json)" if diagnosis.converging_lambdas is not None else ""
    more = f"... and {rest} more states{all_of_them}. " if rest > 0 else ""
    worst = p.mdp.state_names[diagnosis.most_missed_state]
    note = f"{more}Mismatch kappa(d_pi, d_b) = {_short(diagnosis.mismatch)}, attained in state '{worst}'."
    return Group(table, Text(note))


def _short(x: float) -> str:
    return "0" if abs(x) < 5e-13 else f"{x:.4g}"


def _complex(e: complex) -> str:
    return _short(e.real) if abs(e.imag) < 1e-12 else f"{_short(e.real)} ± {abs(e.imag):.4g}i"


def _condition(solution: "Solution") -> str:
    rank, k = int(solution.rank), solution.weights.shape[-1]
    return _short(float(solution.condition)) if rank == k else f"rank {rank} of {k}"
