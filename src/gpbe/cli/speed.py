"""How fast this machine is, measured once and kept; for what experiments cost."""

import contextlib
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpbe.bars import progress
from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.process import cache_folder
from gpbe.runner.local import available_cores

if TYPE_CHECKING:
    from gpbe.experiments.cost import Speed


def cores(count: int | None) -> int:
    """The number of workers: as many as were asked for, or as there are cores."""
    check_at_least(1, workers=count)
    return count or len(available_cores())


def known_speed(domains: Iterable[str]) -> "Speed | None":
    """The stored speed of one core of this machine; None if it was not measured before with these versions."""
    from gpbe.experiments.cost import Speed, measured

    try:
        known = json.loads(_file().read_text())
        if known["here"] == _here() and set(known["speed"]["rates"]) == set(map(measured, domains)):
            return Speed(**known["speed"])
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or not one of this version
        pass
    return None


def measure_speed(domains: Iterable[str], keep: bool = True) -> "Speed":
    """Measure the speed of one core of this machine; with `keep`, a stored measurement is used, or this one stored."""
    from gpbe.experiments.cost import calibrate, measured
    from gpbe.process import prepare

    prepare()
    if keep and (known := known_speed(domains)):
        return known
    wanted = sorted(set(map(measured, domains)))
    with progress("measuring the speed of this machine", len(wanted) + 1, "domains") as advance:
        speed = calibrate(wanted, advance)
    if keep:
        with contextlib.suppress(OSError, InputError):  # it will be measured again
            _file().parent.mkdir(parents=True, exist_ok=True)
            write_atomic(_file(), json.dumps({"here": _here(), "speed": asdict(speed)}).encode())
    return speed


def _file() -> Path:
    return cache_folder(os.environ) / "speed.json"


def _here() -> dict[str, Any]:
    from gpbe import store

    return {"versions": store.versions(), "machine": platform.node(), "cores": os.cpu_count()}
