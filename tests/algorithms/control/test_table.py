"""The records of control algorithms: what they promise holds for each, and mistakes in one's own get one line."""

import subprocess
import sys

import pytest

import gpbe
from gpbe.algorithms.control import ALGORITHMS, Agent, ControlAlgorithm, Hypers, find_algorithm
from gpbe.algorithms.control.action_values import ActionValues


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_record_makes_its_agent_and_its_grid_is_within_the_ranges(name):
    a = ALGORITHMS[name]
    agent = a.make()
    assert isinstance(agent, Agent)
    assert hash(agent) == hash(a.make())
    assert a.varied(**a.choices).make() == agent
    for hyperparameter, values in a.grid().items():
        assert len(set(values)) == len(values) > 1
        a.declared[hyperparameter].checked(list(values), hyperparameter)
    assert not set(a.fixed) & set(a.hyperparameters)


def test_labels_are_distinct():
    labels = [a.look.label for a in ALGORITHMS.values() if a.look]
    assert len(set(labels)) == len(ALGORITHMS)


def test_the_papers_ranges():
    """Section 9.1: step sizes 2^-12 to 2^-7, tau 0 and 10^-4 to 1, beta for GQ, eta and nu for SBEED."""
    grid = ALGORITHMS["sbeed"].grid()
    assert grid["step_size"] == (2**-12, 2**-11, 2**-10, 2**-9, 2**-8, 2**-7)
    assert grid["tau"] == pytest.approx((0, 1e-4, 1e-3, 1e-2, 0.1, 1))
    assert grid["eta"] == pytest.approx((1e-3, 1e-2, 0.1, 1))
    assert grid["nu"] == (2**-4, 2**-3, 2**-2, 2**-1, 1, 2)
    assert ALGORITHMS["gq"].grid()["beta"] == (0, 0.5, 1, 1.5)
    assert ALGORITHMS["qrc-sep"].grid()["width"] == (0.25, 0.5, 1, 2)


MINE = ControlAlgorithm("mine", ActionValues, {"form": "none"})


def test_one_of_ones_own_has_every_hyperparameter_and_can_be_referred_to():
    assert set(MINE.hyperparameters) == set(Hypers._fields)
    assert find_algorithm(MINE) is MINE
    sys.modules["a_module_of_mine"] = sys.modules[__name__]
    try:
        assert find_algorithm("a_module_of_mine:MINE") is MINE
    finally:
        del sys.modules["a_module_of_mine"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: find_algorithm("nowhere:MINE"), "there is no nowhere:MINE: No module named 'nowhere'"),
        (lambda: find_algorithm("math:MINE"), "there is no math:MINE: module 'math' has no attribute 'MINE'"),
        (lambda: find_algorithm("math:pi"), "control algorithm is of type float; give a name, or an object Control"),
        (
            lambda: ControlAlgorithm("mine", ActionValues, hyperparameters=("stepsize",)),
            "there is no hyperparameter 'stepsize'; did you mean 'step_size'",
        ),
        (lambda: MINE.varied(depth=3), "mine has no 'depth'; it has step_size, .*, form"),
        (lambda: MINE.varied(width=[0.5, 1.0]), "width of mine is a choice for the whole of it; give one value"),
    ],
)
def test_mistakes_get_one_line(wrong, message):
    with pytest.raises(gpbe.InputError, match=message) as error:
        wrong()
    assert "\n" not in str(error.value)


def test_axes_are_checked_where_they_are_declared():
    """Without the type checker that the tests run under, which would be faster."""
    code = (
        "from gpbe.algorithms.control.action_values import ActionValues\n"
        "for wrong in ({'form': 'saddle'}, {'form': 'none', 'basis': 'heads'}, {'form': 'none', 'width': 0.0}):\n"
        "    try: ActionValues(**wrong)\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "InputError there is no form 'saddle'; did you mean 'saddlepoint'?",
        "InputError there is no basis 'heads'; did you mean 'head'?",
        "InputError width is 0; it should be above 0",
    ]
