"""`gpbe evaluate`: a policy's value from a log, or from playing episodes with a trained agent."""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from gpbe import process
from gpbe.bars import progress
from gpbe.cli.options import File, Json, Names, Number, Real, Sizes
from gpbe.cli.sweeping import check_out, write_out
from gpbe.cli.terminal import check_file, console, environment_errors, headed, print_json
from gpbe.errors import InputError, one_line

Logs = Annotated[tuple[str, ...], arg(metavar="LOG|AGENT ...", help_behavior_hint="")]
Pairs = Annotated[tuple[str, ...], arg(metavar="NAME=COLUMN ...", help_behavior_hint="")]
Reference = Annotated[str | None, arg(metavar="MODULE:FUNCTION", help_behavior_hint="")]
Env = Annotated[str | None, arg(metavar="ENV", help_behavior_hint="")]


def evaluate(
    log: Positional[Logs],
    by: Names = (),
    at: Literal["start", "log"] = "start",
    level: float = 0.95,
    interval: Literal["asymptotic", "bootstrap"] = "asymptotic",
    lam: float = 0.0,
    hidden: Sizes = None,
    columns: Pairs = (),
    discount: Real = None,
    target: Reference = None,
    behavior: Reference = None,
    features: Reference = None,
    on: str = "local",
    workers: Number = None,
    resamples: int = 1000,
    step_size: Real = None,
    seed: int = 0,
    episodes: Number = None,
    env: Env = None,
    weights: File = None,
    out: File = None,
    json: Json = False,
) -> None:
    """Estimate a policy's value from recorded data, with its uncertainty; or play episodes with a trained agent.

    Args:
        log: .parquet or .csv files, or patterns in quotes; or one .npz file with an agent of `gpbe train --save`
        by: estimators: is, wis, pdis, wpdis, dr, wdr, lstd, lsetd, mis, fqe, or an algorithm from
            `gpbe list algorithms` (with --hidden `gpbe list networks`); all that the log is enough for if left out
        at: whose value: of the states where episodes begin, or of all states of the log
        level: how often the intervals should hold the value
        interval: from the asymptotic error of each estimator, or from resampled episodes
        lam: trace parameter of LSTD and of algorithms
        hidden: units in each hidden layer of a network that makes the values of fqe, dr, wdr and algorithms
        columns: what columns are called, as reward=profit state=age,speed; see docs/evaluate.md
        discount: one number for all transitions, instead of a column
        target: a function from states to the target policy's probabilities, as policies:new
        behavior: the same for the behavior, instead of a column
        features: a function from states to features
        on: where files are read: local, ray, or ray:ADDRESS (such as ray:auto) for a cluster
        workers: processes that read files side by side; if left out one, and on a cluster one for each CPU
        resamples: of the bootstrap
        step_size: of an algorithm that has one
        seed: of the bootstrap, of learning, and of episodes
        episodes: of an agent; 10 if left out
        env: where the agent plays; where it was trained if left out
        weights: write the weights of linear values into this .parquet or .csv file
        out: write the estimates: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        json: print JSON
    """
    given = locals()
    process.prepare()
    check_out(out)
    if not log:
        raise InputError("give a log, as in gpbe evaluate trips.parquet, or an agent.npz")
    if Path(log[0]).suffix == ".npz":
        check_agents(given)
        play(log, episodes, env, seed, out, json)
        return
    for name, value in (("--episodes", episodes), ("--env", env)):
        if value is not None:
            raise InputError(f"{name} is for an agent, a file that ends in .npz; a log has episodes of its own")
    if weights is not None:
        check_table(weights)
    layout = read_layout(columns, discount, {"target": target, "behavior": behavior, "features": features})
    found = estimate(
        log,
        layout,
        estimator=by or None,
        at=at,
        level=level,
        interval=interval,
        lam=lam,
        hidden=hidden,
        workers=read_workers(on, workers),
        resamples=resamples,
        seed=seed,
        **({} if step_size is None else {"step_size": step_size}),
    )
    show(found, " ".join(log), weights, out, json)


def read_workers(on: str, count: int | None) -> Any:
    """Who reads the files: some processes here, or a cluster's."""
    from gpbe.cli.run import executor_on

    return (1 if count is None else count) if on == "local" else executor_on(on, count)


def estimate(log: tuple[str, ...], layout: dict[str, Any], **options: Any) -> Any:
    """The estimation itself, with its progress in rows on the terminal."""
    import gpbe
    from gpbe.evaluation import ESTIMATORS

    source = gpbe.mdp.scan_log(list(log), **layout)
    chosen = set(options["estimator"] or ESTIMATORS)
    passes = 2 + bool({"dr", "wdr", "mis"} & chosen)
    passes += options["hidden"] is not None and bool({"fqe", "dr", "wdr"} & chosen)
    with progress("reading", passes * source.count(), "rows") as advance:
        return gpbe.evaluate(source, advance=advance, **options)


def read_layout(columns: tuple[str, ...], discount: float | None, functions: dict[str, str | None]) -> dict[str, Any]:
    """What columns are called, and functions by their names; modules in the current folder are found.

    >>> read_layout(("reward=profit", "state=age,speed"), 0.9, {})
    {'reward': 'profit', 'state': ['age', 'speed'], 'discount': 0.9}
    """
    layout: dict[str, Any] = {}
    for pair in columns:
        name, equals, column = pair.partition("=")
        if not (name and equals and column):
            raise InputError(f"--columns {pair} cannot be read; write reward=profit, or state=age,speed for several")
        layout[name] = column.split(",") if "," in column else column
    if discount is not None:
        layout["discount"] = discount
    return layout | {name: read_function(text, name) for name, text in functions.items() if text is not None}


def read_function(text: str, option: str) -> Any:
    """A function by the name of its module and its own."""
    import sys

    from gpbe.lazy import named

    sys.path.insert(0, str(Path.cwd()))
    try:
        return named(text)
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # a name such as . is a type error
        raise InputError(f"--{option} {text} cannot be found: {error}; write module:function") from None
    except Exception as error:  # whatever the user's module does
        said = one_line(f"{type(error).__name__}: {error}")
        raise InputError(f"--{option} {text}: its module fails when it is imported: {said}") from error


OF_AGENTS = ("log", "episodes", "env", "seed", "out", "json")
"""The options that an agent's episodes have."""


def check_agents(given: dict[str, Any]) -> None:
    """Refuse options for logs that are given with an agent: they would be ignored."""
    for name, option in signature(evaluate).parameters.items():
        if name not in OF_AGENTS and given[name] != option.default:
            raise InputError(
                f"--{name.replace('_', '-')} is for logs; an agent, a file that ends in .npz, plays episodes"
            )


def check_table(path: Path) -> None:
    """Complain before anything is read."""
    if path.suffix not in (".parquet", ".csv"):
        raise InputError(f"--weights {path} should end in .parquet or .csv")
    check_file(path)


def show(found: Any, name: str, weights: Path | None, out: Path | None, json: bool) -> None:
    """Write the files that were asked for, and print the page."""
    if weights is not None:
        write_weights(found, weights)
    if out is not None:
        from gpbe.figures import estimates

        table = found.table()
        write_out(table, out, lambda: estimates.draw(table, name))
    if json:
        print_json({"log": name} | found.as_dict() | {"file": out and str(out)})
        return
    console().print(found)
    for line in [f"estimates: {out}"] * (out is not None) + [f"weights: {weights}"] * (weights is not None):
        console().print(line)


def write_weights(found: Any, path: Path) -> None:
    """A row for each feature (and action), a column for each estimator that has linear values."""
    import polars as pl

    from gpbe.files.atomic import write_table

    has = {e.name: e.weights for e in found.estimates.values() if e.weights is not None}
    if not has:
        raise InputError("none of these estimators has weights to write; lstd, lsetd and fqe have")
    rows = [pl.DataFrame({"estimator": name, "index": range(len(w)), "weight": w}) for name, w in has.items()]
    write_table(path, pl.concat(rows))


def play(
    files: tuple[str, ...], episodes: int | None, env: str | None, seed: int, out: Path | None, json: bool
) -> None:
    """Episodes of a trained agent."""
    import gpbe

    file, *others = files
    if others:
        raise InputError("give one agent; its episodes are those of one policy")
    if out is not None:
        raise InputError("--out is for logs; the episodes of an agent are printed, with --json all of them")
    agent = gpbe.load(file)
    where = env or agent.env
    with environment_errors(where):
        played = agent.evaluate(env, 10 if episodes is None else episodes, seed)
    if json:
        returns, lengths = played.returns.tolist(), played.lengths.tolist()
        error = None if played.standard_error != played.standard_error else played.standard_error
        heading = {"agent": file, "algorithm": agent.algorithm, "env": where, "seed": seed}
        print_json(heading | {"mean": played.mean, "standard_error": error, "returns": returns, "lengths": lengths})
        return
    from gpbe.cli.pages import with_error

    count = len(played.returns)
    shown = with_error(played.mean, played.standard_error if count > 1 else None)
    said = f"return {shown} over {count} greedy episode{'s' * (count != 1)}, {played.lengths.mean():.1f} steps each"
    console().print(headed(f"{agent.algorithm} on {where}", said))
