"""Linear prediction on six small problems: one sweep, looked at in three ways."""

from gpbe.experiments.prediction.computation import bars, curves, pieces, sensitivity
from gpbe.experiments.study import DeclaredStudy, Shown

DECLARED = (
    DeclaredStudy(
        "prediction",
        "linear prediction on six problems: seven algorithms over step sizes and ratios",
        "runs",
        pieces,
        seconds=(1.2, 4.6e-4),
        section="7.2",
        shown=(
            Shown(
                f"{__name__}.drawing:draw_curves",
                curves,
                "prediction-curves",
                "learning curves with the best step sizes",
            ),
            Shown(
                f"{__name__}.drawing:draw_sensitivity",
                sensitivity,
                "prediction-sensitivity",
                "how much the step size matters",
            ),
            Shown(f"{__name__}.drawing:draw_bars", bars, "prediction-bars", "best settings compared with TDRC"),
        ),
    ),
)
