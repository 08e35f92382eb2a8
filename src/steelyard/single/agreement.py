"""How far raters agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats, Ints
from steelyard.errors import NotEstimableError
from steelyard.single.components import check_repeats
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.single.judged import JudgedSample, judged_outputs
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
    icc_average : float
        ICC(1, k): the reliability of the mean of `judgments_per_output` judgments; minus infinity
        where all outputs have the same mean.
    judgments_per_output : float
        k, the effective number of judgments an output (n0 of the analysis of variance).
    icc_agreement, icc_consistency : float or None
        Two-way ICC(2, 1), leniency counted as disagreement, and ICC(3, 1), leniency left out, from
        the crossed components. None when raters are unknown or gave one judgment each.
    n_outputs, n_single : int
        Outputs in all, and those of them with one judgment: alpha and `equal_pairs` leave these out.
    n_judgments : int
        Judgments in all.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    alpha_nominal: float
    alpha_ordinal: float
    alpha_interval: float
    equal_pairs: float
    icc: float
    icc_average: float
    judgments_per_output: float
    icc_agreement: float | None
    icc_consistency: float | None
    n_outputs: int
    n_single: int
    n_judgments: int
    notes: tuple[str, ...]


def agreement(
    human: ArrayLike,
    items: ArrayLike,
    raters: ArrayLike | None = None,
) -> Agreement:
    r"""Agreement of raters, with any number of judgments an output and none made up.

    With :math:`D_o` the mean squared distance of two judgments of one output and :math:`D_e` that
    of any two judgments, :math:`\alpha = 1 - D_o / D_e`. The ordinal distance is the interval
    distance of mid-ranks, so one formula serves both.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array
        Which output each judgment is of.
    raters : (M,) array, optional
        Who gave it, for the two-way intraclass correlations.

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
    >>> found = agreement([1, 1, 2, 3, 3, 3, 1], ["a", "a", "b", "b", "c", "c", "d"])
    >>> round(found.alpha_nominal, 3), round(found.equal_pairs, 3), found.n_single
    (0.545, 0.667, 1)
    """
    sample = judged_outputs(human, None, items, raters=raters)
    check_repeats(sample)
    values = sample.human[(sample.count > 1)[sample.output]]
    if np.ptp(values) == 0:
        raise NotEstimableError(
            "agreement needs judgments that differ: all judgments of outputs with two or more are "
            f"{values[0]:g}, so chance agreement is complete too; collect more judgments"
        )
    crossed = None if raters is None else crossed_components(human, items, raters)
    plain = moments(sample)
    item, rater, k = (float(one[0]) for one in (plain.item, plain.rater, plain.effective))
    nominal, ordinal, interval = _alphas(sample)
    two_way, consistency, notes = _two_way(crossed)
    n_single = int((sample.count == 1).sum())
    if n_single:
        note = (
            f"{n_single} of {sample.n_outputs} outputs have one judgment: alpha and the share of "
            "equal pairs leave them out"
        )
        notes = (note, *notes)
    return Agreement(
        alpha_nominal=nominal,
        alpha_ordinal=ordinal,
        alpha_interval=interval,
        equal_pairs=_equal_pairs(sample),
        icc=item / (item + rater) if item + rater > 0 else np.nan,
        icc_average=_average_icc(item, rater, k),
        judgments_per_output=k,
        icc_agreement=two_way,
        icc_consistency=consistency,
        n_outputs=sample.n_outputs,
        n_single=n_single,
        n_judgments=sample.n_judgments,
        notes=notes,
    )


def _alphas(sample: JudgedSample) -> tuple[float, float, float]:
    """Return nominal, ordinal and interval alpha."""
    keep = (sample.count > 1)[sample.output]
    values = sample.human[keep]
    unit = np.unique(sample.output[keep], return_inverse=True)[1]
    all_in_one = np.zeros(len(unit), np.int64)
    codes, count = np.unique(values, return_inverse=True, return_counts=True)[1:]
    ranks = (np.cumsum(count) - (count - 1) / 2)[codes]
    return (
        _alpha(_unequal(codes, unit), _unequal(codes, all_in_one)),
        _alpha(_spread(ranks, unit), _spread(ranks, all_in_one)),
        _alpha(_spread(values, unit), _spread(values, all_in_one)),
    )


def _alpha(observed: float, expected: float) -> float:
    return 1 - observed / expected if expected > 0 else np.nan


def _average_icc(item: float, rater: float, k: float) -> float:
    # The denominator is the mean square between outputs over k: nothing but rounding, or more.
    denominator = item + rater / k
    return item / denominator if denominator > 1e-12 * rater else -np.inf


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


def _equal_pairs(sample: JudgedSample) -> float:
    """Return the share of equal pairs among all pairs of judgments of one output."""
    codes = np.unique(sample.human, return_inverse=True)[1]
    _, equal = np.unique(sample.output * (int(codes.max()) + 1) + codes, return_counts=True)
    return float(np.sum(equal * (equal - 1.0)) / (sample.count @ (sample.count - 1.0)))


def _two_way(
    crossed: CrossedComponents | None,
) -> tuple[float | None, float | None, tuple[str, ...]]:
    if crossed is None:
        return None, None, ()
    if not crossed.leniency_identified:
        return None, None, crossed.notes
    item = crossed.item
    return item / (item + crossed.rater), item / (item + crossed.residual), crossed.notes
