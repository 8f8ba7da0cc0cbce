"""Domains and algorithms as people write them, and what each algorithm looks like in every figure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gpbe.figures import style

LUNAR_LANDER = "LunarLander-v3"
DOMAIN = {
    "MountainCar-v0": "Mountain Car",
    "Acrobot-v1": "Acrobot",
    "CartPole-v1": "Cart Pole",
    LUNAR_LANDER: "Lunar Lander",
}


@dataclass(frozen=True)
class Look:
    label: str
    color: str
    linestyle: Literal["-"] | tuple[float, tuple[float, ...]] = "-"


# Algorithms that never meet in a figure may share a color.
ALGORITHM = {
    "q-learning": Look("Q-learning", style.ORANGE, (0.0, (5.0, 1.2))),
    "qc": Look("QC", style.SKY),
    "qc-ll": Look("QC-LL", style.GREEN, (0.0, (4.0, 1.0, 1.0, 1.0))),
    "sbeed": Look("SBEED", style.RED, (0.0, (1.2, 0.8))),
    "sbeed-q": Look("SBEED-Q", style.PURPLE),
    "tdrc-pg": Look("TDRC-PG", style.SKY),
    "gq": Look("GQ", style.PURPLE),
    "gq-grad": Look("GQ-Grad", style.BLACK),
    "qrc-sep": Look("QRC-Sep", style.SKY),
    "qrc-grad": Look("QRC-Grad", style.BLACK),
    "qrc": Look("QRC", style.BLUE),
}


def title_of(domain: str) -> str:
    """A domain as people write it.

    >>> title_of("MountainCar-v0"), title_of("Pendulum-v1")
    ('Mountain Car', 'Pendulum-v1')
    """
    return DOMAIN.get(domain, domain)


def label_of(algorithm: str) -> str:
    """An algorithm as people write it.

    >>> label_of("qc-ll"), label_of("my-own")
    ('QC-LL', 'my-own')
    """
    return look_of(algorithm).label


def look_of(algorithm: str) -> Look:
    return ALGORITHM.get(algorithm, Look(algorithm, style.GREY))


def domains_in(names: Iterable[str]) -> list[str]:
    """Each domain once: the paper's in its order, then others by name.

    >>> domains_in(["Zoo", "CartPole-v1", "MountainCar-v0", "Zoo"])
    ['MountainCar-v0', 'CartPole-v1', 'Zoo']
    """
    there = set(names)
    return [name for name in DOMAIN if name in there] + sorted(there.difference(DOMAIN))


def listed(words: Iterable[str]) -> str:
    """Words in a row.

    >>> listed(["QRC"]), listed(["QRC", "GQ", "SBEED"])
    ('QRC', 'QRC, GQ and SBEED')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def power(value: float) -> str:
    """A power of two as one, with mathematics that matplotlib sets; other numbers as they are.

    >>> power(2**-10), power(0.3), power(1.0)
    ('$2^{-10}$', '0.3', '1')
    """
    mantissa, exponent = _binary(value)
    return f"$2^{{{exponent}}}$" if mantissa == 0.5 and exponent < -1 else f"{value:g}"


def plain(value: float) -> str:
    """The same in plain text.

    >>> plain(2**-10), plain(0.5), plain(1e-4)
    ('2^-10', '0.5', '0.0001')
    """
    mantissa, exponent = _binary(value)
    return f"2^{exponent}" if mantissa == 0.5 and exponent < -1 else f"{value:g}"


def _binary(value: float) -> tuple[float, int]:
    mantissa, exponent = math.frexp(value)
    return mantissa, exponent - 1


def lines(algorithms: Iterable[str]) -> list[Line2D]:
    """Handles of a legend for curves."""
    looks = [look_of(name) for name in algorithms]
    return [Line2D([], [], color=look.color, linestyle=look.linestyle, label=look.label) for look in looks]


def patches(algorithms: Iterable[str]) -> list[Patch]:
    """Handles of a legend for areas."""
    return [Patch(color=look.color, label=look.label, alpha=0.8) for look in map(look_of, algorithms)]
