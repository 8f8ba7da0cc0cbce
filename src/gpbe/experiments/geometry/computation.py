"""Values as points of space: the projections, operators and solutions of one problem with three states.

A value function on three states is a point in three dimensions. The points in these tables are D^1/2 v, turned so
that the plane of the problem's two features is the plane z = 0 (`Frame`). Lengths and angles in them are those of
the weighting d = d_b: the projection Pi_d is the way straight down, and squared distances are the errors.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from gpbe import exact, mdp
from gpbe.shapes import Array, Features, PerState

LINE = (3.0, 1.0, 0.0)
"""A third of the first feature plus two thirds of the second: spans F where F is a part of H."""
BESIDE = (-1.0, 0.0, -1.0)
"""Not in the plane of the features: spans F together with `LINE` where F and H are planes that cross."""


def three_states() -> mdp.PredictionProblem:
    """Three states and two features, far off-policy, so that the solutions lie well apart.

    An action names the state it leads to. The behavior is in the states a tenth, four tenths and half of the time.

    >>> three_states().behavior_distribution
    array([0.1, 0.4, 0.5])
    """
    transition = np.broadcast_to(np.eye(3), (3, 3, 3))
    reward = np.broadcast_to(np.array([-2.0, 2.0, -2.0])[:, None, None], (3, 3, 3))
    return mdp.PredictionProblem(
        mdp.FiniteMDP(transition, reward, 0.8),
        target=[[0.2, 0.7, 0.1], [0.9, 0.1, 0.0], [0.0, 0.3, 0.7]],
        behavior=[0.1, 0.4, 0.5],
        features=[[3, 3], [-1, 2], [-2, 1]],
        name="three-states",
    )


@dataclass(frozen=True)
class Frame:
    """Coordinates in which ||.||_d is the usual length and the span of the features is the plane z = 0."""

    problem: mdp.PredictionProblem
    d: PerState
    axes: Array
    """Rows are the coordinate directions, in D^1/2 coordinates."""

    @classmethod
    def of(cls, problem: mdp.PredictionProblem) -> "Frame":
        """The first feature points along x, the second to positive y, v_pi above the plane."""
        d = problem.behavior_distribution
        q, r = np.linalg.qr(np.sqrt(d)[:, None] * problem.features, mode="complete")
        axes = q.T * np.where(np.append(np.diag(r), q[:, 2] @ (np.sqrt(d) * problem.values)) < 0, -1, 1)[:, None]
        return cls(problem, d, axes)

    def __call__(self, v: PerState) -> Array:
        return self.axes @ (np.sqrt(self.d) * v)

    def row(self, name: str, v: PerState, step: int = 0) -> dict:
        x, y, z = self(v)
        return {"name": name, "step": step, "x": x, "y": y, "z": z, "v1": v[0], "v2": v[1], "v3": v[2]}


def bellman(problem: mdp.PredictionProblem, v: PerState) -> PerState:
    """T v."""
    return v + exact.expected_td_error(problem, v)


def projected(problem: mdp.PredictionProblem, v: PerState, features: Features | None = None) -> PerState:
    """Pi v: the closest function to v under d_b in the span of `features`, those of the problem if left out."""
    features = problem.features if features is None else features
    return exact.projection_matrix(features, problem.behavior_distribution) @ v


def projection(iterations: int) -> pl.DataFrame:
    """v_pi and its projection, the linear PBE's solution, and v -> T v -> Pi T v repeated from a start."""
    problem = three_states()
    frame = Frame.of(problem)
    pbe = exact.solution(problem, "pbe", "behavior").values
    rows = [
        frame.row("v_pi", problem.values),
        frame.row("best", projected(problem, problem.values)),
        frame.row("pbe", pbe),
        frame.row("T pbe", bellman(problem, pbe)),
    ]
    v = problem.features @ np.array([-1.0, 2.5])
    for step in range(iterations):
        after = bellman(problem, v)
        rows += [frame.row("v", v, step), frame.row("T v", after, step)]
        v = projected(problem, after)
    return pl.DataFrame([*rows, frame.row("v", v, iterations)])


def objectives() -> pl.DataFrame:
    """The solutions of PBE, BE and VE; of each v also T v and Pi T v, the parts of BE(v), and VE(v)."""
    problem = three_states()
    frame = Frame.of(problem)
    rows = [frame.row("v_pi", problem.values)]
    for objective in ("pbe", "be", "ve"):
        v = exact.solution(problem, objective, "behavior").values
        parts = exact.bellman_error_parts(problem, v, "behavior")
        after = bellman(problem, v)
        errors = {
            "bellman_error": parts.total,
            "projected_bellman_error": parts.projected,
            "penalty": parts.penalty,
            "value_error": exact.value_error(problem, v, "behavior"),
        }
        rows += [
            frame.row(objective, v) | errors,
            frame.row(f"T {objective}", after),
            frame.row(f"Pi T {objective}", projected(problem, after)),
        ]
    return pl.DataFrame(rows)


def sets() -> pl.DataFrame:
    """F and H: H is the plane of the features; F (a) a line in it, (b) a plane that meets it in this line.

    Of each v (numbered by `step`) there are T v and the projections on H of both; the squared distance between the
    projections is PBE(v). In (a) the first v has T v outside H, the second in H. In (b) the second v is the
    solution, at which the two projections meet. `F` are the directions that span F.
    """
    problem = three_states()
    frame, plane = Frame.of(problem), problem.features
    line, beside = np.array(LINE), np.array(BESIDE)
    crossing = problem.with_features(np.stack([line, beside], axis=-1))
    solved = exact.solution(crossing, "pbe", "behavior", projection=plane).values
    panels = {
        "a": ([line], [-line, _into_plane(frame, line)]),
        "b": ([line, beside], [1.5 * line + beside, solved]),
    }
    rows = []
    for panel, (spanning, values) in panels.items():
        rows += [frame.row("F", f, step) | {"panel": panel} for step, f in enumerate(spanning)]
        for step, v in enumerate(values):
            after = bellman(problem, v)
            error = exact.projected_bellman_error(problem, v, "behavior", projection=plane)
            rows += [
                frame.row("v", v, step) | {"panel": panel, "projected_bellman_error": error},
                frame.row("Pi v", projected(problem, v), step) | {"panel": panel},
                frame.row("T v", after, step) | {"panel": panel},
                frame.row("Pi T v", projected(problem, after), step) | {"panel": panel},
            ]
    return pl.DataFrame(rows)


def _into_plane(frame: Frame, direction: PerState) -> PerState:
    """The multiple v of `direction` for which T v is in the plane of the features."""
    problem = frame.problem
    height, slope = (frame(u)[2] for u in (problem.expected_reward, problem.discounted_transition @ direction))
    return -height / slope * direction
