"""Diagnoses and stability, against known counterexamples and theorems."""

import json

import jaxtyping
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpbe import InputError, exact, mdp


def problem_from(seed: int, on_policy: bool = False) -> mdp.PredictionProblem:
    rng = np.random.default_rng(seed)
    m = mdp.random_mdp(states=7, actions=3, branching=3, gamma=0.95, rng=rng)
    target = rng.dirichlet(np.ones(3), size=m.n_states)
    behavior = target if on_policy else 0.1 + 0.7 * rng.dirichlet(np.ones(3) / 2, size=m.n_states)
    return mdp.PredictionProblem(m, target, behavior, rng.normal(size=(m.n_states, 3)))


def test_baird_diverges_and_the_page_says_why():
    diagnosis = exact.diagnose(mdp.baird())
    assert diagnosis.stability["behavior"].verdict == "diverges"
    assert diagnosis.stability["emphatic"].verdict == "converges"
    page = str(diagnosis)
    assert "Off-policy TD diverges here" in page
    assert "visits state 'lower' 7 times as often as the behavior" in " ".join(page.split())
    assert diagnosis.recommendation[0].startswith("TDRC")


def test_the_walk_converges():
    diagnosis = exact.diagnose(mdp.problem("random-walk-5"))
    assert diagnosis.stability["behavior"].verdict == "converges"
    assert len(diagnosis.converging_lambdas) == 21


def test_w_to_2w_diverges_beyond_the_known_discount():
    """Expected TD on w -> 2w with equal weights diverges if and only if gamma > 5 / (6 - 4 epsilon)."""
    edge = 5 / (6 - 4 * 0.01)
    for gamma, verdict in ((edge - 1e-3, "converges"), (edge + 1e-3, "diverges"), (edge, "undecided")):
        assert exact.td_stability(mdp.tsitsiklis_van_roy(gamma), "behavior").verdict == verdict


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_on_policy_and_emphatic_td_always_converge(seed, lam):
    on_policy = exact.td_stability(problem_from(seed, on_policy=True), "behavior", lam)
    off_policy = problem_from(seed)
    emphatic = exact.td_stability(off_policy, exact.weighting(off_policy, "emphatic", lam), lam)
    assert on_policy.verdict == emphatic.verdict == "converges"


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_the_largest_step_size_is_the_edge(seed):
    """Just below it the expected update contracts, just above it does not: the spectral radius says so."""
    problem = problem_from(seed)
    found = exact.td_stability(problem, "behavior")
    a = exact.linear_system(problem, "behavior").A

    def radius(alpha):
        return np.abs(np.linalg.eigvals(np.eye(3) - alpha * a)).max()

    if found.verdict == "converges":
        assert radius(0.999 * found.largest_step_size) < 1 < radius(1.001 * found.largest_step_size)
    else:
        assert found.verdict == "diverges"
        assert min(radius(alpha) for alpha in (1e-6, 1e-3, 1.0)) > 1


def test_divergence_follows_the_direction():
    """Iterating the expected update from a random start, the values line up with the reported direction."""
    problem = mdp.baird()
    found = exact.td_stability(problem, "behavior")
    a, b, _ = exact.linear_system(problem, "behavior")
    w = np.random.default_rng(0).normal(size=8)
    for _ in range(3000):
        w = w + 0.1 * (b - a @ w)
    v = problem.features @ w
    assert np.abs(v).max() > 1e6
    np.testing.assert_allclose(v / v[np.abs(v).argmax()], found.direction, atol=1e-6)


def test_json_has_every_finding_and_no_infinity():
    facts = json.loads(json.dumps(exact.diagnose(mdp.baird()).as_dict(), allow_nan=False))
    assert {(s["objective"], s["weighting"]) for s in facts["solutions"]} == {
        (o, w) for o in ("ve", "pbe", "be", "tde") for w in ("behavior", "target", "emphatic")
    }
    assert facts["td"]["behavior"]["verdict"] == "diverges"
    assert facts["feature_rank"] == 7


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_shown_bounds_hold(seed):
    diagnosis = exact.diagnose(problem_from(seed))
    for finding in diagnosis.findings:
        if finding.bound is not None and finding.bound.assumptions_hold:
            d = diagnosis.weightings[finding.weighting]
            error = exact.value_error(diagnosis.problem, finding.solution.values, d) ** 0.5
            assert error <= finding.bound.right * (1 + 1e-9)


def test_good_weights_are_recommended_when_td_is_bad():
    """Kolter's example just before the pole: TD's solution is far off, the emphatic one is not."""
    what, why = exact.diagnose(mdp.kolter(p=0.68)).recommendation
    assert what.startswith("emphatic")
    assert "worse" in why


def test_one_problem_at_a_time():
    with pytest.raises(InputError, match=r"batch with axes \(8,\)"):
        exact.diagnose(mdp.four_rooms())
    assert exact.diagnose(mdp.four_rooms()[3]).problem.name == "four-rooms[3]"
    with pytest.raises(InputError, match="does not exist"):
        mdp.four_rooms()[8]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: exact.td_stability(p.with_features(np.zeros((5, 2))), "behavior"), "every feature is 0, so that"),
        (lambda p: exact.gradient_stability(p, "behavior", beta=-1.0), "beta is -1.0; it should be one number, 0 or"),
        (
            lambda p: exact.gradient_stability(p, "behavior", ratio=0.0),
            "ratio is 0.0; it should be one number, above",
        ),
        (lambda p: exact.gradient_stability(p, "behavior", ratio=np.nan), "ratio is nan; every entry must be a finite"),
        (lambda p: exact.solution(p, "pbe", "behavior", projection=np.zeros((5, 0))), r"projection has shape \(5, 0\)"),
        (lambda p: exact.td_stability("baird", "behavior"), r"problem is of type str; give a PredictionProblem, or"),
        (lambda p: exact.solution("baird", "pbe", "behavior"), r"problem is of type str; give a PredictionProblem, or"),
        (lambda p: exact.weighting("baird", "behavior"), r"problem is of type str; give a PredictionProblem, or"),
    ],
)
def test_questions_that_have_no_answer(call, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # what checks types in the tests only
    with pytest.raises(InputError, match=message) as error:
        call(mdp.problem("random-walk-5"))
    assert "\n" not in str(error.value)
