"""`gpbe bench`: how fast learning is here."""

from typing import Literal

from tyro.conf import Positional

from gpbe.algorithms.control import ALGORITHMS, find_algorithm
from gpbe.checks import check_known
from gpbe.cli.options import Json, Names
from gpbe.cli.terminal import console, print_json
from gpbe.envs.domains import DOMAINS, PAPER


def bench(
    what: Positional[Literal["control"]],
    domains: Names = PAPER,
    algorithms: Names = ("all",),
    json: Json = False,
) -> None:
    """Measure the speed of learning on one core of this machine; beside stable-baselines3, if it is installed.

    Args:
        what: control is all that there is so far
        domains: the first is that of all algorithms
        algorithms: measured as a ratio to QRC; all if left out
        json: print JSON
    """
    from gpbe.bench import control as measuring

    for domain in domains:
        check_known(domain, DOMAINS, "domain")
    names = tuple(ALGORITHMS) if algorithms == ("all",) else algorithms
    for name in names:
        find_algorithm(name)

    def say(row: dict[str, object]) -> None:
        ratio = f"  {row['ratio']} x {row['than']}" if row["ratio"] is not None else ""
        console().print(f"{row['domain']:<16}{row['what']:<24}{row['steps_per_second']:>10,} steps/s{ratio}")

    rows = measuring.measure(domains, names, (lambda row: None) if json else say)
    if json:
        print_json(rows)
