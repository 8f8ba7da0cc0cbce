"""The command line: `gpbe list`, `gpbe diagnose`, `gpbe predict`, `gpbe train`, `gpbe figure`."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import OmitArgPrefixes, Positional, arg

from gpbe.cli import train as training
from gpbe.cli.predict import NONE_GIVEN, Hyperparameters, learn_and_show
from gpbe.cli.terminal import console, print_json
from gpbe.errors import InputError

What = Literal[
    "all",
    "problems",
    "algorithms",
    "control",
    "networks",
    "experiments",
    "figures",
    "objectives",
    "weightings",
    "bounds",
]
Weighting = Literal["behavior", "target", "followon", "emphatic", "start", "uniform"]
ProblemName = Annotated[str, arg(metavar="PROBLEM", help_behavior_hint="")]
AlgorithmName = Annotated[str, arg(metavar="ALGORITHM", help_behavior_hint="")]
EnvName = Annotated[str, arg(metavar="ENV", help_behavior_hint="")]
Sizes = Annotated[tuple[int, ...] | None, arg(metavar="INT ...", help_behavior_hint="")]
Basis = Annotated[Literal["head", "network", "gradient"] | None, arg(help_behavior_hint="")]
Kernel = Annotated[Literal["gaussian", "laplace", "linear", "quadratic", "same"] | None, arg(help_behavior_hint="")]
Number = Annotated[int | None, arg(metavar="INT", help_behavior_hint="")]
File = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
Names = Annotated[tuple[str, ...], arg(metavar="NAME ...", help_behavior_hint="")]
Json = Annotated[bool, arg(help="print JSON for a program instead of text for a person")]


def list_(what: Positional[What] = "all", json: Json = False) -> None:
    """Show what there is: problems, algorithms, control algorithms, figures, objectives, weightings, bounds.

    Args:
        what: which kind to show
        json: print JSON
    """
    from gpbe.cli import catalogue, pages

    if what == "networks":  # not among all: it takes JAX, and a second
        entries = catalogue.network_algorithms()
        if json:
            print_json({what: entries})
        else:
            console().print(pages.network_table(entries))
        return
    kinds = {k: v for k, v in catalogue.catalogue().items() if what in ("all", k)}
    if json:
        whole = {"algorithms": catalogue.algorithms, "control": catalogue.control_algorithms}
        print_json({k: whole[k]() if k in whole else v for k, v in kinds.items()})
    elif what in ("algorithms", "control"):
        if what == "algorithms":
            for table in pages.algorithm_tables(catalogue.algorithms()):
                console().print(table, "")
            console().print(pages.LEGEND, "")
        for table in pages.control_tables(catalogue.control_algorithms()):
            console().print(table, "")
    else:
        for kind, entries in kinds.items():
            console().print(pages.names_table(kind, entries), "")


def figure(
    name: Positional[str],
    scale: Literal["smoke", "quick", "paper"] = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Draw a figure of the paper, or all of them; writes PNG, PDF and the table behind it.

    Figures of control are drawn from results that `gpbe run` has stored; the others are computed, which takes seconds.

    Args:
        name: a name from `gpbe list figures`, or `all`
        scale: smoke takes seconds, quick a minute or so on two cores, paper is as large as in the paper
        out: the folder to write into, and in which `results` are looked for
        json: print JSON
    """
    from gpbe.cli.figure import draw_and_show

    draw_and_show(name, scale, out, json)


def report(
    scale: Literal["smoke", "quick", "paper"] = "quick",
    out: Path = Path("out"),
    json: Json = False,
) -> None:
    """Write one HTML page with every figure, the tables behind them, and which claims of the paper the results support.

    Args:
        scale: which results
        out: the folder with `results` and figures, into which report.html is written
        json: print JSON: where it is, and the claims with their verdicts
    """
    from gpbe.cli.figure import write_report

    write_report(scale, out, json)


def diagnose(
    problem: Positional[ProblemName],
    lam: float = 0.0,
    index: Number = None,
    json: Json = False,
) -> None:
    """Tell what TD and its relatives do on a problem: convergence, solutions, errors, bounds, and what to use.

    Args:
        problem: a name from `gpbe list problems`, or a .toml or .npz file with a problem of your own
        lam: trace parameter lambda, in [0, 1]
        index: which problem of a batch (`four-rooms` has eight)
        json: print JSON
    """
    from gpbe import exact

    diagnosis = exact.diagnose(_read_problem(problem, index), lam)
    if json:
        print_json(diagnosis.as_dict())
    else:
        console().print(diagnosis)


def predict(
    problem: Positional[ProblemName],
    algorithm: Positional[AlgorithmName],
    hyperparameters: OmitArgPrefixes[Hyperparameters] = NONE_GIVEN,
    steps: Number = None,
    runs: Number = None,
    seed: int = 0,
    metrics: Names = (),
    weighting: Weighting = "behavior",
    every: int = 1,
    optimizer: Literal["sgd", "adam"] = "sgd",
    epochs: int = 1,
    net: Sizes = None,
    basis: Basis = None,
    n: Number = None,
    batch: Number = None,
    buffer: Number = None,
    kernel: Kernel = None,
    index: Number = None,
    out: File = None,
    json: Json = False,
) -> None:
    """Learn values, linear ones or with a network; print how large the errors were over learning and at its end.

    Args:
        problem: a name from `gpbe list problems`, a .toml or .npz problem file, or a .parquet log of transitions
        algorithm: a name from `gpbe list algorithms`, or with --net from `gpbe list networks`
        hyperparameters: one number each, or several to try; of several hyperparameters all combinations. Numbers are
            written as 0.1, 1/3 or 2^-5, and 2^-8..2^0 stands for every power in between
        steps: transitions to learn from; 1000 if left out, or all of a log
        runs: independent runs; 10 if left out, and a log is one
        seed: of the behavior's data, which are the same for every algorithm and setting
        metrics: of rmsve, rmspbe, rmsbe and distance; settings are compared by the first
        weighting: of the states in the metrics
        every: transitions between points of a learning curve
        optimizer: plain steps along the algorithm's direction, or Adam's
        epochs: passes over the data, for SVRG and SAGA
        net: units in each hidden layer of a network that makes values of the features
        basis: with --net, what h is made of: a head on the network's features, a network of its own, or the gradient
        n: with --net, transitions in a return
        batch: with --net, transitions drawn from a replay buffer for each update; online if left out
        buffer: with --net, how many of the latest transitions that buffer holds; 4000 if left out
        kernel: with --net, of the algorithm kbe
        index: which problem of a batch (`four-rooms` has eight)
        out: write the learning curves: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        json: print JSON
    """
    from gpbe import mdp

    is_log = Path(problem).suffix == ".parquet"
    learn_and_show(
        mdp.Log.read(problem) if is_log else _read_problem(problem, index),
        algorithm,
        hyperparameters,
        out,
        json,
        name=Path(problem).stem if Path(problem).suffix else problem,
        steps=steps,
        runs=runs if runs is not None else 1 if is_log else 10,
        seed=seed,
        metrics=metrics or None,
        weighting=weighting,
        every=every,
        optimizer=optimizer,
        epochs=epochs,
        net=net,
        basis=basis,
        n=n,
        batch=batch,
        buffer=buffer,
        kernel=kernel,
    )


def train(
    env: Positional[EnvName],
    algorithm: Positional[AlgorithmName] = "qrc",
    hyperparameters: OmitArgPrefixes[training.ControlHyperparameters] = training.NONE_GIVEN,
    steps: int = 100_000,
    runs: int = 1,
    seed: int = 0,
    hidden: Sizes = None,
    batch: int = 32,
    buffer: int = 4000,
    optimizer: Literal["adam", "rmsprop", "sgd"] = "adam",
    target_every: int = 0,
    every: Number = None,
    checkpoint: File = None,
    out: File = None,
    save: File = None,
    json: Json = False,
) -> None:
    """Learn to act with neural networks; print the mean return over the last quarter of the steps.

    Args:
        env: an environment that gymnax or Gymnasium knows, such as CartPole-v1 or LunarLander-v3
        algorithm: a name from `gpbe list control`
        hyperparameters: one number each, or several to try; of several hyperparameters all combinations. Numbers are
            written as 0.1, 1/3 or 2^-5, and 2^-12..2^-7 stands for every power in between
        steps: environment steps of each run, each followed by one update
        runs: independent runs
        seed: of everything; run k of every setting starts from the same weights
        hidden: units in each layer; the paper's for its domains, otherwise 64 64
        batch: transitions in a mini-batch
        buffer: how many of the last transitions are kept
        optimizer: what makes steps of gradients
        target_every: updates between copies to a target network; 0 for none
        every: steps between recorded returns; 500 if left out
        checkpoint: keep the state in this file; if it is there, go on from it
        out: write the returns: a table if it ends in .parquet or .csv, a drawing if in .png or .pdf
        save: write the agent of the best run into this file
        json: print JSON
    """
    training.train_and_show(
        env,
        algorithm,
        hyperparameters,
        out,
        save,
        json,
        steps=steps,
        runs=runs,
        seed=seed,
        hidden=hidden,
        batch=batch,
        buffer=buffer,
        optimizer=optimizer,
        target_every=target_every,
        every=every,
        checkpoint=checkpoint,
    )


def run(
    name: Positional[str],
    scale: Literal["smoke", "quick", "paper"] = "quick",
    on: str = "local",
    workers: Number = None,
    out: Path = Path("out"),
    estimate: bool = False,
    json: Json = False,
) -> None:
    """Run an experiment into a results folder, or the rest of it; it can be interrupted at any time and run again.

    Args:
        name: an experiment from `gpbe list experiments`, `all` of these, or a .toml file with one of your own; also a
            figure that is not about control, which is computed and drawn in one go
        scale: smoke takes seconds, quick minutes on two cores, paper is as large as in the paper
        on: local, ray, or ray:ADDRESS (such as ray:auto) for a cluster
        workers: how many processes; one for each core if left out
        out: results go into the folder `results` in it
        estimate: only tell what it would cost on this machine
        json: print JSON
    """
    from gpbe.cli.run import run_and_show

    run_and_show(name, scale, on, workers, out, estimate, json)


def status(results: Positional[Path] = Path("out"), verify: bool = False, json: Json = False) -> None:
    """Tell how far experiments are: chunks done, missing, failed, and runs that diverged.

    Args:
        results: a results folder, or a folder with several in its `results`
        verify: compare every part with its checksum
        json: print JSON
    """
    from gpbe.cli.run import show_status

    show_status(results, verify, json)


def bench(
    what: Positional[Literal["control"]],
    domains: Names = ("MountainCar-v0", "CartPole-v1", "Acrobot-v1", "LunarLander-v3"),
    algorithms: Names = ("all",),
    json: Json = False,
) -> None:
    """Measure the speed of learning on one core of this machine; beside stable-baselines3, if it is installed.

    Args:
        what: control is all that there is so far
        domains: of the paper's four
        algorithms: measured on the first domain, as a ratio to QRC; all if left out
        json: print JSON
    """
    from gpbe.algorithms.control import ALGORITHMS
    from gpbe.bench import control as measuring

    for domain in domains:
        if domain not in measuring.DOMAINS:
            raise InputError(f"there is no benchmark on {domain!r}; there are {', '.join(measuring.DOMAINS)}")
    names = tuple(ALGORITHMS) if algorithms == ("all",) else algorithms

    def say(row: dict[str, object]) -> None:
        ratio = f"  {row['ratio']} x {row['than']}" if row["ratio"] is not None else ""
        console().print(f"{row['domain']:<16}{row['what']:<24}{row['steps_per_second']:>10,} steps/s{ratio}")

    rows = measuring.measure(domains, names, (lambda row: None) if json else say)
    if json:
        print_json(rows)


def _read_problem(problem: str, index: int | None):
    """A problem of the zoo, or one in a file."""
    from gpbe import mdp

    is_file = Path(problem).suffix or os.sep in problem
    found = mdp.load(problem) if is_file else mdp.problem(problem)
    if index is not None:
        return found[index]
    if found.batch_shape:
        raise InputError(f"{problem} is a batch of {found.batch_shape[0]} problems; pick one with --index 0 and so on")
    return found


COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_,
    "diagnose": diagnose,
    "predict": predict,
    "train": train,
    "run": run,
    "status": status,
    "bench": bench,
    "figure": figure,
    "report": report,
}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Errors that a user can make end in one line on standard error and exit code 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            command = tyro.extras.subcommand_cli_from_dict(
                {name: _later(run) for name, run in COMMANDS.items()},
                prog="gpbe",
                description="Off-policy value estimation with the generalized projected Bellman error.",
                args=arguments or ["--help"],
            )
    except SystemExit as stop:
        if stop.code not in (0, None):
            _fail(_one_line(complaint.getvalue()))
        raise
    try:
        command()
    except InputError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        print("gpbe: interrupted; files written so far are whole", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader (head, say) has gone: not an error


def _later(run: Callable[..., None]) -> Callable[..., Callable[[], None]]:
    """The same command line as `run`, but parsing only; so that errors of parsing and of running stay apart."""
    import functools

    @functools.wraps(run)
    def parsed(*args, **kwargs):
        return functools.partial(run, *args, **kwargs)

    parsed.__annotations__ = {**run.__annotations__, "return": Callable[[], None]}
    return parsed


def _fail(message: str) -> None:
    print(f"gpbe: {message}", file=sys.stderr)
    sys.exit(2)


def _one_line(complaint: str) -> str:
    """What the parser says in a box, as one line without the box and its title."""
    words = re.sub(r"╭[^╮]*╮|[─-╿]", " ", complaint)
    return re.sub(r"\s+", " ", words).strip() or "the arguments could not be read; see gpbe --help"
