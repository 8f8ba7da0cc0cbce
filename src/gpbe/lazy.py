"""What is imported when it is first used, so that what does not need JAX or matplotlib starts without them."""

import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def imported_when_used(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `homes` has the module of every name, or of that name.

    >>> find = imported_when_used("tables", {"sqrt": "math"})
    >>> find("sqrt")(9)
    3.0
    >>> find("cube")
    Traceback (most recent call last):
    AttributeError: module 'tables' has no attribute 'cube'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name])
        return home if homes[name] == f"{package}.{name}" else getattr(home, name)

    return find


def all_names(package: str) -> Callable[[], list[str]]:
    """The `__dir__` of a package: what it exports, imported or not, and packages in it; nothing that it only uses.

    >>> import gpbe
    >>> {"predict", "train", "load", "grid"} <= set(all_names("gpbe")())
    True
    >>> "TYPE_CHECKING" in all_names("gpbe")()
    False
    """

    def names() -> list[str]:
        module = sys.modules[package]
        beside = {name for name, what in vars(module).items() if name.startswith("__") or hasattr(what, "__path__")}
        return sorted({*beside, *module.__all__})

    return names


@contextmanager
def importing(module: str) -> Iterator[None]:
    """Import a module in another thread, while this one waits for something else, such as another process.

    >>> with importing("statistics"):
    ...     pass
    >>> "statistics" in sys.modules
    True
    """
    thread = threading.Thread(target=importlib.import_module, args=(module,))
    thread.start()
    try:
        yield
    finally:
        thread.join()


def named(reference: str) -> Callable[..., Any]:
    """The function that a text `package.module:function` names.

    >>> named("math:sqrt")(9)
    3.0
    """
    module, _, function = reference.partition(":")
    return getattr(importlib.import_module(module), function)
