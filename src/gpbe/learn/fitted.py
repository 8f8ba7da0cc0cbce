"""Fitted Q evaluation with a network: values that regress to their own targets, many fits side by side.

The target of a transition is r + gamma sum_a pi(a|s') q(s', a), where q is the network as it was (Munos and Szepesvari
2008; Le, Voloshin and Yue 2019). A round of fitting has two parts:

- the last layer: its regressions, one after the other with the layers below held still, end at the solution of
  A theta = b, the linear system of least squares on what the layers below put out, which is solved;
- the layers below: steps of Adam towards the targets of the network as it stands, frozen for the round.

Without layers below, this is linear fitted Q evaluation. Values of states are those of a single action, whose
transitions count as much as their ratios.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from gpbe.learn.control.optimizers import OPTIMIZERS
from gpbe.learn.grouping import group_size, padded_groups
from gpbe.nets import Layout, MakeBody, Network, flat, layout_of, network

ROUNDS = 20
"""Rounds at most."""
TOLERANCE = 1e-3
"""Fitting ends when a round changes no fit's values by more than this part of their deviation."""
UPDATES, BATCH = 100, 128
"""Steps of Adam in a round, and transitions in the mini-batch of each."""
STEP_SIZE = 3e-3
"""The first round's; it falls along a line towards 0 after the last."""
RIDGE = 1e-6
"""What is added to the diagonal of the linear system, as a part of its largest entry: units may be dead, or twins."""
BLOCK = 2**12
"""Rows whose outputs are computed at once."""
JUDGED = 2**11
"""Rows whose values tell how much a round has changed."""


class Net(NamedTuple):
    """What kind of network: features of a state in, a value for each action out."""

    features: int
    outputs: int
    hidden: tuple[int, ...] = ()
    body: MakeBody | None = None
    """Instead of the hidden layers: a function from a key to a module from one state's features to others."""

    def start(self, key: PRNGKeyArray) -> Network:
        """A network before it has learned."""
        return network((self.features,), self.outputs, self.hidden, key, self.body)


class Rows(NamedTuple):
    """Transitions to fit. What precedes an action is its probability, and 1 for the action that was taken."""

    x: Float[Any, "N K"]
    after: Float[Any, "N K"]
    taken: Float[Any, "N A"]
    following: Float[Any, "N A"]
    """The target policy's probabilities in the next state."""
    reward: Float[Any, " N"]
    discount: Float[Any, " N"]
    weight: Float[Any, " N"]
    """How much each counts: 1, its ratio, or 0 where it is not known what follows."""
    group: Int[Any, " N"]
    """Which group it belongs to; fits differ in how often each group counts."""


class Fitted(NamedTuple):
    """What was fitted, a row for each fit."""

    weights: Float[Any, "fits P"]
    change: Float[Any, " fits"]
    """How much the last round changed the values of actions taken, as a part of their deviation."""
    rounds: int


def fit(net: Net, rows: Rows, counts: Float[Any, "fits G"], seed: int, rounds: int = ROUNDS) -> Fitted:
    """Fit a network for each row of `counts`, which says how often every group of transitions counts.

    The first weights of fit k depend on the seed and k alone; fits that are made side by side end together.
    """
    scale = float(np.sqrt(np.mean(np.square(rows.reward, dtype=float)))) or 1.0
    scaled = rows._replace(reward=rows.reward / scale)
    data = jax.tree.map(lambda a: jnp.asarray(a, jnp.int32 if a.dtype.kind == "i" else jnp.float32), scaled)
    keys = jax.random.split(jax.random.key(seed), len(counts))
    found = [
        _fit_side_by_side(net, data, jnp.asarray(counts[members], jnp.float32), keys[members], scale, rounds, real)
        for members, real in padded_groups(len(counts), group_size(len(counts)))
    ]
    weights, change = (np.concatenate([getattr(f, name) for f in found]) for name in ("weights", "change"))
    return Fitted(weights, change, max(f.rounds for f in found))


def outputs(net: Net, weights: Float[Any, "fits P"], x: Float[Any, "N K"]) -> Float[Any, "fits N A"]:
    """The values that each fit gives to all actions in every state; a block of states at a time."""
    found = np.empty((len(weights), len(x), net.outputs), np.float32)
    for start in range(0, len(x), BLOCK):
        some = np.asarray(x[start : start + BLOCK], np.float32)
        padded = np.zeros((BLOCK, x.shape[1]), np.float32)
        padded[: len(some)] = some
        found[:, start : start + BLOCK] = _forward(net, jnp.asarray(weights), jnp.asarray(padded))[:, : len(some)]
    return found


@lru_cache(maxsize=16)
def layout(net: Net) -> Layout:
    """How a vector of weights makes a network of this kind."""
    return layout_of(net.start(jax.random.key(0)))


@eqx.filter_jit
def _forward(net: Net, weights: Float[Array, "fits P"], x: Float[Array, "N K"]) -> Float[Array, "fits N A"]:
    return jax.vmap(lambda w: layout(net).tree(w)(x.T).T)(weights)


def _fit_side_by_side(
    net: Net, rows: Rows, counts: Array, keys: Key[Array, " fits"], scale: float, rounds: int, real: int
) -> Fitted:
    """Some fits in the same compiled programs, until the last of them has settled."""
    nets = _start(net, keys)
    learns = flat(nets.body).size > 0
    start = jax.vmap(lambda arrays, _: _adam().init(flat(arrays)))
    optimizer = start(eqx.filter(nets.body, eqx.is_inexact_array), counts)
    judged = rows.x[:: max(1, len(rows.x) // JUDGED)], rows.taken[:: max(1, len(rows.x) // JUDGED)]
    before, change, done = jnp.inf, np.full(real, np.inf), 0
    for done in range(rounds):
        nets = _with_heads(nets, solved(*_systems(nets, _in_blocks(rows), counts)))
        now = _values(nets, *judged)
        change = np.asarray(jnp.sqrt(((now - before) ** 2).mean(1)) / (now.std(1) + 1e-30))[:real]
        before = now
        if done + 1 == rounds or change.max() < TOLERANCE or not learns:
            break
        step_sizes = STEP_SIZE * (1 - (done + np.arange(UPDATES) / UPDATES) / rounds)
        each = jax.vmap(jax.random.fold_in, (0, None))(keys, done)
        nets, optimizer = _improved(nets, optimizer, rows, counts, each, jnp.asarray(step_sizes, jnp.float32))
    change = change if learns else np.zeros(real)
    head = jax.tree.map(lambda a: a * scale, nets.head)
    weights = jax.vmap(flat)(eqx.filter(eqx.tree_at(lambda n: n.head, nets, head), eqx.is_inexact_array))
    return Fitted(np.asarray(weights)[:real], change, done + 1)


def solved(systems: Float[Any, "fits D D"], right: Float[Any, "fits D"]) -> Float[Any, "fits D"]:
    """The solutions, with a trace of a ridge; in 64 bits."""
    matrix, right = np.asarray(systems, dtype=float), np.asarray(right, dtype=float)
    ridge = RIDGE * np.abs(np.diagonal(matrix, axis1=1, axis2=2)).max(1)
    finite = np.isfinite(matrix).all((1, 2)) & np.isfinite(right).all(1) & (ridge > 0)
    safe = np.where(finite[:, None, None], matrix, 0.0)
    safe = safe + np.where(finite, ridge, 1.0)[:, None, None] * np.eye(matrix.shape[1])
    return np.where(finite[:, None], np.linalg.solve(safe, np.nan_to_num(right)[..., None])[..., 0], np.nan)


def _adam() -> optax.GradientTransformation:
    return OPTIMIZERS["adam"]()


@eqx.filter_jit
def _start(net: Net, keys: Key[Array, " fits"]) -> Network:
    return eqx.filter_vmap(net.start)(keys)


def _with_heads(nets: Network, theta: Float[Any, "fits D"]) -> Network:
    """The networks with these last layers: for each action the weights of features, then the constant."""
    fits, actions, inputs = nets.head.weight.shape
    whole = jnp.asarray(theta, jnp.float32).reshape(fits, actions, inputs + 1)
    return eqx.tree_at(lambda n: (n.head.weight, n.head.bias), nets, (whole[..., :-1], whole[..., -1]))


def _in_blocks(rows: Rows) -> Rows:
    """Rows with an axis of blocks in front; those that fill the last block count nothing."""
    more = -len(rows.x) % BLOCK
    padded = jax.tree.map(lambda a: jnp.pad(a, [(0, more)] + [(0, 0)] * (a.ndim - 1)), rows)
    return jax.tree.map(lambda a: a.reshape(-1, BLOCK, *a.shape[1:]), padded)


@eqx.filter_jit
def _systems(nets: Network, blocks: Rows, counts: Array) -> tuple[Array, Array]:
    """A = sum w phi (phi - gamma phi')' and b = sum w phi r of each fit, on the outputs of the layers below."""
    arrays, static = eqx.partition(nets.body, eqx.is_inexact_array)
    size = nets.head.weight.shape[1] * (nets.head.weight.shape[2] + 1)

    def one(arrays: Any, counts: Float[Array, " G"]) -> tuple[Array, Array]:
        body = eqx.combine(arrays, static)

        def spread(chances: Float[Array, "B A"], x: Float[Array, "B K"]) -> Float[Array, "D B"]:
            phi = body(x.T)
            phi = jnp.concatenate([phi, jnp.ones((1, phi.shape[1]))])
            return (chances.T[:, None] * phi[None]).reshape(size, -1)

        def add(sums: Array, t: Rows) -> tuple[Array, None]:
            phi, led = spread(t.taken, t.x), spread(t.following, t.after)
            both = jnp.concatenate([phi - t.discount[None] * led, t.reward[None]])
            return sums + ((t.weight * counts[t.group])[None] * phi) @ both.T, None

        both, _ = jax.lax.scan(add, jnp.zeros((size, size + 1)), blocks)
        return both[:, :-1], both[:, -1]

    return jax.vmap(one)(arrays, counts)


@eqx.filter_jit
def _values(nets: Network, x: Float[Array, "N K"], chances: Float[Array, "N A"]) -> Float[Array, "fits N"]:
    return eqx.filter_vmap(lambda n: (n(x.T).T * chances).sum(1))(nets)


@eqx.filter_jit
def _improved(
    nets: Network, optimizer: Any, rows: Rows, counts: Array, keys: Key[Array, " fits"], step_sizes: Array
) -> tuple[Network, Any]:
    """Steps of the layers below the last towards the targets of the networks as they are."""
    arrays, static = eqx.partition(nets, eqx.is_inexact_array)

    def one(arrays: Network, optimizer: Any, counts: Float[Array, " G"], key: PRNGKeyArray) -> tuple[Network, Any]:
        frozen = eqx.combine(arrays, static)
        made = layout_of(frozen.body)

        def loss(weights: Float[Array, " P"], t: Rows) -> Float[Array, ""]:
            target = t.reward + t.discount * (frozen(t.after.T).T * t.following).sum(1)
            q = (Network(made.tree(weights), frozen.head, frozen.live)(t.x.T).T * t.taken).sum(1)
            return (t.weight * counts[t.group] * (target - q) ** 2).mean()

        def update(carry: tuple[Array, Any], xs: tuple[Array, Array]) -> tuple[tuple[Array, Any], None]:
            weights, optimizer = carry
            at, step_size = xs
            gradient = jax.grad(loss)(weights, jax.tree.map(lambda a: a[at], rows))
            move: Any
            move, optimizer = _adam().update(gradient, optimizer)
            return (weights - step_size * move, optimizer), None

        picks = jax.random.randint(key, (len(step_sizes), BATCH), 0, len(rows.x))
        (weights, optimizer), _ = jax.lax.scan(update, (flat(frozen.body), optimizer), (picks, step_sizes))
        return eqx.filter(Network(made.tree(weights), frozen.head, frozen.live), eqx.is_inexact_array), optimizer

    arrays, optimizer = jax.vmap(one)(arrays, optimizer, counts, keys)
    return eqx.combine(arrays, static), optimizer
