"""A log as a run of learning: read in any pieces, from memory or from files, it is the same transitions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import gpbe
from gpbe import mdp
from gpbe.algorithms.linear.least_squares import accumulate
from gpbe.learn.linear import recorded as recorded_module
from gpbe.learn.linear.recorded import Recording, recorded, with_ends
from gpbe.learn.linear.tracking import Stream

ROWS, K = 23, 3
ENDED, CUT = [4, 11, 17], [7, 14, 22]
"""Rows that end an episode, and rows after which a time limit strikes or the recording ends."""


class Split(NamedTuple):
    """A log that is read in pieces which end before given rows."""

    log: mdp.Log
    stops: tuple[int, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        return ("log",)

    def count(self) -> int:
        return len(self.log) + 5  # rows that turn out to be no transitions

    def pieces(self, part: int = 0, numbers: int = 0) -> Iterator[mdp.Log]:
        for start, stop in zip((0, *self.stops), (*self.stops, len(self.log)), strict=True):
            yield self.log.rows(start, stop)


def columns(seed: int = 3) -> dict[str, np.ndarray]:
    """Rows in float64 that 32 bits round; where an episode ends or is cut off, the next row begins elsewhere."""
    rng = np.random.default_rng(seed)
    x, behavior = rng.standard_normal((ROWS, K)), rng.uniform(0.3, 0.9, ROWS)
    after = np.concatenate([x[1:], x[:1]])
    after[ENDED + CUT] = rng.standard_normal((len(ENDED + CUT), K))
    discount = np.full(ROWS, 0.9)
    discount[ENDED] = 0
    target = rng.uniform(0.2, 0.9, ROWS)
    named = {"features": x, "next_features": after, "reward": rng.standard_normal(ROWS), "discount": discount}
    return named | {"target": target, "behavior": behavior}


STOPS = {"whole": (), "one by one": tuple(range(1, ROWS)), "at breaks": (5, 8, 15), "elsewhere": (1, 7, 10, 22)}


@pytest.mark.parametrize("stops", STOPS.values(), ids=STOPS)
def test_transitions_are_those_of_the_log_in_any_pieces(stops):
    given = columns()
    s = recorded(Split(mdp.Log(**given), stops))
    x, lam = np.asarray(s.features), np.asarray(s.lam)
    np.testing.assert_array_equal(x[s.now[0]], given["features"].astype(np.float32))
    np.testing.assert_array_equal(x[s.next[0]], given["next_features"].astype(np.float32))
    for name in ("reward", "discount", "target", "behavior"):
        np.testing.assert_array_equal(getattr(s, name)[0], given[name].astype(np.float32), err_msg=name)
    broken = np.isin(np.arange(ROWS), CUT[:-1])  # the log's own end breaks nothing off
    np.testing.assert_array_equal(s.carried[0], np.where(broken, 0, given["discount"]).astype(np.float32))
    np.testing.assert_array_equal(lam[s.now[0]], 1)
    np.testing.assert_array_equal(lam[s.next[0]], ~broken)
    larger = np.maximum(given["target"], given["behavior"])
    np.testing.assert_array_equal(s.psi, np.array([1 / larger.max(), 1 / larger.min()], np.float32))


def test_a_row_that_leads_to_the_next_takes_no_second_row_of_the_table():
    s = recorded(mdp.Log(**columns()))
    assert len(s.features) == ROWS + len(ENDED + CUT)


def test_a_table_of_all_states_then_of_all_next_states():
    given = columns()
    s = with_ends(recorded(Split(mdp.Log(**given), (6, 13))))
    both = np.concatenate([given["features"], given["next_features"]])
    np.testing.assert_array_equal(s.features, both.astype(np.float32))
    np.testing.assert_array_equal(np.concatenate([s.now[0], s.next[0]]), np.arange(2 * ROWS))
    np.testing.assert_array_equal(s.lam, ~np.isin(np.arange(2 * ROWS), ROWS + np.array(CUT[:-1])))


@pytest.mark.parametrize("steps", [1, 8, 12, ROWS])
def test_the_first_steps_are_those_of_a_shorter_log(steps):
    log = mdp.Log(**columns())
    ours, short = recorded(Split(log, (3, 8, 15)), steps), recorded(log.first(steps))
    for name in ("reward", "carried", "psi"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(short, name), err_msg=name)
    for row in ("now", "next"):
        np.testing.assert_array_equal(ours.features[getattr(ours, row)[0]], short.features[getattr(short, row)[0]])
        np.testing.assert_array_equal(ours.lam[getattr(ours, row)[0]], short.lam[getattr(short, row)[0]])


@pytest.mark.parametrize("algorithm", ["td", "ab-trace", "emphatic-tdrc"])
def test_sums_do_not_depend_on_the_pieces(algorithm):
    log = mdp.Log(**columns())
    whole = accumulate(log, algorithm, 0.7)
    for stops in STOPS.values():
        for ours, theirs in zip(accumulate(Split(log, stops), algorithm, 0.7), whole, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def test_learning_from_files_is_learning_from_their_log(tmp_path):
    """Weights to the last bit; errors come from sums in another order."""
    for number in range(2):
        table = {name: pl.Series(values.tolist()) for name, values in columns(number).items()}
        pl.DataFrame(table).write_parquet(tmp_path / f"{number}.parquet")
    files = mdp.scan_log(str(tmp_path / "*.parquet"))
    given = {"algorithm": "tdrc", "lam": 0.6, "step_size": 0.1, "metrics": ("rmspbe", "distance"), "every": 2}
    ours, theirs = (gpbe.predict(source, **given) for source in (files, files.read()))
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    for name, curve in theirs.curves.items():
        np.testing.assert_allclose(ours.curves[name], curve, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("algorithm", ["td", "tdrc", "lstd", "emphatic-tdrc", "ab-trace", "htd"])
@pytest.mark.parametrize(("every", "stretch"), [(2, 7 * K), (1, 3 * K), (11, 5 * K), (22, 7 * K)])
def test_a_log_that_is_learned_from_in_stretches_is_learned_from_as_a_whole(algorithm, every, stretch, monkeypatch):
    """Whatever their lengths: the traces, the breaks and the points of the curve go on from one to the next."""
    log = Split(mdp.Log(**columns()), (3, 8, 15))
    sweep = {} if algorithm == "lstd" else {"step_size": [0.02, 0.1]}
    given = {"algorithm": algorithm, "lam": 0.6, "metrics": ("rmspbe",), "every": every, "steps": 22, **sweep}
    whole = gpbe.predict(Recording(log), **given)
    monkeypatch.setattr(recorded_module, "KEPT", 0)
    monkeypatch.setattr(recorded_module, "STRETCH", stretch)
    ours = gpbe.predict(Recording(log), **given)
    assert isinstance(Recording(log).read(22, (), whole=False)[0], recorded_module.Stretches)
    for name in ("weights", "second_weights", "diverged_at", "steps"):
        np.testing.assert_allclose(getattr(ours, name), getattr(whole, name), rtol=2e-5, atol=1e-6, err_msg=name)
    for name in ("curves", "areas", "finals"):
        np.testing.assert_allclose(
            getattr(ours, name)["rmspbe"], getattr(whole, name)["rmspbe"], rtol=1e-4, atol=1e-6, err_msg=name
        )


def test_what_must_be_there_as_a_whole_is_kept(monkeypatch):
    monkeypatch.setattr(recorded_module, "KEPT", 0)
    log = Recording(Split(mdp.Log(**columns()), (3, 8, 15)))
    assert isinstance(log.read(None, (), whole=False)[0], recorded_module.Stretches)
    assert isinstance(log.read(None, ())[0], Stream)
    assert isinstance(log.read(None, (), whole=False)[0], Stream)  # since it is there now
    assert gpbe.predict(log, "svrg", step_size=0.01, epochs=2).weights.shape == (1, K)


def test_what_is_too_large_to_learn_from_is_named_by_its_row_in_the_log(refuses):
    given = columns()
    given["reward"][13] = 1e20
    refuses(lambda: recorded(Split(mdp.Log(**given), (6, 12))), r"reward\[13\] is 1e\+20")


@pytest.mark.parametrize("steps", [0, ROWS + 1])
def test_more_steps_than_there_are_or_none_are_refused(steps, refuses):
    refuses(lambda: recorded(Split(mdp.Log(**columns()), (6, 12)), steps), rf"steps is {steps}; ")


class Counted:
    """A log that counts how often it is read."""

    def __init__(self, log: mdp.Log):
        self.log, self.parts, self.passes = log, ("log",), 0

    def count(self) -> int:
        return len(self.log)

    def pieces(self, part: int = 0, numbers: int = 0) -> Iterator[mdp.Log]:
        self.passes += 1
        yield from Split(self.log, (6, 12)).pieces()


def test_one_reading_is_enough_for_several_algorithms():
    log = mdp.Log(**columns())
    counted = Counted(log)
    recording = Recording(counted)
    for name in ("td", "tdrc", "lstd"):
        ours, alone = (gpbe.predict(each, name, metrics=("rmspbe",)) for each in (recording, log))
        np.testing.assert_array_equal(ours.weights, alone.weights)
        np.testing.assert_allclose(ours.curves["rmspbe"], alone.curves["rmspbe"], rtol=1e-5)
    assert counted.passes == 1


def test_a_metric_of_its_own_or_other_steps_take_another_pass():
    log = mdp.Log(**columns())
    counted = Counted(log)
    recording = Recording(counted)
    for passes, options in enumerate(({}, {"metrics": ("distance",)}, {"steps": 9}), 1):
        ours, alone = (gpbe.predict(each, "etd", lam=0.5, **options) for each in (recording, log))
        np.testing.assert_array_equal(ours.weights, alone.weights)
        assert counted.passes == passes


@pytest.mark.parametrize("kept", [0, recorded_module.KEPT], ids=["in stretches", "kept"])
def test_bars_count_rows_of_reading_and_of_learning(kept, monkeypatch):
    """Three settings, two at a time: rows are those of each setting, and the one who asked still hears of settings."""
    bars, settings = [], []

    @contextmanager
    def bar(name: str, total: int, unit: str, shown: bool) -> Iterator:
        told = []
        bars.append((name, total, unit, shown, told))
        yield told.append

    monkeypatch.setattr("gpbe.learn.prediction.progress", bar)
    monkeypatch.setattr("gpbe.learn.linear.predict.LANES", 2)
    monkeypatch.setattr(recorded_module, "KEPT", kept)
    monkeypatch.setattr(recorded_module, "STRETCH", 7 * K)
    log = Recording(Split(mdp.Log(**columns()), (3, 8, 15)))
    gpbe.predict(log, "td", step_size=[0.1, 0.2, 0.3], steps=22, every=11, advance=settings.append, progress="mine")
    assert [about for *about, _ in bars] == [["reading for mine", 22, "rows", True], ["mine", 66, "rows", True]]
    (*_, read), (*_, learned) = bars
    assert read == [3, 5, 7, 7]
    assert sum(learned) == 66
    assert settings == [2, 1]
    assert len([each for each in learned if each]) == (2 * 4 if kept == 0 else 2)  # stretches of 7 and 4, twice
