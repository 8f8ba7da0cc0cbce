"""Logs as people have them: many files, tables and layouts; read in pieces; and refused in one line that says where."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gpbe import mdp
from gpbe.mdp import scan_log
from helpers.samples import few

FIELDS = ("features", "next_features", "reward", "discount", "target", "behavior", "continues")


def rows(**changes) -> dict:
    """Two episodes of three and two rows, the second cut off, as a person writes them down."""
    table = {
        "position": [0.0, 1.0, 2.0, 0.5, 1.5],
        "speed": [1.0, 1.0, 0.0, -1.0, 0.0],
        "episode": ["a", "a", "a", "b", "b"],
        "step": [0, 1, 2, 0, 1],
        "action": [1, 1, 0, 0, 1],
        "reward": [0.0, 0.0, 1.0, 0.0, 2.0],
        "behavior": [0.5, 0.5, 0.25, 0.5, 0.5],
        "target": [1.0, 0.5, 0.0, 0.5, 1.0],
        "terminal": [0, 0, 1, 0, 0],
    }
    return {name: values for name, values in (table | changes).items() if values is not None}


def uniform(states):
    return np.full((len(states), 2), 0.5)


LAYOUT = {"state": ["position", "speed"], "discount": 0.9}


def same(a: mdp.Log, b: mdp.Log) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_rows_by_episode_and_step():
    """The last row of the second episode, which did not end, only tells where the one before led."""
    log = scan_log(rows(), **LAYOUT).read()
    np.testing.assert_array_equal(log.features, [[0, 1], [1, 1], [2, 0], [0.5, -1]])
    np.testing.assert_array_equal(log.next_features[[0, 1, 3]], [[1, 1], [2, 0], [1.5, 0]])
    np.testing.assert_array_equal(log.discount, [0.9, 0.9, 0, 0.9])
    np.testing.assert_array_equal(log.continues, [True, True, False, False])


def test_without_a_terminal_column_an_episode_ends_with_its_last_row():
    log = scan_log(rows(terminal=None), **LAYOUT).read()
    np.testing.assert_array_equal(log.discount, [0.9, 0.9, 0, 0.9, 0])
    np.testing.assert_array_equal(log.continues, [True, True, False, True, False])
    same(log, scan_log(rows(terminal=None, episode=None), **LAYOUT).read())  # steps tell episodes apart, too


@pytest.mark.parametrize("kind", ["parquet", "csv", "polars", "lazy", "pandas", "arrow", "glob", "list"])
def test_the_same_log_from_wherever_it_is(kind, tmp_path):
    frame, expected = pl.DataFrame(rows()), scan_log(rows(), **LAYOUT).read()
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    source = {
        "parquet": tmp_path / "log.parquet",
        "csv": str(tmp_path / "log.csv"),
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": pd.DataFrame(rows()),
        "arrow": SimpleNamespace(__arrow_c_stream__=frame.__arrow_c_stream__),
        "glob": str(tmp_path / "*.csv"),
        "list": [tmp_path / "log.csv"],
    }[kind]
    same(scan_log(source, **LAYOUT).read(), expected)


def test_functions_for_policies_and_features():
    def policy(states):
        return np.stack([states[:, 0] / 4, 1 - states[:, 0] / 4], axis=1)

    log = scan_log(rows(target=None), **LAYOUT, target=policy, features=lambda s: s @ np.ones((2, 3))).read()
    np.testing.assert_allclose(log.target, [1, 0.75, 0.5, 0.125])
    np.testing.assert_allclose(log.policy[1], [0.25, 0.75])
    np.testing.assert_allclose(log.next_policy[[0, 1, 3]], [[0.25, 0.75], [0.5, 0.5], [0.375, 0.625]])
    assert log.features.shape == (4, 3)


def long_log(n=5000, seed=3) -> pl.DataFrame:
    """Episodes of random lengths, some cut off."""
    rng = np.random.default_rng(seed)
    ends = rng.random(n) < 0.1
    table = {f"x_{k}": rng.standard_normal(n) for k in range(3)}
    numbers = {"reward": rng.standard_normal(n), "discount": np.where(ends & (rng.random(n) < 0.7), 0.0, 0.9)}
    chances = {"target": rng.uniform(size=n), "behavior": rng.uniform(0.2, 1, n)}
    return pl.DataFrame(table | numbers | chances | {"episode": np.cumsum(np.append(0, ends[:-1]))})


@pytest.mark.parametrize("following", [True, False])
def test_pieces_make_the_whole(following, tmp_path):
    """Pieces of a thousand rows end anywhere: within episodes, at their ends, where they are cut off."""
    frame = long_log()
    if not following:
        frame = frame.with_columns(pl.col(f"x_{k}").shift(-1, fill_value=0.0).alias(f"next_x_{k}") for k in range(3))
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=700)
    whole = mdp.Log.read(tmp_path / "log.parquet")
    for source in (scan_log(tmp_path / "log.parquet"), whole):
        pieces = list(source.pieces(0, 3 * 1024))
        assert len(pieces) > 3
        same(mdp.Log.joined(pieces), whole)
    assert (len(whole) < 5000) == following


def test_files_are_parts_that_nothing_goes_on_between(tmp_path):
    frame = long_log().drop("episode")
    frame[:2000].write_parquet(tmp_path / "a.parquet")
    frame[2000:].write_csv(tmp_path / "b.csv")
    source = scan_log([tmp_path / "a.parquet", tmp_path / "b.csv"])
    assert source.count() == 5000
    log = source.read()
    assert len(log) == 4998
    assert not log.continues[1998]


# ---------------------------------------------------------------- recipes


def test_minari_and_d3rlpy_episodes_as_the_docs_say():
    """Episodes as Minari has them: one observation more than actions, terminations and truncations apart."""
    rng = np.random.default_rng(0)

    def episode(number, length, ends):
        last = np.arange(length) == length - 1
        return SimpleNamespace(
            id=number,
            observations=rng.standard_normal((length + 1, 2)),
            actions=rng.integers(2, size=length),
            rewards=rng.standard_normal(length),
            terminations=last & ends,
            truncations=last & ~ends,
        )

    dataset = [episode(0, 4, np.True_), episode(1, 3, np.False_)]
    tables = [
        {
            "features": e.observations[:-1],
            "next_features": e.observations[1:],
            "action": e.actions,
            "reward": e.rewards,
            "terminal": e.terminations,
            "episode": np.full(len(e.rewards), e.id),
        }
        for e in dataset
    ]
    columns = {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}
    log = scan_log(columns, discount=0.99, target=uniform, behavior=uniform).read()
    np.testing.assert_array_equal(log.discount, [0.99, 0.99, 0.99, 0, 0.99, 0.99, 0.99])
    np.testing.assert_array_equal(log.continues, [1, 1, 1, 0, 1, 1, 0])


# ---------------------------------------------------------------- twenty ways to break a log


BROKEN = {
    "a column is missing": ({"reward": None}, {}, r"has no column 'reward'; it has position, speed"),
    "a name is misspelt": ({}, {"reward": "rewrd"}, r"has no column 'rewrd'; did you mean 'reward'\?"),
    "no features": ({}, {"state": None}, r"has no features: neither a column 'features' nor columns x_0"),
    "no discount": ({}, {"discount": "discount"}, r"no column 'discount'.*or give one number for all"),
    "discount out of range": ({}, {"discount": 1.5}, r"discount is 1\.5; it should be a column's name, or a number"),
    "an unknown word": ({}, {"rewards": "reward"}, r"no part of a log's layout 'rewards'; did you mean 'reward'\?"),
    "a missing number": ({"reward": [0, None, 1, 0, 2]}, {}, r"reward\[row 1\] is missing; every row should have a n"),
    "an infinite one": ({"speed": [1, 1, 0, np.inf, 0]}, {}, r"speed\[row 3\] is inf"),
    "text": ({"reward": ["0.5", "1", "NA", "2", "3"]}, {}, r"reward\[row 2\] is 'NA'; it should be a number"),
    "numbers as text": ({"reward": list("01234")}, {}, r"reward is not an array of numbers: it holds String"),
    "lists of text": (
        {"features": [["a"]] * 5},
        {"state": None},
        r"features holds lists of String; they should be of n",
    ),
    "a shorter list": (
        {"features": [[1.0, 2.0]] * 3 + [[1.0]] * 2},
        {"state": None},
        r"features\[row 3\] has 1 number, ",
    ),
    "a missing list": ({"features": [[1.0]] * 4 + [None]}, {"state": None}, r"features\[row 4\] is missing"),
    "a missing episode": ({"episode": [1.0, 1, 1, np.nan, 2]}, {}, r"episode\[row 3\] is missing; every row should"),
    "mixed episodes": (
        {"step": None, "episode": list("abbab")},
        {},
        r"episode\[row 3\] is a again, after rows of another",
    ),
    "the rest of an episode": (
        {"step": [4, 5, 6, 0, 1]},
        {},
        r"step\[row 0\] is 4, but an episode after it begins at 0",
    ),
    "a probability above 1": ({"target": [1, 0.5, 1.2, 0, 1]}, {}, r"target\[row 2\] is 1\.2; .* in \[0, 1\]"),
    "one below 0": ({"behavior": [0.5, -0.1, 1, 1, 1]}, {}, r"behavior\[row 1\] is -0\.1"),
    "an impossible action": ({"behavior": [0.5, 0.5, 0, 1, 1]}, {}, r"behavior\[row 2\] is 0, so its ratio is infin"),
    "a ratio beyond numbers": (
        {"behavior": [0.5, 0.5, 1e-99, 1, 1]},
        {},
        r"behavior\[row 2\] is 1e-99; .* below 1e-30",
    ),
    "half an action": ({"action": [0, 1, 0.5, 1, 1]}, {}, r"action\[row 2\] is 0\.5; actions should be numbered"),
    "an action too many": (
        {"action": [0, 1, 0, 2, 1]},
        {"target": uniform},
        r"action\[row 3\] is 2; target has .* 2 act",
    ),
    "a lost row": (
        {"step": [0, 2, 3, 0, 1]},
        {},
        r"step\[row 1\] is 2 in the middle of an episode; .*sorted by episode",
    ),
    "a lost beginning": ({"step": [0, 1, 2, 4, 5]}, {}, r"step\[row 3\] is 4 at the beginning of an episode"),
    "shuffled rows": ({"episode": list("ababa")}, {}, r"step\[row 1\] is 1 at the beginning of an episode"),
    "no action": ({"action": None}, {"target": uniform}, r"no column 'action', and target has probabilities of all"),
    "no policy": ({}, {"target": lambda s: s * 2}, r"target\[row 0\] is 0, 2; probabilities should not be negative"),
    "a function that fails": (
        {},
        {"target": lambda s: s @ s},
        r"function for target failed on states of shape \(5, 2\)",
    ),
    "too few rows": (
        {},
        {"features": lambda s: s[1:]},
        r"function for features made shape \(4, 2\) of states of shape",
    ),
    "no function": ({}, {"features": "position"}, r"features is 'position'; it should be a function from states"),
    "numbers that skip": ({"x_0": [0.0] * 5, "x_2": [0.0] * 5}, {"state": None}, r"columns x_0, x_2 but no x_1"),
}


@pytest.mark.parametrize(("changes", "layout", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("kind", few(["parquet", "table"], ["table"]))
def test_a_broken_log_gets_one_clear_line(changes, layout, message, kind, tmp_path, refuses):
    frame = pl.DataFrame(rows(**changes), strict=False)
    source = frame
    if kind == "parquet":
        source = tmp_path / "trips.parquet"
        frame.write_parquet(source)
    layout = {k: v for k, v in (LAYOUT | layout).items() if v is not None}
    refuses(lambda: scan_log(source, **layout).read(), message)
    refuses(lambda: list(scan_log(source, **layout).pieces()), message)


def test_mixed_episodes_are_found_beyond_a_piece(refuses):
    """The same labels as runs of many rows, the first of which comes back at the very end."""
    label = np.append(np.repeat(np.arange(50), 100), 0)
    table = {"x_0": np.zeros(5001), "reward": np.zeros(5001), "target": 1.0, "behavior": 1.0, "episode": label}
    log = scan_log(pl.DataFrame(table), discount=0.9)
    refuses(lambda: list(log.pieces(0, 1024)), r"episode\[row 5000\] is 0 again, after rows of another; the rows of")
    assert len(scan_log(pl.DataFrame(table)[:-1], discount=0.9).read()) == 5000


CSV = "x_0,reward,discount,target,behavior\n" + "1,1.5,0.9,1,1\n" * 300


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,high,0.9,1,1", r"bad\.csv: reward\[row 200\] is 'high'; it should be a number"),
        ("1,1,0.9,1,1,7", r"bad\.csv: row 200 has 6 entries, but the header has 5"),
        ("1,1,0.9", r"bad\.csv: target\[row 200\] is missing; every row should have a number"),
    ],
)
def test_a_bad_row_of_a_csv_file_is_named(row, message, tmp_path, refuses):
    lines = CSV.splitlines()
    (tmp_path / "bad.csv").write_text("\n".join([*lines[:201], row, *lines[201:]]))
    refuses(lambda: scan_log(tmp_path / "bad.csv").read(), message)
    refuses(lambda: list(scan_log(tmp_path / "bad.csv").pieces()), message)


def test_columns_that_could_be_the_state_are_listed(tmp_path, refuses):
    (tmp_path / "trips.csv").write_text(CSV.replace(",", ";"))
    refuses(lambda: scan_log(tmp_path / "trips.csv"), r"it has x_0;reward;.*: name those of the state, as in state=age")
    wide = pl.DataFrame({f"c{k}": [1.0] for k in range(500)})
    refuses(lambda: scan_log(wide), r"c14, c15, \.\.\.: name those of the state")


def test_a_file_is_not_counted_twice(tmp_path, refuses, monkeypatch):
    (tmp_path / "a.csv").write_text(CSV)
    refuses(lambda: scan_log([tmp_path / "*.csv", tmp_path / "." / "a.csv"]), r"a\.csv is given twice")


def test_errors_name_the_row_in_the_file_and_not_in_the_piece(tmp_path, refuses):
    frame = long_log().with_columns(reward=pl.Series(np.where(np.arange(5000) == 4321, np.nan, 0.0)))
    frame.write_parquet(tmp_path / "log.parquet", row_group_size=512)
    message = r"log\.parquet: reward\[row 4321\] is nan"
    refuses(lambda: list(scan_log(tmp_path / "log.parquet").pieces(0, 3 * 1024)), message)
    refuses(lambda: mdp.Log.read(tmp_path / "log.parquet"), message)
    broken = frame.with_columns(reward=0.0, x_0=pl.Series(np.arange(5000.0)))
    log = scan_log(broken, features=lambda s: np.where(s[:, :1] == 4321, np.nan, 1.0))
    refuses(lambda: list(log.pieces(0, 3 * 1024)), r"the function for features: features\[4321, 0\] is nan")


FILES = {
    "absent.parquet": (None, "there is no file .*absent.parquet"),
    "absent/*.csv": (None, r"no file matches .*\*\.csv"),
    "log.txt": ("a,b\n1,2", r"log\.txt should end in \.parquet or \.csv"),
    "text.parquet": ("not a table", r"text\.parquet is not a Parquet file that can be read"),
    "empty.csv": ("", r"empty\.csv is not a CSV file that can be read"),
    "one.csv": ("x_0,reward,discount,target,behavior\n1,1,0.9,1,1", r"one\.csv has 1 row; there should be 2 at least"),
    "none.csv": ("x_0,reward,discount,target,behavior\n", r"none\.csv has 0 rows"),
    "ragged.csv": (
        "x_0,reward,discount,target,behavior\n1,1,0.9,1,1\n1,1,1,1,1,1,1,1,1",
        r"ragged\.csv: row 1 has 9 entries, but the header has 5",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_logs(name, tmp_path, refuses):
    content, message = FILES[name]
    if content is not None:
        (tmp_path / name).write_text(content)
    refuses(lambda: scan_log(tmp_path / name).read(), message)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "of type int; give a file"),
        ([], "an empty list is none of these"),
        ([pl.DataFrame()], "of type DataFrame to one"),
    ],
)
def test_things_that_are_no_logs(source, message, refuses):
    refuses(lambda: scan_log(source), message)


def test_folders_and_files_that_disagree(tmp_path, refuses):
    refuses(lambda: scan_log(tmp_path), r"is a folder; name its files")
    long_log().write_parquet(tmp_path / "a.parquet")
    long_log().drop("x_2").write_parquet(tmp_path / "b.parquet")
    refuses(lambda: scan_log(tmp_path / "*.parquet").read(), r"b\.parquet has 2 features, but .*a\.parquet has 3")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """A million rows of twenty features are 160 MB; reading them in pieces takes less than that."""
    rng = np.random.default_rng(0)
    table = {f"x_{k}": rng.standard_normal(1_000_000) for k in range(20)}
    ones = np.ones(1_000_000)
    pl.DataFrame(table | {"reward": ones, "discount": 0.9 * ones, "target": ones, "behavior": ones}).write_parquet(
        tmp_path / "log.parquet"
    )
    # The peak of this process's own memory: what `resource` says begins with that of the process which started it.
    program = f"""
from gpbe import mdp
rows = sum(len(piece) for piece in mdp.scan_log({str(tmp_path / "log.parquet")!r}).pieces())
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(rows, peak.split()[1])
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    count, kilobytes = map(int, out.split())
    assert count == 999_999
    assert kilobytes < 320_000


def test_a_column_alone_is_no_log(refuses):
    refuses(lambda: mdp.Log.read(pd.Series([1.0, 2.0], name="reward")), "a log is of type Series; give a file")


class Unwilling:
    """An Arrow table that raises whatever it likes."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise RuntimeError("no\nstream")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (Unwilling(), "the table cannot be read: no stream"),
        (pd.DataFrame({"x": [1.0, 2.0], "z": [1, "a"]}), "column 'z' cannot be read: "),
        ({"x": [[1.0, 2.0], [3.0]]}, "column 'x' cannot be read: "),
        (pl.LazyFrame({"x": [1]}).select("y"), "the table cannot be read: "),
    ],
)
def test_what_a_foreign_table_raises_is_told_in_a_line(table, said, refuses):
    refuses(lambda: scan_log(table, **LAYOUT), said)
