"""Control algorithms as figures and sentences show them."""

from gpbe.algorithms.control.table import ALGORITHMS
from gpbe.algorithms.records import Look


def look_of(algorithm: str) -> Look:
    """How figures show an algorithm; one that is not in the table, or says nothing of it, goes by its name.

    >>> look_of("qrc").color, look_of("my-own").label
    ('blue', 'my-own')
    """
    known = ALGORITHMS.get(algorithm)
    return (known and known.look) or Look(algorithm)


def label_of(algorithm: str) -> str:
    """An algorithm as people write it.

    >>> label_of("qc-ll"), label_of("my-own")
    ('QC-LL', 'my-own')
    """
    return look_of(algorithm).label
