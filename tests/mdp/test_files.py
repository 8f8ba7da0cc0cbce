"""Files: what is saved comes back, and what is wrong with a file is said with its place and a remedy."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from gpbe import InputError, mdp

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_state.toml"
SINGLE = [name for name in mdp.ZOO if name not in ("four-rooms", "grid")]


def assert_same(one: mdp.PredictionProblem, other: mdp.PredictionProblem):
    possible = np.broadcast_to(one.mdp.transition > 0, one.mdp.reward.shape)
    assert np.array_equal(one.mdp.transition, other.mdp.transition)
    assert np.array_equal(one.mdp.reward[possible], other.mdp.reward[possible])
    assert np.array_equal(one.mdp.discount[possible], other.mdp.discount[possible])
    assert np.array_equal(one.mdp.start, other.mdp.start)
    for field in ("target", "behavior", "features", "initial_weights"):
        assert np.array_equal(getattr(one, field), getattr(other, field)), field
    assert one.mdp.state_names == other.mdp.state_names
    assert one.mdp.action_names == other.mdp.action_names
    assert one.name == other.name


@pytest.mark.parametrize("name", [*SINGLE, "four-rooms"])
def test_npz_gives_back_the_same_problem(name, tmp_path):
    problem = mdp.problem(name)
    mdp.save(problem, tmp_path / "it.npz")
    assert_same(problem, mdp.load(tmp_path / "it.npz"))


@pytest.mark.parametrize("name", SINGLE)
def test_toml_gives_back_the_same_problem(name, tmp_path):
    problem = mdp.problem(name)
    mdp.save(problem, str(tmp_path / "it.toml"))
    assert_same(problem, mdp.load(str(tmp_path / "it.toml")))


def test_toml_keeps_odd_names_and_numbers(tmp_path):
    names = ['a "b"\\', "[red]x[/nope]", "ä=#[x]", ":smile:", ""]
    transition = np.zeros((5, 1, 5))
    transition[:, 0] = np.random.default_rng(0).dirichlet(np.ones(5), 5)
    m = mdp.FiniteMDP(transition, -1e-300, 1 - 2**-53, state_names=names, action_names=["default"])
    problem = mdp.PredictionProblem(m, [1], [1], name="one 'line'")
    mdp.save(problem, tmp_path / "odd.toml")
    assert_same(problem, mdp.load(tmp_path / "odd.toml"))


@pytest.mark.parametrize("name", ["two\nlines", "tab\there", "\x7f", "\x1b[2J", "x" * 201])
def test_names_that_cannot_be_shown_are_refused(name, refuses):
    m = mdp.baird()
    refuses(lambda: m.replace(name=name), "problem .* has no name that can be shown")
    names = [name, *m.mdp.state_names[1:]]
    refuses(lambda: mdp.FiniteMDP(m.mdp.transition, 0, 0.9, state_names=names), "state .* has no name that can be")


@pytest.mark.parametrize("text", ["1e99999999999", "1/1e9", "1" * 5000, "1_000", "0x10", "", "1/0", "nan"])
def test_a_number_as_text_is_a_decimal_or_a_fraction_of_reasonable_length(text, tmp_path, refuses):
    file = tmp_path / "p.toml"
    file.write_text(EXAMPLE.read_text().replace("discount = 0.9", f'discount = "{text}"', 1))
    refuses(lambda: mdp.load(file), "discount is .*it should be a number, or a fraction")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 10**5, "nested too deep"),
        ("x = " + "[" * 50 + "]" * 50, "nested more than 24 deep"),
        ("x = " + "9" * 5000, "is not TOML"),
        ("x = 0x" + "f" * 5000, "whole number of 20000 bits"),
        (".".join(["a"] * 20000) + " = 1", "a key of more than 64 parts"),
        ("x = {" + ".".join(["'a'"] * 20000) + " = 1}", "a key of more than 64 parts"),
        ("x = 1979-05-27", "has the date"),
        ("x = '" + "y" * 5 * 2**20 + "'", "has 5 MiB; it should have 4 MiB at most"),
    ],
)
def test_what_is_too_much_for_a_reader_is_refused_at_once(text, message, tmp_path, refuses):
    (tmp_path / "p.toml").write_text(text)
    refuses(lambda: mdp.load(tmp_path / "p.toml"), message)


def test_the_example_says_what_its_comments_say():
    problem = mdp.load(EXAMPLE)
    assert problem.name == "three-state"
    assert problem.mdp.state_names == ("full", "low", "docked")
    # Written out by hand: full works, low works 1 time in 10, docked returns; stranded is worth nothing.
    g = 0.9
    system = np.array(
        [
            [1 - g * 2 / 3, -g / 3, 0],
            [0, 1 - g * 0.1 * 0.75, -g * 0.9],
            [-g, 0, 1],
        ]
    )
    reward = np.array([1, 0.1 * (0.75 * 1 + 0.25 * -8), 0])
    np.testing.assert_allclose(problem.values, np.linalg.solve(system, reward))
    np.testing.assert_allclose(problem.behavior, 0.5)
    assert np.array_equal(problem.features, [[1, 0], [0, 1], [0.5, 0.5]])


MINIMAL = """
states = ["left", "right"]
actions = ["stay", "go"]
start = "left"
discount = 0.9
transition = [
  { from = "left", action = "stay", to = "left" },
  { from = "left", action = "go", to = "right", probability = 1, reward = 2 },
  { from = "right", to = "left" },
]
[target]
default = { go = 1 }
[behavior]
default = { go = 0.5, stay = 0.5 }
"""


def test_defaults_of_a_minimal_file(tmp_path):
    file = tmp_path / "minimal.toml"
    file.write_text(MINIMAL)
    problem = mdp.load(file)
    assert problem.name == "minimal"
    assert np.array_equal(problem.features, np.eye(2))
    assert not problem.initial_weights.any()
    assert np.array_equal(problem.mdp.transition[1], [[1, 0], [1, 0]])  # no action named: every action
    np.testing.assert_allclose(problem.values, [2 / (1 - 0.81), 1.8 / (1 - 0.81)])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('start = "left"', "", "key 'start' is missing; there should be states, actions, start"),
        ("discount = 0.9", "discuont = 0.9", "key 'discuont' is unknown; did you mean 'discount'?"),
        ("discount = 0.9", "", "[[transition]] 1 has no discount; give it one, or give `discount` once for all"),
        ("discount = 0.9", "discount = true", "discount is True; it should be a number"),
        ("discount = 0.9", "discount = nan", "discount is nan; it should be a number"),
        (
            "discount = 0.9",
            "discount = 1.5",
            "discount[state 'left', action 'stay', next state 'left'] is 1.5; it should lie in [0, 1]",
        ),
        ('to = "right"', 'to = "rigth"', "[[transition]] 2: to state 'rigth' is unknown; did you mean 'right'?"),
        ('to = "right"', "to = 1", "[[transition]] 2: to state 1 is unknown; it should be one of left, right"),
        (
            'action = "go"',
            'action = "jump"',
            "[[transition]] 2: action 'jump' is unknown; it should be one of stay, go",
        ),
        ("reward = 2", "rewrad = 2", "[[transition]] 2: key 'rewrad' is unknown; did you mean 'reward'?"),
        ("reward = 2", 'reward = "2/0"', "[[transition]] 2: reward is '2/0'; it should be a number, or a fraction"),
        (
            "probability = 1,",
            "probability = 0.9,",
            "the transitions from 'left' with 'go': probabilities sum to 0.9; it should be 1",
        ),
        ("probability = 1,", "probability = -1,", "from 'left' with 'go': a probability is -1; it cannot be negative"),
        (
            '{ from = "right", to = "left" }',
            '{ from = "right", action = "go", to = "left" }',
            "no [[transition]] from 'right' with 'stay'; there should be at least one",
        ),
        (
            '{ from = "right", to = "left" }',
            '{ from = "right", to = "left" }, { from = "right", action = ["go"], to = "left" }',
            "[[transition]] 4: from 'right' with 'go' to 'left' was given before; give it once",
        ),
        ("default = { go = 1 }", "left = { go = 1 }", "[target] says nothing about state 'right'; add it, or a row"),
        (
            "default = { go = 1 }",
            "default = { go = 0.7 }",
            "[target] default: probabilities sum to 0.7; it should be 1",
        ),
        (
            "default = { go = 1 }",
            "default = { og = 1 }",
            "[target]: action 'og' is unknown; it should be one of stay, go",
        ),
        (
            "default = { go = 1 }",
            "defualt = { go = 1 }",
            "[target]: state 'defualt' is unknown; did you mean 'default'?",
        ),
        ("default = { go = 1 }", "default = 1", "[target] default is 1; it should be a table of names and values"),
        ("go = 0.5, stay = 0.5", "stay = 1", "the behavior never takes state 'left', action 'go'"),
        ('start = "left"', 'start = "lift"', "start: state 'lift' is unknown; did you mean 'left'?"),
        ('start = "left"', "start = { left = 0.5 }", "start: probabilities sum to 0.5; it should be 1"),
        ('"left", "right"]', '"left", "left"]', "state 'left' has a name that is taken"),
        ('"left", "right"]', '"left", "default"]', "state 'default' has a name that is taken"),
        ('["stay", "go"]', "[]", "actions is empty; it should name at least one"),
        ('["stay", "go"]', '"stay"', "actions is 'stay'; it should be a list of names"),
        ("[behavior]", "[features]\nleft = [1, 0]\n[behavior]", "[features]: state 'right' is missing"),
        (
            "[behavior]",
            "[features]\nleft = [1, 0]\nright = [1]\n[behavior]",
            "[features] right has 1 numbers; it should have 2, like left",
        ),
        (
            'start = "left"',
            'start = "left"\ninitial_weights = [1]',
            "initial_weights has shape (1,); it should end in (2)",
        ),
        (
            'start = "left"',
            'start = "left"\ninitial_weights = 1',
            "initial_weights is 1; it should be a list of numbers",
        ),
        (
            'to = "right",',
            'to = "end", discount = 1,',
            "[[transition]] 2 has a discount but leads to the end 'end', where it is 0; leave it out",
        ),
        ('start = "left"', "start = left", "is not TOML: Invalid value (at line 4"),
    ],
)
def test_a_wrong_toml_file_is_named_with_place_and_remedy(old, new, message, tmp_path):
    assert old in MINIMAL
    text = MINIMAL.replace(old, new, 1)
    if '"end"' in new:
        text = text.replace("discount = 0.9", 'discount = 0.9\nterminal = ["end"]', 1)
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        mdp.load(file)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def arrays() -> dict[str, np.ndarray]:
    problem = mdp.corrections_example()
    m = problem.mdp
    return {
        "transition": m.transition,
        "reward": m.reward,
        "discount": m.discount,
        "start": m.start,
        "target": problem.target,
        "behavior": problem.behavior,
        "features": problem.features,
    }


def test_npz_made_with_numpy_alone(tmp_path):
    np.savez(tmp_path / "x-y-T.npz", **arrays())
    problem = mdp.load(tmp_path / "x-y-T.npz")
    assert np.array_equal(problem.values, [1, 1])
    assert problem.name == "x-y-T"
    assert problem.mdp.state_names == ("0", "1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": None}, "key 'reward' is missing; there should be transition, reward"),
        ({"reward": None, "rewards": np.zeros(3)}, "key 'rewards' is unknown; did you mean 'reward'?"),
        ({"initial_weigths": np.zeros(2)}, "key 'initial_weigths' is unknown; did you mean 'initial_weights'?"),
        ({"state_names": np.arange(2)}, "state_names has shape (2,) and type int64; it should be a list of texts"),
        ({"state_names": np.array(["x"])}, "state_names has 1 names; there are 2 states"),
        ({"transition": np.full((2, 2, 2), 0.4)}, "transition[state 0, action 0] sums to 0.8; it should sum to 1"),
        ({"features": np.ones((3, 2))}, "features has shape (3, 2); it should end in (2, 2)"),
        ({"reward": np.array([None])}, "has 'reward', which is not an array of plain numbers or text"),
    ],
)
def test_a_wrong_npz_file_is_named_with_place_and_remedy(changes, message, tmp_path):
    file = tmp_path / "wrong.npz"
    np.savez(file, **{k: v for k, v in {**arrays(), **changes}.items() if v is not None})
    with pytest.raises(InputError) as error:
        mdp.load(file)
    assert str(error.value).startswith(f"{file}: {message}")
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_or_written(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xff'")
    whole = tmp_path / "whole.npz"
    np.savez(whole, **arrays())
    damaged = bytearray(whole.read_bytes())
    damaged[100:140] = b"?" * 40
    (tmp_path / "damaged.npz").write_bytes(damaged)
    for name, message in (
        ("nowhere.npz", "cannot be read: No such file or directory"),
        ("nowhere.toml", "cannot be read: No such file or directory"),
        ("problem.json", "the name should end in .npz or .toml"),
        ("text.npz", "is not an .npz archive that can be read (File is not a zip file)"),
        ("damaged.npz", "is not an .npz archive that can be read (Bad CRC-32"),
        ("latin.toml", "is not TOML"),
    ):
        with pytest.raises(InputError) as error:
            mdp.load(tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path / name}: {message}")
    for name, message in (
        ("missing/it.npz", "cannot be written: No such file or directory"),
        ("missing/it.toml", "cannot be written: No such file or directory"),
        ("it.json", "the name should end in .npz or .toml"),
    ):
        with pytest.raises(InputError) as error:
            mdp.save(mdp.baird(), tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path / name}: {message}")


def test_what_toml_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    file = tmp_path / "it.toml"
    twins = mdp.FiniteMDP(np.full((2, 1, 2), 0.5), 0, 0.5, state_names=["default", "b"])
    for problem, message in (
        (mdp.four_rooms(), "a .toml file holds one problem, and this is a batch; save it as .npz"),
        (mdp.PredictionProblem(twins, [1], [1]), "states cannot be told apart by the name 'default'"),
    ):
        with pytest.raises(InputError, match=message):
            mdp.save(problem, file)
    assert not file.exists()


def test_saved_toml_reads_like_a_description(tmp_path):
    mdp.save(mdp.corrections_example(), tmp_path / "it.toml")
    data = tomllib.loads((tmp_path / "it.toml").read_text())
    assert data["states"] == ["x", "y"]
    assert data["start"] == {"x": 1}
    assert data["target"] == {"default": {"a1": 1}}
    last = {"from": "y", "action": "a1", "to": "x", "probability": 1, "reward": 1, "discount": 0}
    assert last in data["transition"]
    assert "features" not in data
