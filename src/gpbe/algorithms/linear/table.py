"""The algorithms by name: choices on three axes (paper, appendix on the linear PBE, table of methods)."""

from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from gpbe.algorithms.linear.bootstrapping import Rule
from gpbe.algorithms.linear.hyperparameters import Hypers
from gpbe.algorithms.linear.traces import Prior
from gpbe.algorithms.linear.updates import Update
from gpbe.algorithms.records import Look, find_record, huber_family
from gpbe.checks import check_choices
from gpbe.errors import InputError

WEIGHTING: dict[Prior, str] = {"none": "d_b", "emphatic": "m", "alternative-life": "d_pi"}


@dataclass(frozen=True)
class Algorithm:
    """What is corrected, how long the sample is trusted, and how the weights move.

    >>> Algorithm(prior="emphatic", update="gradient-correction").weighting
    'm'
    >>> Algorithm(decayed_followon=True)
    Traceback (most recent call last):
    gpbe.errors.InputError: decayed_followon is for prior "emphatic", not 'none'
    """

    prior: Prior = "none"
    bootstrapping: Rule = "importance"
    update: Update = "td"
    mirror_prox: bool = False
    """Take each step with the direction found half-way (extragradient)."""
    regularized: bool = False
    """Shrink h by beta (TDRC)."""
    bounded: bool = False
    """Keep |h| within `huber` in every state (Huber PBE)."""
    decayed_followon: bool = False
    """The followon decays by Hallak's beta instead of the discount."""
    variance_reduction: Literal["none", "svrg", "saga"] = "none"
    """How the noise of single terms is canceled, for "finite-sum"."""
    paper: str = field(default="", compare=False)
    look: Look = field(default=Look("custom"), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_choices(self)
        if self.finite_sum != (self.variance_reduction != "none"):
            raise InputError(
                f"variance_reduction is {self.variance_reduction!r} and update {self.update!r}; "
                'svrg and saga are for update "finite-sum", which has no other'
            )
        if self.regularized and (self.finite_sum or not self.second_weights):
            raise InputError(f"regularized shrinks the h that learns online; update {self.update!r} has none")
        if self.bounded and self.update not in ("gradient-correction", "saddlepoint"):
            raise InputError(
                f'bounded is for update "gradient-correction" and "saddlepoint", whose h maximizes, not {self.update!r}'
            )
        if self.mirror_prox and (self.finite_sum or self.least_squares):
            raise InputError(f"mirror_prox looks ahead along single steps, which update {self.update!r} does not take")
        if self.decayed_followon and self.prior != "emphatic":
            raise InputError(f'decayed_followon is for prior "emphatic", not {self.prior!r}')

    @property
    def finite_sum(self) -> bool:
        """Does it go over a stored data set instead of a stream?"""
        return self.update == "finite-sum"

    @property
    def least_squares(self) -> bool:
        """Does it solve for the weights instead of taking steps?"""
        return self.update == "least-squares"

    @property
    def second_weights(self) -> bool:
        """Does it learn h?"""
        return self.update not in ("td", "least-squares")

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
    def hyperparameters(self) -> tuple[str, ...]:
        """The names of those that it has.

        >>> ALGORITHMS["lsetd"].hyperparameters
        ('lam', 'ridge')
        """
        scheduled = not (self.least_squares or self.finite_sum)
        has = {
            "step_size": not self.least_squares,
            "ratio": self.second_weights,
            "beta": self.regularized,
            "huber": self.bounded,
            "c_bar": self.bootstrapping == "v-trace",
            "rho_bar": self.bootstrapping == "v-trace",
            "followon_decay": self.decayed_followon,
            "power": scheduled,
            "delay": scheduled,
            "ridge": self.least_squares,
        }
        return tuple(name for name in Hypers._fields if has.get(name, True))

    def defaults(self) -> dict[str, float]:
        """A number for each hyperparameter, whether it has it or not.

        Ratios stay unclipped outside V-trace, and inside it where clipping would break the gradient.
        """
        values = {name: declared.default for name, declared in Hypers._field_defaults.items()}
        clipped = self.bootstrapping == "v-trace" and not self.second_weights
        return values if clipped else values | {"rho_bar": inf}


def _family(prior: Prior, names: tuple[str, ...], paper: str) -> dict[str, Algorithm]:
    """The published updates under another prior correction; the paper prints most of these in gray."""
    return {
        f"{prior}-{name}": replace(
            ALGORITHMS[name], prior=prior, paper=paper, look=Look(f"{prior} {ALGORITHMS[name].look.label}")
        )
        for name in names
    }


GREY = "hypothetical (Patterson et al. 2022, gray)"
ALGORITHMS: dict[str, Algorithm] = {
    "td": Algorithm(paper="Precup et al. 2001, with posterior corrections only", look=Look("TD", "black")),
    "gtd": Algorithm(update="gradient-correction", paper="Maei 2011", look=Look("GTD", "blue", marker="s")),
    "tdc": Algorithm(update="gradient-correction", paper="Sutton et al. 2009", look=Look("TDC", "blue", marker="s")),
    "gtd2": Algorithm(
        update="saddlepoint", paper="Sutton et al. 2009; Maei 2011", look=Look("GTD2", "orange", marker="P")
    ),
    "gtd2-mp": Algorithm(
        update="saddlepoint", mirror_prox=True, paper="Liu et al. 2016", look=Look("GTD2-MP", "orange", (4.0, 1.5), "P")
    ),
    "htd": Algorithm(
        update="hybrid", paper="Hackman 2013; White and White 2016", look=Look("HTD", "green", (1.0, 1.0), "D")
    ),
    "tdrc": Algorithm(
        update="gradient-correction",
        regularized=True,
        paper="Ghiassian et al. 2020",
        look=Look("TDRC", "red", marker="*"),
    ),
    "tree-backup": Algorithm(bootstrapping="tree-backup", paper="Precup et al. 2000", look=Look("Tree Backup", "sky")),
    "gradient-tree-backup": Algorithm(
        bootstrapping="tree-backup",
        update="saddlepoint",
        paper="Touati et al. 2018",
        look=Look("gradient Tree Backup", "sky", (4.0, 1.5)),
    ),
    "v-trace": Algorithm(
        bootstrapping="v-trace", paper="Espeholt et al. 2018", look=Look("V-trace", "grey", (4.0, 1.5), "v")
    ),
    "ab-trace": Algorithm(bootstrapping="ab-trace", paper="Mahmood et al. 2017", look=Look("AB-Trace", "yellow")),
    "lstd": Algorithm(
        update="least-squares", paper="Bradtke and Barto 1996; Boyan 2002; Yu 2010", look=Look("LSTD", "green")
    ),
    "svrg": Algorithm(
        update="finite-sum", variance_reduction="svrg", paper="Du et al. 2017", look=Look("SVRG", "orange")
    ),
    "saga": Algorithm(
        update="finite-sum", variance_reduction="saga", paper="Du et al. 2017", look=Look("SAGA", "green")
    ),
}
"""The algorithms that have a name."""
ALGORITHMS |= huber_family(ALGORITHMS)
ALGORITHMS |= {
    "etd": Algorithm("emphatic", paper="Sutton et al. 2016", look=Look("ETD", "purple", (5.0, 1.0, 1.0, 1.0), "^")),
    "etd-beta": Algorithm(
        "emphatic",
        decayed_followon=True,
        paper="Hallak et al. 2016",
        look=Look("ETD with beta", "purple", (2.0, 1.0), "^"),
    ),
    "lsetd": Algorithm("emphatic", update="least-squares", paper="Yu 2015", look=Look("LSETD", "purple")),
}
_PRIOR_FREE = ("gtd", "htd", "gtd2", "gtd2-mp", "tdrc", "svrg", "saga")
ALGORITHMS |= _family("emphatic", _PRIOR_FREE, GREY)
ALGORITHMS |= _family("alternative-life", ("td",), "Precup et al. 2001")
ALGORITHMS |= _family("alternative-life", (*_PRIOR_FREE, "lstd"), GREY)


def find(algorithm: object) -> Algorithm:
    """An algorithm by name, or as a choice of axes.

    >>> find("tdrc").update, find(Algorithm("emphatic")) == find("etd")
    ('gradient-correction', True)
    """
    return find_record(algorithm, ALGORITHMS, Algorithm, "algorithm")
