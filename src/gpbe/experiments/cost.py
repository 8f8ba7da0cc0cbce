"""What an experiment costs on this machine, from a short calibration."""

import time

from gpbe.experiments.sweeps import LANES, run_chunk

RELATIVE_SPEED = {
    "q-learning": 1.0,
    "qc": 1.0,
    "qrc": 1.0,
    "qrc-sep": 0.6,
    "qrc-grad": 0.6,
    "qc-ll": 0.44,
    "gq": 1.0,
    "gq-grad": 0.55,
    "sbeed": 0.6,
    "sbeed-q": 1.0,
    "tdrc-pg": 0.67,
}
"""Steps a second over QRC's, rounded from `gpbe bench control`; environments on the host hide some of the gap."""


def calibrate(domain: str, steps: int = 2000) -> float:
    """Steps a second of QRC on one core: one chunk to compile, one to measure."""
    payload = {
        "domain": domain,
        "algorithm": "qrc",
        "lanes": [[0, run] for run in range(LANES)],
        "hyperparameters": [{"step_size": 2.0**-10}] * LANES,
        "pad": LANES,
        "steps": 500,
        "every": 500,
        "seed": 0,
        "options": {},
    }
    run_chunk(payload)
    started = time.perf_counter()
    run_chunk(payload | {"steps": steps})
    return LANES * steps / (time.perf_counter() - started)
