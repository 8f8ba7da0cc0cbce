"""Grids of cells with obstacles, of any size: sparse problems."""

import numpy as np
from jaxtyping import Bool, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gpbe import features
from gpbe.checks import as_floats, check_at_least, check_interval
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Array, Mask, PerState, Sparse

MOVES = {"up": (0, 1), "down": (0, -1), "right": (1, 0), "left": (-1, 0)}


def gridworld(
    width: int = 30,
    height: int | None = None,
    obstacles: float = 0.1,
    gamma: float = 0.99,
    slip: float = 0.0,
    lean: float = 0.1,
    knots: int = 10,
    seed: int = 0,
) -> PredictionProblem:
    """A grid of any size: how many discounted steps is it from each cell to the goal, in the upper right?

    Cells are states, named "x,y" from the lower left, the first of which is where episodes start. Each is an obstacle
    with the given probability; of the others those count that hang together with most. Four moves, of which a share
    `slip` goes anywhere; a move into an obstacle or off the grid stays put. Each step costs 1, and any action at the
    goal ends the episode for nothing. The behavior moves at random. The target leans up and to the right: it makes
    these moves with probability (1 + lean) / 4 each, and the other two with (1 - lean) / 4.

    Features interpolate between knots x knots points of the plane. Everything is sparse: a million cells fit.

    >>> problem = gridworld(40, 25)
    >>> problem.mdp.n_states, problem.features.shape, problem.mdp.is_sparse
    (911, (911, 100), True)
    """
    height = width if height is None else height
    check_at_least(2, width=width, height=height)
    for name, value in (("obstacles", obstacles), ("slip", slip), ("lean", lean)):
        check_interval(as_floats(value, name), name, ())
    free = np.random.default_rng(seed).random((height, width)) >= obstacles
    free &= _largest_piece(free)
    cells, following = moves(free)
    n, goal = len(cells), len(cells) - 1
    if n < 2:
        raise InputError(f"obstacles is {obstacles:g}, which leaves no two cells; use less")
    straight, sideways = 1 - slip * 3 / 4, slip / 4
    state, ends = np.arange(n), np.arange(n) == goal
    transition = []
    for action in range(4):
        share = np.full(4, sideways)
        share[action] = straight
        to = np.where(ends[:, None], 0, following)
        entries = np.broadcast_to(share, to.shape).ravel()
        at = entries > 0
        triples = (entries[at], (np.repeat(state, 4)[at], to.ravel()[at]))
        transition.append(Sparse(coo_array(triples, shape=(n, n))))
    cost = np.where(ends, 0.0, -1.0)[:, None].repeat(4, axis=1)
    discount = np.where(ends, 0.0, gamma)[:, None].repeat(4, axis=1)
    names = [f"{x},{y}" for x, y in cells.tolist()]
    start = np.zeros(n)
    start[0] = 1
    mdp = FiniteMDP(transition, cost, discount, start, state_names=names, action_names=list(MOVES))
    up, down = (1 + lean) / 4, (1 - lean) / 4
    x = features.interpolation(cells, knots)
    return PredictionProblem(mdp, [up, down, up, down], [0.25] * 4, x, name=f"grid-{width}x{height}")


def moves(free: Bool[Array, "H W"]) -> tuple[Int[Array, "S 2"], Int[Array, "S 4"]]:
    """The free cells (x, y), row by row from the lowest, and where each of the four moves leads."""
    y, x = np.nonzero(free)
    index = np.full((free.shape[0] + 2, free.shape[1] + 2), -1)
    index[1:-1, 1:-1][free] = np.arange(len(x))
    there = np.stack([index[y + dy + 1, x + dx + 1] for dx, dy in MOVES.values()], axis=1)
    return np.stack([x, y], axis=1), np.where(there < 0, np.arange(len(x))[:, None], there)


def steps_to(following: Int[Array, "S 4"], goal: Mask, inside: Mask) -> PerState:
    """Steps to the goal without leaving `inside`; infinite elsewhere. Moves go both ways."""
    steps = np.full(len(following), np.inf)
    frontier, taken = np.flatnonzero(goal), 0
    while len(frontier):
        steps[frontier], taken = taken, taken + 1
        near = np.unique(following[frontier])
        frontier = near[inside[near] & np.isinf(steps[near])]
    return steps


def _largest_piece(free: Bool[Array, "H W"]) -> Bool[Array, "H W"]:
    cells, following = moves(free)
    n = len(cells)
    links = (np.ones(4 * n), (np.repeat(np.arange(n), 4), following.ravel()))
    _, label = connected_components(coo_array(links, shape=(n, n)), directed=False)
    piece = np.zeros(free.shape, dtype=bool)
    if n:
        piece[free] = label == np.bincount(label).argmax()
    return piece
