"""Experiments of one's own, in files: a sweep as TOML, or anything as Python."""

import importlib.util
import sys
import traceback
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from gpbe.errors import InputError
from gpbe.experiments.experiment import Experiment
from gpbe.experiments.search import Search
from gpbe.experiments.sweep import Sweep
from gpbe.experiments.sweep_file import read as read_sweep


def read(path: str | Path, imports: bool = False) -> list[Experiment | Search]:
    """The sweep that a .toml file declares (see `gpbe.experiments.sweep_file.read`), or what a .py file makes.

    A Python file is executed. A .toml file imports the modules that it names only if `imports` is true.

    Of a Python file, every experiment counts that has a name at its top level which does not begin with _. Its folder
    is on the path of the workers too, so a runner may be a function in the same file: `file:function`.

    >>> [sweep] = read("examples/cartpole.toml")  # in a clone of the repository
    >>> sweep.name, sweep.settings
    ('cartpole', 44)
    """
    path = Path(path)
    found: list[Experiment | Search] = (
        [read_sweep(path, imports)] if path.suffix == ".toml" else _made_by(_imported(path))
    )
    if not found:
        raise InputError(f"{path} makes no experiment; it should have one with a name, such as: mine = Sweep(...)")
    names = [experiment.name for experiment in found]
    for name in names:
        if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
            raise InputError(f"{path}: name is {name!r}; it should be a text that can name a folder")
        if names.count(name) > 1:
            raise InputError(f"{path} has {names.count(name)} experiments called {name!r}; give each a name of its own")
    for experiment in found:
        if isinstance(experiment, Sweep | Search):
            _check_domains(experiment, path)
    return found


def _check_domains(sweep: Sweep | Search, path: Path) -> None:
    """Here and not where a sweep is declared, since environments take seconds to import."""
    from gpbe.envs import find

    for domain in sweep.domains:
        try:
            find(domain)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise InputError(f"there is no file {path}")
    other = PathFinder.find_spec(path.stem)
    if path.stem in sys.builtin_module_names or (other and other.origin and not path.samefile(other.origin)):
        raise InputError(f"{path}: there is another module called {path.stem!r}; give the file another name")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except InputError as error:
        raise InputError(f"{path}{_line(error, path)}: {error}") from None
    except (Exception, SystemExit) as error:  # whatever a user's file may raise
        said = " ".join(str(error).split())
        raise InputError(f"{path}{_line(error, path)}: {type(error).__name__}: {said}") from None
    return module


def _line(error: BaseException, path: Path) -> str:
    """Where in the file it came from, if that is known."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    here = path.resolve()
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == here]
    return f", line {lines[-1]}" if lines else ""


def _made_by(module: ModuleType) -> list[Experiment | Search]:
    public = (value for name, value in vars(module).items() if not name.startswith("_"))
    made = [value for value in public if isinstance(value, Experiment | Search) and not isinstance(value, type)]
    return list({id(each): each for each in made}.values())
