"""`gpbe list`: what there is."""

from typing import Literal

from tyro.conf import Positional

from gpbe.cli.options import Json
from gpbe.cli.terminal import console, print_json

What = Literal[
    "all",
    "problems",
    "algorithms",
    "control",
    "networks",
    "experiments",
    "figures",
    "objectives",
    "weightings",
    "bounds",
]


def list_(what: Positional[What] = "all", json: Json = False) -> None:
    """Show what there is: problems, algorithms, control algorithms, figures, objectives, weightings, bounds.

    Args:
        what: which kind to show
        json: print JSON
    """
    from gpbe.cli import catalogue, pages

    if what == "networks":  # not among all: it takes JAX, and a second
        entries = catalogue.network_algorithms()
        if json:
            print_json({what: entries})
        else:
            console().print(pages.network_table(entries))
        return
    kinds = {k: v for k, v in catalogue.catalogue().items() if what in ("all", k)}
    if json:
        whole = {"algorithms": catalogue.algorithms, "control": catalogue.control_algorithms}
        print_json({k: whole[k]() if k in whole else v for k, v in kinds.items()})
    elif what in ("algorithms", "control"):
        if what == "algorithms":
            for table in pages.algorithm_tables(catalogue.algorithms()):
                console().print(table, "")
            console().print(pages.LEGEND, "")
        for table in pages.control_tables(catalogue.control_algorithms()):
            console().print(table, "")
    else:
        for kind, entries in kinds.items():
            console().print(pages.names_table(kind, entries), "")
