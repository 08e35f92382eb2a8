"""How many more judgments would decide: one number, whoever asks."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from steelyard.model.anytime import FAR, growth_needed
from steelyard.model.campaign import Floats
from steelyard.model.fit import Answers, Fit

__all__ = ["GO_ON", "more_by_the_root", "more_judgments"]

GO_ON = (
    "to decide what is undecided go on with `steelyard monitor`, which takes these judgments into account; to "
    "judge as many more and compare again is a second look, at which more is found than there is"
)


def more_judgments(
    fit: Fit,
    answers: Answers,
    forms: Floats,
    *,
    reach: Floats,
    gaps: Sequence[Floats],
    judgments: Sequence[int],
    level: float,
) -> list[int | None]:
    """Return about how many more judgments narrow each interval to one of some gaps.

    Errors fall as the model has it: what belongs to the outputs of a pool ends with the pool.

    Parameters
    ----------
    fit, answers
        The model and its means.
    forms : (f, k) array
        The weight of each mean in each form.
    reach : (f,) array
        How far the interval of each reaches now.
    gaps : sequence of (f,) arrays
        How far it may reach, in the one way or the other; what is not above 0 cannot be reached.
    judgments : sequence of int
        Judgments that each form rests on.
    level : float
        Confidence level.

    Returns
    -------
    list of int or None
        None where no forecast is that far.
    """
    once = float(ndtri((1 + level) / 2))
    times = np.full(len(forms), np.inf)
    for gap in gaps:
        found = growth_needed(fit, answers, forms, share=None, now=reach, once=once, aim=gap)
        times = np.minimum(times, found)
    return [
        None if math.isinf(growth) else max(math.ceil(made * (growth - 1)), 1)
        for growth, made in zip(times.tolist(), judgments, strict=True)
    ]


def more_by_the_root(reach: float, gap: float, judgments: int) -> int | None:
    """Return how many more judgments narrow an interval of no mean, such as a share or a correlation, to a gap.

    Its error is taken to fall with the root of the judgments; None where no forecast is that far.
    """
    if gap <= 0 or reach / gap > math.sqrt(FAR):
        return None
    return max(math.ceil(judgments * ((reach / gap) ** 2 - 1)), 1)
