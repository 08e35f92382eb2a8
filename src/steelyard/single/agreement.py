"""How far raters agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats, Ints
from steelyard.errors import NotEstimableError
from steelyard.single.components import check_repeats
from steelyard.single.judged import judged_outputs
from steelyard.single.moments import moments

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True)
class Agreement:
    """Agreement of raters under one prompt.

    Attributes
    ----------
    alpha_nominal, alpha_ordinal, alpha_interval : float
        Krippendorff's alpha: 1 for perfect agreement, 0 for that of chance. Nominal counts equal
        against unequal, ordinal the distance in ranks, interval the distance in score. NaN where
        chance agreement is complete too.
    equal_pairs : float
        Share of equal pairs among all pairs of judgments of one output.
    icc : float
        Intraclass correlation ICC(1), one-way: the reliability of one judgment. Negative where
        outputs differ less than chance would make them.
    n_outputs, n_single : int
        Outputs in all, and those of them with one judgment: alpha and `equal_pairs` leave these out.
    n_judgments : int
        Judgments in all.
    """

    alpha_nominal: float
    alpha_ordinal: float
    alpha_interval: float
    equal_pairs: float
    icc: float
    n_outputs: int
    n_single: int
    n_judgments: int


def agreement(human: ArrayLike, items: ArrayLike) -> Agreement:
    r"""Agreement of raters, with any number of judgments per output and none made up.

    With :math:`D_o` the mean squared distance of two judgments of one output and :math:`D_e` that
    of any two judgments, :math:`\alpha = 1 - D_o / D_e`. The ordinal distance is the interval
    distance of mid-ranks, so one formula serves both.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array
        Which output each judgment is of.

    Returns
    -------
    Agreement

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite.
    NotEstimableError
        If no output has two judgments, there is one output only, or all judgments of outputs with
        two are equal.

    References
    ----------
    K. Krippendorff (2011), Computing Krippendorff's alpha-reliability. P. E. Shrout and J. L. Fleiss
    (1979), Intraclass correlations: uses in assessing rater reliability, Psychological Bulletin 86.

    Examples
    --------
    >>> result = agreement([1, 1, 2, 3, 3, 3, 1], ["a", "a", "b", "b", "c", "c", "d"])
    >>> round(result.alpha_nominal, 3), round(result.equal_pairs, 3), result.n_single
    (0.545, 0.667, 1)
    """
    sample = judged_outputs(human, None, items)
    check_repeats(sample)
    keep = (sample.count > 1)[sample.output]
    values = sample.human[keep]
    if np.ptp(values) == 0:
        raise NotEstimableError(
            "agreement needs judgments that differ: all judgments of outputs with two or more are "
            f"{values[0]:g}, so chance agreement is complete too; collect more judgments"
        )
    unit = np.unique(sample.output[keep], return_inverse=True)[1]
    codes, count = np.unique(values, return_inverse=True, return_counts=True)[1:]
    ranks = (np.cumsum(count) - (count - 1) / 2)[codes]
    together = np.zeros(len(unit), np.int64)
    _, equal = np.unique(unit * len(count) + codes, return_counts=True)
    pairs = sample.count @ (sample.count - 1.0)
    plain = moments(sample)
    item, total = float(plain.item[0]), float(plain.total[0])
    return Agreement(
        alpha_nominal=_alpha(_unequal(codes, unit), _unequal(codes, together)),
        alpha_ordinal=_alpha(_spread(ranks, unit), _spread(ranks, together)),
        alpha_interval=_alpha(_spread(values, unit), _spread(values, together)),
        equal_pairs=float(np.sum(equal * (equal - 1.0)) / pairs),
        icc=item / total if total > 0 else np.nan,
        n_outputs=sample.n_outputs,
        n_single=int((sample.count == 1).sum()),
        n_judgments=sample.n_judgments,
    )


def _alpha(observed: float, expected: float) -> float:
    return 1 - observed / expected if expected > 0 else np.nan


def _unequal(codes: Ints, unit: Ints) -> float:
    """Return the sum over judgments of the share of unequal ones among the others of the unit."""
    m = np.bincount(unit).astype(np.float64)
    width = int(codes.max()) + 1
    cells, equal = np.unique(unit * width + codes, return_counts=True)
    size = m[cells // width]
    return float(np.sum(equal * (size - equal) / (size - 1)))


def _spread(values: Floats, unit: Ints) -> float:
    """Return half the sum over judgments of the mean squared distance to the others of the unit."""
    m = np.bincount(unit).astype(np.float64)
    mean = np.bincount(unit, weights=values) / m
    squares = np.bincount(unit, weights=(values - mean[unit]) ** 2)
    return float(np.sum(squares * m / (m - 1)))
