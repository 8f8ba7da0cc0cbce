"""Four rooms, eight things to predict."""

import numpy as np
from jaxtyping import Int

from gpbe import features as features_
from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.mdp.zoo.grids import MOVES, moves, steps_to
from gpbe.shapes import Array, Mask, Numbers, PerStateAction, Sparse

PLAN = (
    "     #     ",
    "     #     ",
    "     +     ",
    "     #     ",
    "     #     ",
    "#+####     ",
    "     ###+##",
    "     #     ",
    "     #     ",
    "     +     ",
    "     #     ",
)
"""Walls are # and hallways +; the first row is the upper one."""
MARKS = np.array([list(row) for row in reversed(PLAN)])
LOWER_LEFT, UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT = (0, 0), (0, 10), (10, 10), (10, 0)
LOWER, LEFT, UPPER, RIGHT = (5, 1), (1, 5), (5, 8), (8, 4)
TASKS = (
    (LOWER_LEFT, LOWER),
    (LOWER_LEFT, LEFT),
    (UPPER_LEFT, LEFT),
    (UPPER_LEFT, UPPER),
    (UPPER_RIGHT, UPPER),
    (UPPER_RIGHT, RIGHT),
    (LOWER_RIGHT, RIGHT),
    (LOWER_RIGHT, LOWER),
)
"""A corner of the room, and the hallway to go to."""


def four_rooms(features: Numbers | None = None, scale: int = 1, task: int | None = None) -> PredictionProblem:
    """The Rooms task of Ghiassian and Sutton (2021): how close, in discounted steps, is each hallway of each room?

    A grid of four rooms and four hallways, 104 states named "x,y" from the lower left. The behavior moves up,
    down, right or left at random; a move into a wall stays put. Each of the eight tasks belongs to a room and one
    of its two hallways: its target policy takes shortest paths there (equally good moves equally often) from the
    room and from the room's other hallway, with discount 0.9 and reward 1 on arrival. Target, reward and discount
    carry a leading axis of 8, one for each entry of `gpbe.mdp.zoo.rooms.TASKS`.

    Nothing ever ends: on arrival, and wherever a task does not apply, its discount is 0 but the agent walks on (a
    pseudo-termination, which transition-based discounting allows). Outside its room and hallway a task's target
    policy is the behavior and its value 0; the original does not learn there at all.

    Features are tabular unless given; the original tiles the plane.

    Rooms `scale` times as wide and as high have every cell of the plan replaced by scale x scale cells, so hallways are
    wider too and any cell of one is an arrival. The discount is 0.9^(1/scale). They are one `task`, the first if none
    is named, given by sparse matrices, with `gpbe.features.interpolation` for features.

    >>> rooms = four_rooms()
    >>> rooms.values.shape, rooms.mdp.state_names[0], rooms.values[:, 0].round(3)
    ((8, 104), '0,0', array([0.59, 0.59, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ]))
    >>> four_rooms(scale=10).mdp.n_states
    10400
    """
    check_at_least(1, scale=scale)
    if task is not None and task not in range(len(TASKS)):
        raise InputError(f"task is {task!r}; it should be a number from 0 to {len(TASKS) - 1}")
    marks = MARKS.repeat(scale, axis=0).repeat(scale, axis=1)
    cells, following = moves(marks != "#")
    names = {"state_names": [f"{x},{y}" for x, y in cells.tolist()], "action_names": list(MOVES)}
    start = (cells // scale == LOWER_LEFT).all(1).astype(float)
    start /= start.sum()
    if scale > 1 or task is not None:
        inside, arrived, target = _task(cells // scale, following, task or 0)
        mdp = FiniteMDP(*_sparse(following, inside, arrived, 0.9 ** (1 / scale)), start, **names)
        x = features_.interpolation(cells) if features is None else features
        return PredictionProblem(mdp, target, [0.25] * 4, x, name=f"four-rooms (task {task or 0}, scale {scale})")
    n = len(cells)
    reward, discount = np.zeros((2, len(TASKS), n, 4, n))
    target = np.empty((len(TASKS), n, 4))
    for i in range(len(TASKS)):
        inside, arrived, target[i] = _task(cells, following, i)
        reward[i] = (inside[:, None] & arrived)[:, None, :]
        discount[i] = 0.9 * (inside[:, None] & inside)[:, None, :]
    mdp = FiniteMDP(np.eye(n)[following], reward, discount, start, **names)
    return PredictionProblem(mdp, target, [0.25] * 4, features, name="four-rooms")


def _task(plan: Int[Array, "S 2"], following: Int[Array, "S 4"], task: int) -> tuple[Mask, Mask, PerStateAction]:
    """Where a task applies, where it is done, and its target policy. `plan` is the place of each cell in the plan."""
    corner, hallway = ((plan == place).all(1) for place in TASKS[task])
    inside = _room(plan, following, corner) & ~hallway
    steps = steps_to(following, hallway, inside)
    closer = steps[following] < steps[:, None]
    target = np.full(following.shape, 0.25)
    target[inside] = (closer / closer.sum(1, keepdims=True).clip(1))[inside]
    return inside, hallway, target


def _room(plan: Int[Array, "S 2"], following: Int[Array, "S 4"], corner: Mask) -> Mask:
    """The room of that corner, with its hallways: what is reached without passing through a hallway."""
    hallway = np.isin(plan @ [1, len(PLAN)], [x + y * len(PLAN) for x, y in (LOWER, LEFT, UPPER, RIGHT)])
    room = np.isfinite(steps_to(following, corner, ~hallway))
    next_to = np.zeros(len(room), dtype=bool)
    next_to[following[room]] = True
    return room | np.isfinite(steps_to(following, next_to & hallway, hallway))


def _sparse(
    following: Int[Array, "S 4"], inside: Mask, arrived: Mask, gamma: float
) -> tuple[list[Sparse], PerStateAction, PerStateAction]:
    """Transitions, one matrix an action, and the reward and the discount of each state and action."""
    n = len(following)
    transition = [Sparse((np.ones(n), following[:, a].copy(), np.arange(n + 1)), shape=(n, n)) for a in range(4)]
    reward = (inside[:, None] & arrived[following]).astype(float)
    return transition, reward, gamma * (inside[:, None] & inside[following])
