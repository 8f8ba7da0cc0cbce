"""`gpbe.predict`: learn values by any algorithm, over swept hyperparameters and many runs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpbe import mdp
from gpbe.algorithms.linear import Algorithm
from gpbe.algorithms.nonlinear import NonlinearAlgorithm
from gpbe.checks import check_function, check_given, check_seed
from gpbe.errors import InputError
from gpbe.exact.weightings import Name
from gpbe.learn.linear.predict import predict_linear
from gpbe.learn.linear.recorded import Recording
from gpbe.learn.prediction import Asked, Prediction
from gpbe.mdp import Log, LogFiles, PredictionProblem
from gpbe.mdp.log_source import Source
from gpbe.shapes import Numbers


def predict(
    problem: PredictionProblem | Log | LogFiles | Recording | str | Path,
    algorithm: str | Algorithm | NonlinearAlgorithm = "tdrc",
    *,
    steps: int | None = None,
    runs: int = 1,
    seed: int = 0,
    metrics: tuple[str, ...] | str | None = None,
    weighting: Name | Numbers = "behavior",
    every: int | None = 1,
    average: bool = False,
    optimizer: str = "sgd",
    state_lam: Numbers | None = None,
    epochs: int = 1,
    initial_weights: Numbers | None = None,
    net: int | tuple[int, ...] | list[int] | Callable[..., Any] | None = None,
    basis: str | Numbers | None = None,
    ridge: Numbers | None = None,
    projection: Numbers | None = None,
    n: int | str = 1,
    batch: int | None = None,
    buffer: int | None = None,
    kernel: str | None = None,
    width: int | None = None,
    advance: Callable[[int], None] = lambda settings: None,
    progress: bool | str = False,
    **hyperparameters: Any,
) -> Prediction:
    """Learn the target policy's values from the behavior's transitions.

    Values are linear in the problem's features, or what a network makes of them if `net` is given.

    Args:
        problem: a problem to simulate, the name of one from `gpbe list problems` or of a file with one (.toml, .npz),
            or a `Log` of recorded transitions (or its .parquet or .csv file).
        algorithm: a name from `gpbe list algorithms`, or an `Algorithm` made of axes; with `net` one from
            `gpbe list networks`, or a `NonlinearAlgorithm`.
        steps: transitions to learn from; 1000 if left out, or all of a log.
        runs: independent runs. Run k depends on problem, seed and k alone, however many there are, and its data are the
            same for every algorithm, so that these can be compared in pairs.
        seed: of the behavior's data, and of networks.
        metrics: of "rmsve", "rmspbe", "rmsbe", "distance" (to the algorithm's own fixed point), "rhpbe" and "rhbe" (of
            Huber's errors with a threshold, as in "rhpbe:0.5"); with `net` of "rmsve", "rmsbe", "rmspbe" (the
            nonlinear PBE), "rmsgpbe" (of `projection`), "rmstde", "rhbe", "rhpbe" and "rhgpbe". A log has "rmspbe"
            and "distance", with `net` "rmsgpbe" and "rmstde".
        weighting: of the states in the metrics.
        every: updates between points of a curve. If None, one; or for a log so many that its curve has 10,000 points at
            most, if there is a number that divides it.
        average: keep only means and standard errors over runs of the curves, which need little memory.
        optimizer: "sgd", or "adam" on the algorithm's direction.
        state_lam: multiplies lam on arrival in each state, for a trace parameter that depends on the state; with `net`
            and a log, at the end of each row.
        epochs: for linear values, passes over the data by algorithms that store them (SVRG, SAGA).
        initial_weights: for linear values, where w starts; the problem's own if left out.
        net: sizes of hidden layers, or a function from a random key to a module that takes an observation to a number.
        basis: with `net`, of h: "head" (on v's last layer, detached), "network", "gradient" (of v), or features of H
            (S, M), for a log (T, M). The default is "head", and "gradient" for modules and Maei's algorithms, which
            have no other. h is 0 at the start, but as a network made by a function it is what that makes.
        ridge: with `net`, a penalty for each given feature of H; for linear values a hyperparameter of LSTD.
        projection: with `net`, features of H for "rmsgpbe"; those of `basis` if given there.
        n: with `net`, transitions in a return, or "episode" for all to the episode's end; with `lam` below 1 it is a
            lambda-return. It is cut off after n transitions, at the end of the episode, or where the data end or break.
        batch: with `net`, windows drawn from a replay buffer for each update; online, from the latest, if left out.
        buffer: with `net`, how many of the latest windows that buffer holds; 4000 if left out.
        kernel: with `net`, of "kbe": "gaussian" (the default), "laplace", "linear", "quadratic" or "same".
        width: with `net`, units in each layer of a network of h's own; as v's if left out.
        advance: is told how many more settings are done.
        progress: show a bar with the settings that are done, if this is a terminal; a text is its title.
        **hyperparameters: `step_size`, `ratio` (of h's step size to w's), `lam`, `beta` (TDRC), `huber` (the bound on
            h of the Huber PBE), `c_bar` and `rho_bar` (V-trace), `followon_decay` (ETD(lam, beta)), `bandwidth` (KBE),
            `power` and `delay` (step_size / (1 + t / delay)^power). One given as an array is swept; arrays must have
            one length (`gpbe.grid` makes products).

    >>> result = predict("boyan", "tdrc", steps=2000, runs=5, step_size=[0.1, 0.2], metrics=("rmsve",))
    >>> result.curves["rmsve"].shape, result.weights.shape
    ((2, 5, 2000), (2, 5, 4))
    >>> result = predict("random-walk-5", "tdrc", net=(8,), steps=400, runs=3, every=100, step_size=0.05)
    >>> result.curves["rmsve"].shape, result.values.shape
    ((3, 4), (3, 4, 5))
    """
    check_seed(seed)
    check_given(runs=runs)
    check_function(advance=advance)
    asked = Asked(
        problem=read_problem(problem),
        algorithm=algorithm,
        hyperparameters=hyperparameters,
        steps=steps,
        runs=runs,
        seed=seed,
        metrics=metrics,
        weighting=weighting,
        every=every,
        average=average,
        optimizer=optimizer,
        state_lam=state_lam,
        advance=advance,
        progress=progress,
    )
    of_net = {"basis": basis, "projection": projection, "n": n, "batch": batch, "buffer": buffer}
    of_net |= {"kernel": kernel, "width": width}
    if net is None:
        refuse_given(of_net | {"n": None if isinstance(n, int) and n == 1 else n}, "values from a network; give net")
        more = {} if ridge is None else {"ridge": ridge}
        return predict_linear(asked._replace(hyperparameters=hyperparameters | more), epochs, initial_weights)
    of_linear = {"epochs": None if epochs == 1 else epochs, "initial_weights": initial_weights}
    refuse_given(of_linear, "linear values; leave net out")
    from gpbe.learn.nonlinear.checks import NetOptions
    from gpbe.learn.nonlinear.predict import predict_net

    if isinstance(asked.problem, LogFiles):
        asked = asked._replace(problem=asked.problem.read())
    return predict_net(asked, NetOptions(net=net, ridge=ridge, **of_net))


def read_problem(problem: object) -> PredictionProblem | Source:
    """A problem or a log: itself, by its name in the zoo, or in a file, of which no row is read yet.

    >>> read_problem("baird").name
    'baird'
    """
    if isinstance(problem, PredictionProblem | Log | LogFiles | Recording):
        return problem
    if not isinstance(problem, str | Path):
        raise InputError(
            f"problem is of type {type(problem).__name__}; give a PredictionProblem, which is an MDP with policies "
            "and features, a Log, or the name of a problem"
        )
    return mdp.scan_log(problem) if mdp.is_log(problem) else mdp.find(problem)


def refuse_given(options: Mapping[str, Any], what: str) -> None:
    """Refuse the first option that was given, though it is for something else."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is for {what}, or leave it out")
