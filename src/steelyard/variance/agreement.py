"""How far raters agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import judged_outputs
from steelyard.errors import NotEstimableError
from steelyard.variance.components import one_way
from steelyard.variance.crossed import crossed_components

__all__ = ["Agreement", "agreement"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Agreement:
    """Agreement of raters under one prompt.

    Attributes
    ----------
    alpha_nominal, alpha_ordinal, alpha_interval : float
        Krippendorff's alpha: 1 for perfect agreement, 0 for that of chance. Nominal counts equal
        against unequal, ordinal the distance in ranks, interval the distance in score.
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


def agreement(human: ArrayLike, items: ArrayLike, raters: ArrayLike | None = None) -> Agreement:
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
    components = one_way(sample)
    paired = sample.count > 1
    keep = paired[sample.output]
    values, output = sample.human[keep], np.cumsum(paired)[sample.output[keep]] - 1
    if np.ptp(values) == 0:
        raise NotEstimableError(
            "agreement needs judgments that differ: all judgments of outputs with two or more are "
            f"{values[0]:g}, so chance agreement is complete too; collect more judgments"
        )
    codes, ranks = _ranks(values)
    equal, alpha_nominal = _nominal(codes, output)
    item, rater, k = components.unbiased_item, components.rater, components.effective_count
    two_way, consistency, notes = _two_way(human, items, raters)
    n_single = int((~paired).sum())
    if n_single:
        note = (
            f"{n_single} of {sample.n_outputs} outputs have one judgment: alpha and the share of "
            "equal pairs leave them out"
        )
        notes = (note, *notes)
    return Agreement(
        alpha_nominal=alpha_nominal,
        alpha_ordinal=_interval_alpha(ranks, output),
        alpha_interval=_interval_alpha(values, output),
        equal_pairs=equal,
        icc=item / (item + rater),
        icc_average=_average_icc(item, rater, k),
        judgments_per_output=k,
        icc_agreement=two_way,
        icc_consistency=consistency,
        n_outputs=sample.n_outputs,
        n_single=n_single,
        n_judgments=sample.n_judgments,
        notes=notes,
    )


def _average_icc(item: float, rater: float, k: float) -> float:
    # The denominator is the mean square between outputs over k: nothing but rounding, or more.
    denominator = item + rater / k
    return item / denominator if denominator > 1e-12 * rater else -np.inf


def _ranks(values: Floats) -> tuple[Integers, Floats]:
    """Return the number of each value among the distinct ones, and its mid-rank."""
    _, codes, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    return codes, middle[codes]


def _nominal(codes: Integers, output: Integers) -> tuple[float, float]:
    """Return the share of equal pairs and nominal alpha."""
    size = len(codes)
    m = np.bincount(output).astype(np.float64)
    cells, repeats = np.unique(output * (int(codes.max()) + 1) + codes, return_counts=True)
    of = cells // (int(codes.max()) + 1)
    equal = repeats * (repeats - 1.0)
    unequal = repeats * (m[of] - repeats) / (m[of] - 1)
    total = np.bincount(codes).astype(np.float64)
    expected = float(total @ (size - total)) / (size - 1)
    return float(equal.sum() / (m @ (m - 1))), 1 - float(unequal.sum()) / expected


def _interval_alpha(values: Floats, output: Integers) -> float:
    """Return alpha for squared distances, from sums of squares within outputs and overall."""
    m = np.bincount(output).astype(np.float64)
    mean = np.bincount(output, weights=values) / m
    within = np.bincount(output, weights=(values - mean[output]) ** 2)
    observed = float(np.sum(within * m / (m - 1)))
    overall = float(np.sum((values - values.mean()) ** 2))
    size = len(values)
    return 1 - observed / (overall * size / (size - 1))


def _two_way(
    human: ArrayLike, items: ArrayLike, raters: ArrayLike | None
) -> tuple[float | None, float | None, tuple[str, ...]]:
    if raters is None:
        return None, None, ()
    crossed = crossed_components(human, items, raters)
    if not crossed.leniency_identified:
        return None, None, crossed.notes
    item = crossed.item
    return item / (item + crossed.rater), item / (item + crossed.residual), crossed.notes
