"""The questions put to the simulated raters, and how a text's defects become scores."""

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from steelyard.arrays import Floats
from steelyard.demo.systems import Defects

__all__ = ["CORRECT", "LENIENCY_VARIANCE", "OVERALL", "PROMPTS", "Prompt"]


# The part of a judgment's unit latent variance that belongs to the rater, not to the moment.
LENIENCY_VARIANCE = 0.12


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""A question on an ordered scale of whole numbers.

    A text of quality :math:`q` that rater :math:`r` reads seems as good to them as
    :math:`L = q + b_r + e`, with leniency :math:`b_r \sim N(0, \tau^2)` and noise
    :math:`e \sim N(0, 1 - \tau^2)`. The score is the lowest level plus the number of thresholds
    below :math:`L`. Over raters :math:`L` is normal with mean :math:`q` and variance 1, so with
    thresholds :math:`t_k` the human score is
    :math:`f = \text{lowest} + \sum_k \Phi(q - t_k)`, exactly.

    Attributes
    ----------
    name : str
        The question.
    lowest : int
        The lowest level.
    thresholds : tuple of float
        Latent values, in increasing order, at which the score rises by one.
    flawless : float
        Quality of a text without defects.
    costs : Defects
        What a unit of each defect takes from the quality.
    """

    name: str
    lowest: int
    thresholds: tuple[float, ...]
    flawless: float
    costs: Defects

    def quality(self, defects: Defects) -> float:
        """Return the latent quality of a text with these defects."""
        return self.flawless - float(np.dot(astuple(self.costs), astuple(defects)))

    def scores(self, impression: ArrayLike) -> NDArray[np.int64]:
        """Return the score for each latent impression L."""
        return self.lowest + np.searchsorted(self.thresholds, impression)

    def human_score(self, quality: ArrayLike) -> Floats:
        """Return f, the mean score over infinitely many raters, for each quality."""
        above = ndtr(np.asarray(quality)[..., np.newaxis] - self.thresholds)
        return np.asarray(self.lowest + above.sum(axis=-1))


OVERALL = Prompt(
    name="overall",
    lowest=-1,
    thresholds=(-1.0, 1.0),
    flawless=1.2,
    costs=Defects(wrong=1.5, missing=0.4, unsupported=1.1, repeated=3.5, broken=0.7),
)
CORRECT = Prompt(
    name="correct",
    lowest=0,
    thresholds=(0.0,),
    flawless=1.45,
    costs=Defects(wrong=1.9, missing=0.3, unsupported=1.3, repeated=1.5, broken=0.6),
)
PROMPTS = (OVERALL, CORRECT)
