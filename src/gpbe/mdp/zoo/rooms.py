"""Four rooms, eight things to predict."""

import numpy as np
from jaxtyping import Int

from gpbe.mdp.finite import FiniteMDP
from gpbe.mdp.prediction import PredictionProblem
from gpbe.shapes import Array, Mask, Numbers, PerState

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
CELLS = [(x, y) for y, row in enumerate(reversed(PLAN)) for x, mark in enumerate(row) if mark != "#"]
MOVES = {"up": (0, 1), "down": (0, -1), "right": (1, 0), "left": (-1, 0)}
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


def four_rooms(features: Numbers | None = None) -> PredictionProblem:
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

    >>> rooms = four_rooms()
    >>> rooms.values.shape, rooms.mdp.state_names[0], rooms.values[:, 0].round(3)
    ((8, 104), '0,0', array([0.59, 0.59, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ]))
    """
    n = len(CELLS)
    index = {cell: i for i, cell in enumerate(CELLS)}
    following = np.array([[index.get((x + dx, y + dy), index[x, y]) for dx, dy in MOVES.values()] for x, y in CELLS])
    transition = np.eye(n)[following]
    behavior = np.full((n, 4), 0.25)
    target = np.tile(behavior, (len(TASKS), 1, 1))
    reward, discount = np.zeros((2, len(TASKS), n, 4, n))
    for task, (corner, hallway) in enumerate(TASKS):
        goal = index[hallway]
        inside = _room(following, index[corner])
        inside[goal] = False
        steps = _distance(following, inside, goal)
        closer = steps[following] < steps[:, None]
        target[task, inside] = (closer / closer.sum(1, keepdims=True).clip(1))[inside]
        reward[task, inside, :, goal] = 1
        discount[task] = 0.9 * (inside[:, None] & inside)[:, None, :]
    mdp = FiniteMDP(
        transition,
        reward,
        discount,
        start=np.eye(n)[index[LOWER_LEFT]],
        state_names=[f"{x},{y}" for x, y in CELLS],
        action_names=list(MOVES),
    )
    return PredictionProblem(mdp, target, behavior, features, name="four-rooms")


def _room(following: Int[Array, "S 4"], corner: int) -> Mask:
    """The room of that corner, with its hallways: what is reached without passing through a hallway."""
    hallway = {CELLS.index(cell) for cell in (LOWER, LEFT, UPPER, RIGHT)}
    inside = np.zeros(len(following), dtype=bool)
    frontier = [corner]
    while frontier:
        state = frontier.pop()
        if not inside[state] and state not in hallway:
            frontier.extend(following[state].tolist())
        inside[state] = True
    return inside


def _distance(following: Int[Array, "S 4"], inside: Mask, goal: int) -> PerState:
    """Steps to the goal without leaving `inside`; infinite elsewhere."""
    steps = np.full(len(following), np.inf)
    steps[goal] = 0
    while True:
        through = np.where(inside, steps[following].min(1) + 1, np.inf)
        better = np.minimum(steps, through)
        if (better == steps).all():
            return steps
        steps = better
