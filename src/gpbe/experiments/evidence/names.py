"""The names under which the stages of the evidence are stored."""

SCREEN, RACE, FINAL, VERDICT = ("evidence-screen", "evidence-race", "evidence-final", "evidence-verdict")
SECOND = "evidence-second-verdict"
CHOOSING = (SCREEN, RACE, FINAL)
SKEW, STEP_SIZES, BETA, BOUNDARY, GREEDY = (
    "evidence-skew",
    "evidence-step-sizes",
    "evidence-beta",
    "evidence-boundary",
    "evidence-greedy",
)
OPTIMIZERS = {"sgd": "evidence-sgd", "rmsprop": "evidence-rmsprop"}
RHO = "evidence-rho"
SIDES = (SKEW, STEP_SIZES, BETA, BOUNDARY, GREEDY, *OPTIMIZERS.values(), RHO)
"""The side sweeps that judge."""
REPLICATION = "replication"


def screening_of(side: str) -> str:
    """The stage that chooses settings for a side sweep which needs a choice of its own."""
    return f"{side}-screen"


STAGES = (
    *CHOOSING,
    VERDICT,
    SECOND,
    *(screening_of(name) for name in (*OPTIMIZERS.values(), RHO)),
    *SIDES,
)
"""All of them."""
