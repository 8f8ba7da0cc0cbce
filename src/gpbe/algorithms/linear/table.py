"""The algorithms by name: choices on three axes (paper, appendix on the linear PBE, table of methods)."""

from dataclasses import dataclass, replace
from typing import Literal

from gpbe.algorithms.linear.bootstrapping import Rule
from gpbe.algorithms.linear.traces import Prior
from gpbe.algorithms.linear.updates import Update
from gpbe.checks import check_choices, unknown

WEIGHTING: dict[Prior, str] = {"none": "d_b", "emphatic": "m", "alternative-life": "d_pi"}


@dataclass(frozen=True)
class Algorithm:
    """What is corrected, how long the sample is trusted, and how the weights move.

    >>> Algorithm(prior="emphatic", update="gradient-correction").weighting
    'm'
    """

    prior: Prior = "none"
    bootstrapping: Rule = "importance"
    update: Update = "td"
    mirror_prox: bool = False
    """Take each step with the direction found half-way (extragradient)."""
    regularized: bool = False
    """Shrink h by beta (TDRC)."""
    decayed_followon: bool = False
    """The followon decays by Hallak's beta instead of the discount."""
    variance_reduction: Literal["none", "svrg", "saga"] = "none"
    """For "finite-sum": how the noise of single terms is canceled."""
    paper: str = ""

    def __post_init__(self) -> None:
        check_choices(self)

    @property
    def finite_sum(self) -> bool:
        """Does it go over a stored data set instead of a stream?"""
        return self.update == "finite-sum"

    @property
    def weighting(self) -> str:
        """The state weighting of the objective: d_b, d_pi or m."""
        return "between d_b and m" if self.decayed_followon else WEIGHTING[self.prior]

    @property
    def sound(self) -> bool:
        """Does it converge off-policy for every behavior that covers the target, given what it `needs`?"""
        return self.update != "td" or (self.prior != "none" and not self.decayed_followon)

    @property
    def needs(self) -> str:
        """What soundness asks of the hyperparameters, besides small enough steps."""
        if self.regularized:
            return "ratio large enough, beta small enough"
        return "ratio large enough" if self.update in ("gradient-correction", "hybrid") else ""

    @property
    def second_weights(self) -> bool:
        return self.update not in ("td", "least-squares")


def _family(prior: Prior, word: str, names: tuple[str, ...], paper: str) -> dict[str, Algorithm]:
    """The published updates under another prior correction; the paper prints most of these in grey."""
    return {f"{word}-{name}": replace(ALGORITHMS[name], prior=prior, paper=paper) for name in names}


GREY = "hypothetical (Patterson et al. 2022, grey)"
ALGORITHMS: dict[str, Algorithm] = {
    "td": Algorithm(paper="Precup et al. 2001, with posterior corrections only"),
    "gtd": Algorithm(update="gradient-correction", paper="Maei 2011"),
    "tdc": Algorithm(update="gradient-correction", paper="Sutton et al. 2009"),
    "gtd2": Algorithm(update="saddlepoint", paper="Sutton et al. 2009; Maei 2011"),
    "gtd2-mp": Algorithm(update="saddlepoint", mirror_prox=True, paper="Liu et al. 2016"),
    "htd": Algorithm(update="hybrid", paper="Hackman 2013; White and White 2016"),
    "tdrc": Algorithm(update="gradient-correction", regularized=True, paper="Ghiassian et al. 2020"),
    "tree-backup": Algorithm(bootstrapping="tree-backup", paper="Precup et al. 2000"),
    "gradient-tree-backup": Algorithm(bootstrapping="tree-backup", update="saddlepoint", paper="Touati et al. 2018"),
    "v-trace": Algorithm(bootstrapping="v-trace", paper="Espeholt et al. 2018"),
    "ab-trace": Algorithm(bootstrapping="ab-trace", paper="Mahmood et al. 2017"),
    "lstd": Algorithm(update="least-squares", paper="Bradtke and Barto 1996; Boyan 2002; Yu 2010"),
    "svrg": Algorithm(update="finite-sum", variance_reduction="svrg", paper="Du et al. 2017"),
    "saga": Algorithm(update="finite-sum", variance_reduction="saga", paper="Du et al. 2017"),
    "etd": Algorithm("emphatic", paper="Sutton et al. 2016"),
    "etd-beta": Algorithm("emphatic", decayed_followon=True, paper="Hallak et al. 2016"),
    "lsetd": Algorithm("emphatic", update="least-squares", paper="Yu 2015"),
}
_PRIOR_FREE = ("gtd", "htd", "gtd2", "gtd2-mp", "tdrc", "svrg", "saga")
ALGORITHMS |= _family("emphatic", "emphatic", _PRIOR_FREE, GREY)
ALGORITHMS |= _family("alternative-life", "alternative-life", ("td",), "Precup et al. 2001")
ALGORITHMS |= _family("alternative-life", "alternative-life", (*_PRIOR_FREE, "lstd"), GREY)


def find(algorithm: str | Algorithm) -> Algorithm:
    """An algorithm by name, or as a choice of axes."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    if algorithm not in ALGORITHMS:
        raise unknown("algorithm", algorithm, ALGORITHMS)
    return ALGORITHMS[algorithm]
