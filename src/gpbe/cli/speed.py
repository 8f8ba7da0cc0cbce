"""How fast this machine is, measured once and kept; for what experiments cost."""

import contextlib
import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from gpbe.bars import progress
from gpbe.checks import check_at_least
from gpbe.errors import InputError
from gpbe.files.atomic import write_atomic
from gpbe.runner.local import available_cores


def cores(count: int | None) -> int:
    """The number of workers: as many as were asked for, or as there are cores."""
    check_at_least(1, workers=count)
    return count or len(available_cores())


def measure_speed(domains: Iterable[str], keep: bool = True) -> Any:
    """How fast one core of this machine is; with `keep`, once and for all."""
    from gpbe import store
    from gpbe.experiments.cost import Speed, calibrate, measured
    from gpbe.process import cache_folder, prepare

    prepare()
    wanted = sorted(set(map(measured, domains)))
    file = cache_folder(os.environ) / "speed.json"
    here = {"versions": store.versions(), "machine": platform.node(), "cores": os.cpu_count()}
    if keep:
        try:
            known = json.loads(file.read_text())
            if known["here"] == here and sorted(known["speed"]["rates"]) == wanted:
                return Speed(**known["speed"])
        except (OSError, ValueError, KeyError, TypeError):  # none yet, or not one of this version
            pass
    with progress("measuring the speed of this machine", len(wanted) + 1, "domains") as advance:
        speed = calibrate(wanted, advance)
    if keep:
        with contextlib.suppress(OSError, InputError):  # it will be measured again
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(file, json.dumps({"here": here, "speed": asdict(speed)}).encode())
    return speed
