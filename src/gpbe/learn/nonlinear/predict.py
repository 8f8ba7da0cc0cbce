"""Prediction with networks in three steps: read what was asked, run all settings, assemble the answer."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Key, PRNGKeyArray

from gpbe.algorithms.nonlinear import Hypers, find
from gpbe.algorithms.nonlinear.model import Basis, Make, Params, second_weights, start
from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.learn.grouping import padded_groups
from gpbe.learn.nonlinear import checks
from gpbe.learn.nonlinear.checks import NetOptions, Sizes
from gpbe.learn.nonlinear.data import Data, read_data
from gpbe.learn.nonlinear.loop import Learned, Options, learn_all
from gpbe.learn.nonlinear.metrics import (
    GIVEN,
    GRADIENT,
    measure,
    measure_log,
    measure_nonlinear,
    read_metrics,
    read_weighting,
)
from gpbe.learn.prediction import Asked, Curves, Prediction, check_optimizer, joined, summarized, without_padding
from gpbe.learn.robust import Named, measure_robust
from gpbe.learn.settings import Settings
from gpbe.mdp import Log
from gpbe.nets import flat, layout_of
from gpbe.shapes import Array, Numbers

LANES = 512
"""Runs times settings that one compiled call learns side by side."""
RECORDED, AT_A_TIME = 2**28, 2**25
"""Numbers that are recorded over learning at most (1 GB), and by one compiled call if it has more than one setting."""


class Measures(NamedTuple):
    """What is measured, and how."""

    names: dict[str, Named]
    """The metrics as they were asked for."""
    weighting: Array
    projection: Array | None
    """Features of H."""
    ridge: Numbers
    """The penalty on them."""


class Plan(NamedTuple):
    """All that learning needs, checked."""

    options: Options
    settings: Settings
    data: Data
    updates: int
    params: Params
    """The weights of all runs before learning."""
    penalties: Float[jax.Array, " M"] | None
    measures: Measures
    recorded: int
    """Numbers that a setting records."""

    @property
    def one(self) -> Params:
        """The parameters of the first run."""
        return jax.tree.map(lambda x: x[0] if eqx.is_inexact_array(x) else x, self.params)


def predict_net(asked: Asked, given: NetOptions) -> Prediction:
    """Learn the values that a network makes of the problem's features."""
    plan = read(asked, given)
    learned, curves = run(asked, plan)
    return assemble(asked, plan, learned, curves)


def read(asked: Asked, given: NetOptions) -> Plan:
    """Check everything that was asked, gather the data, and make the networks."""
    a, problem = find(asked.algorithm), asked.held
    length = checks.read_length(a, given.n, asked.state_lam)
    check_at_least(1, batch=given.batch, buffer=given.buffer, width=given.width)
    check_at_least(1, runs=asked.runs, steps=asked.steps, every=asked.every)
    settings = checks.read_hyperparameters(a, asked, length)
    net = checks.read_net(given.net)
    basis, phi = checks.read_basis(a, net, given.basis, problem, given.width)
    penalties = checks.read_ridge(given.ridge, phi)
    buffer, kernel = checks.read_buffer(a, given.batch, given.buffer), checks.read_kernel(a, given.kernel)
    check_optimizer(asked.optimizer)
    measures = read_measures(asked, given, phi)
    data, n, updates = read_data(problem, a, length, asked.steps, asked.runs, asked.seed, asked.state_lam, phi)
    every = asked.spacing(updates)
    checks.check_filled(given.batch, updates)
    options = Options(
        algorithm=a,
        basis=basis,
        kernel=kernel,
        n=n,
        every=every,
        batch=given.batch or 1,
        buffer=buffer,
        adam=asked.optimizer == "adam",
        schedule=bool(np.any(settings.numbers["power"])),
        keep_weights=any(metric.base in GRADIENT for metric in measures.names.values()),
    )
    keys, features = jax.random.split(keys_of(asked.seed)[0], asked.runs), 0 if phi is None else phi.shape[1]
    params = start_all(net, data.observations.shape[0], basis, features, given.width, keys)
    weights = flat(params).size // asked.runs
    recorded = check_recorded(
        asked.runs * (updates // every + 1),
        data.observations.shape[1],
        weights if options.keep_weights else 0,
        settings.count,
    )
    return Plan(options, settings, data, updates, params, penalties, measures, recorded)


def read_measures(asked: Asked, given: NetOptions, phi: Array | None) -> Measures:
    """What to measure; with features of H for the generalized PBE if there are any."""
    names = read_metrics(asked.held, asked.names(("rmsve", "rmspbe"), ("rmstde",)))
    wanted = [name for name, metric in names.items() if metric.base in GIVEN]
    rows, ridge = phi, 0.0 if given.ridge is None else given.ridge
    if given.projection is not None:
        if not wanted:
            raise InputError("projection is for the metric rmsgpbe; name that in metrics, or leave projection out")
        rows, ridge = checks.read_rows(given.projection, "projection", asked.held), 0.0
    if wanted and rows is None:
        raise InputError(f"{wanted[0]} needs the features of H: give projection, one row a state")
    return Measures(names, read_weighting(asked.held, asked.weighting), rows, ridge)


def keys_of(seed: int) -> tuple[PRNGKeyArray, PRNGKeyArray]:
    """Two keys: one for the first weights of networks, one for what is drawn from replay."""
    key_nets, key_picks = jax.random.split(jax.random.key(seed))
    return key_nets, key_picks


@eqx.filter_jit
def start_all(
    net: Sizes | Make, inputs: int, basis: Basis, given: int, width: int | None, keys: Key[jax.Array, " runs"]
) -> Params:
    """First parameters of every run, along a first axis."""
    return eqx.filter_vmap(lambda key: start(net, inputs, basis, given, key, width))(keys)


def check_recorded(points: int, values: int, weights: int, settings: int) -> int:
    """How many numbers a setting records, if not so many that they do not fit in memory.

    Values stay for all settings; weights, which `rmspbe` needs, only until they are measured.
    """
    for name, kept in (("values", settings * points * values), ("weights, for rmspbe,", points * weights)):
        if kept > RECORDED:
            raise InputError(f"the {name} at all points of the curves are {kept:.2g} numbers; give a larger every")
    return points * max(values, weights)


def run(asked: Asked, plan: Plan) -> tuple[Learned, Curves]:
    """Learn all settings, some in one compiled call, and measure what they learned."""
    settings, runs = plan.settings, asked.runs
    keys = jax.random.split(keys_of(asked.seed)[1], runs)
    parts, curves = [], []
    with asked.telling(settings.count) as advance:
        for members, real in padded_groups(settings.count, max(1, min(LANES // runs, AT_A_TIME // plan.recorded))):
            hypers = Hypers(**settings.take(members))
            learned = learn_all(plan.options, hypers, plan.data, plan.params, plan.penalties, keys, plan.updates)
            learned = without_padding(learned, real, settings.swept)
            curves.append({name: curve(asked, plan, metric, learned) for name, metric in plan.measures.names.items()})
            parts.append(learned._replace(history=None))
            advance(real)
    return joined(parts), joined(curves)


def curve(asked: Asked, plan: Plan, metric: Named, learned: Learned) -> Array:
    """A metric of what was learned, before learning and at each point."""
    problem, (_, d, rows, ridge) = asked.held, plan.measures
    if isinstance(problem, Log):
        seen = None if rows is None else rows[: plan.updates]
        return measure_log(problem.first(plan.updates), metric.base, learned.values, seen, ridge)
    if metric.base in GRADIENT:
        history, x = learned.history, plan.data.observations
        return measure_nonlinear(problem, metric, learned.values, d, plan.one, history, x)
    if metric.huber is not None:
        return measure_robust(problem, metric, learned.values, d, rows)
    return measure(problem, metric.base, learned.values, d, rows, ridge)


def assemble(asked: Asked, plan: Plan, learned: Learned, curves: Curves) -> Prediction:
    """What was learned, by the names of the metrics."""
    every, is_second = plan.options.every, flat(second_weights(plan.one, plan.options.basis))
    # A single transition is not mixed with others.
    used = [name for name in plan.options.algorithm.hyperparameters if name != "lam" or plan.options.n > 1]
    return Prediction(
        algorithm=asked.algorithm if isinstance(asked.algorithm, str) else "custom",
        steps=np.arange(every, plan.updates + 1, every),
        **summarized({name: c[..., 1:] for name, c in curves.items()}, asked.average),
        initial={name: c[..., 0].reshape(-1, asked.runs)[0] for name, c in curves.items()},
        weights=learned.weights,
        second_weights=learned.weights * np.asarray(is_second),
        diverged_at=learned.diverged_at,
        settings=plan.settings.values,
        held=plan.settings.held(used),
        values=learned.values[..., 1:, :],
        structure=structure_of(plan.one),
    )


def structure_of(params: Params) -> Callable[[Array], Params]:
    """A function from a vector of all parameters to modules like `params`."""
    layout = layout_of(params)
    return lambda weights: layout.tree(jnp.asarray(weights))
