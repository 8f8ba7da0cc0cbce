"""What a notebook shows: a picture and a table that are whole HTML, of every object that people look at."""

import numpy as np
import pytest

import gpbe
from gpbe import exact, mdp
from gpbe.look.notebook import averaged
from helpers.html_page import Page


@pytest.fixture(scope="module")
def walk():
    return mdp.problem("random-walk-5")


def test_a_diagnosis(walk):
    shown = exact.diagnose(walk)._repr_html_()
    Page(shown)
    assert shown.count("<svg") == 4
    assert "Recommended: " in shown


def test_a_problem(walk):
    shown = walk._repr_html_()
    Page(shown)
    assert shown.count("<tr>") == 1 + walk.mdp.n_states
    assert '<th class="number">π(right)</th>' in shown
    assert mdp.four_rooms()._repr_html_() is None, "a batch has no one table"
    assert "and 74 more states" in mdp.four_rooms()[0]._repr_html_()


def test_what_was_learned(walk):
    result = gpbe.predict(walk, "td", steps=40, runs=3, step_size=[0.1, 0.2], metrics="rmsve")
    shown = result._repr_html_()
    Page(shown)
    assert shown.count("<svg") == 1
    assert shown.count("<tr>") == 3
    means = averaged(result)
    np.testing.assert_allclose(means.curves["rmsve"], result.curves["rmsve"].mean(1), rtol=1e-6)
    assert averaged(means) is means
    only = gpbe.predict(walk, "td", steps=40, runs=3, step_size=[0.1, 0.2], metrics="rmsve", average=True)
    np.testing.assert_allclose(only.curves["rmsve"], means.curves["rmsve"], rtol=1e-4)
    np.testing.assert_allclose(only.errors["rmsve"], means.errors["rmsve"], rtol=1e-3, atol=1e-6)


def test_what_has_diverged_has_no_picture():
    assert gpbe.predict("baird", "td", steps=1500, step_size=[5.0], metrics="rmsve")._repr_html_() is None


def test_a_training():
    result = gpbe.train("CartPole-v1", "qrc", steps=200, runs=2, every=100, hidden=(4,))
    shown = result._repr_html_()
    Page(shown)
    assert "qrc on CartPole-v1" in shown


def test_an_evaluation(walk):
    found = gpbe.evaluate(mdp.Log.simulate(walk, 300))
    shown = found._repr_html_()
    Page(shown)
    assert all(f"<td>{name}</td>" in shown for name in found.estimates)
