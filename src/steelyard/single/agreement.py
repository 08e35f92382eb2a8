"""How far raters agree."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import NotEstimableError
from steelyard.single.analysis import check_repeats
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.single.judged import JudgedOutputs, judged_outputs, systems_of_outputs
from steelyard.single.moments import moments

__all__ = ["Agreement", "agreement", "agreement_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    *,
    systems: ArrayLike | None = None,
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
    systems : (M,) array, optional
        Which system the output is of; everything is then within systems: :math:`D_e` is of two
        judgments of one system, ranks are those among its judgments, and intraclass correlations
        are made of components within systems.

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
    within = systems_of_outputs(systems, items)
    check_repeats(sample, within)
    values = sample.human[(sample.count > 1)[sample.output]]
    if np.ptp(values) == 0:
        raise NotEstimableError(
            "agreement needs judgments that differ: all judgments of outputs with two or more are "
            f"{values[0]:g}, so chance agreement is complete too; collect more judgments"
        )
    crossed = None
    if raters is not None:
        crossed = crossed_components(human, items, raters, systems=systems)
    return agreement_of(sample, within, crossed)


def agreement_of(
    sample: JudgedOutputs, systems: Integers | None, crossed: CrossedComponents | None
) -> Agreement:
    """Return the agreement in a sample whose crossed components are known.

    Parameters
    ----------
    sample : JudgedOutputs
        Judgments grouped by output, some of them with two judgments.
    systems : (n,) array of int or None
        Number of the system of each output, for agreement within systems.
    crossed : CrossedComponents or None
        Crossed components, within systems if `systems` are given; None when raters are unknown.
    """
    none = np.empty((sample.n_outputs, 0))
    plain = moments(replace(sample, metric=none), systems=systems)
    item, rater, k = (float(one[0]) for one in (plain.item, plain.rater, plain.effective))
    nominal, ordinal, interval = _alphas(sample, systems)
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


def _alphas(sample: JudgedOutputs, systems: Integers | None) -> tuple[float, float, float]:
    """Return nominal, ordinal and interval alpha."""
    paired = sample.count > 1
    system = np.zeros(sample.n_outputs, dtype=np.int64) if systems is None else systems
    if systems is not None:
        # A system with one such output has no other to compare its judgments with.
        paired &= np.bincount(system[paired], minlength=int(system.max()) + 1)[system] > 1
    keep = paired[sample.output]
    if not keep.any():
        return np.nan, np.nan, np.nan
    values, output = sample.human[keep], sample.output[keep]
    unit = np.unique(output, return_inverse=True)[1]
    group = np.unique(system[output], return_inverse=True)[1]
    codes = np.unique(values, return_inverse=True)[1]
    ranks = _ranks(codes, group)
    return (
        _alpha(_unequal(codes, unit), _unequal(codes, group)),
        _alpha(_spread(ranks, unit), _spread(ranks, group)),
        _alpha(_spread(values, unit), _spread(values, group)),
    )


def _alpha(observed: float, expected: float) -> float:
    return 1 - observed / expected if expected > 0 else np.nan


def _average_icc(item: float, rater: float, k: float) -> float:
    # The denominator is the mean square between outputs over k: nothing but rounding, or more.
    denominator = item + rater / k
    return item / denominator if denominator > 1e-12 * rater else -np.inf


def _ranks(codes: Integers, group: Integers) -> Floats:
    """Return the mid-rank of each judgment among those of its group, over their number."""
    width = int(codes.max()) + 1
    cells, place, count = np.unique(group * width + codes, return_inverse=True, return_counts=True)
    size = np.bincount(group)
    before = (np.cumsum(size) - size)[cells // width]
    middle = np.cumsum(count) - (count - 1) / 2 - before
    return np.asarray((middle / size[cells // width])[place])


def _unequal(codes: Integers, unit: Integers) -> float:
    """Return the sum over judgments of the share of unequal ones among the others of the unit."""
    m = np.bincount(unit).astype(np.float64)
    width = int(codes.max()) + 1
    cells, equal = np.unique(unit * width + codes, return_counts=True)
    size = m[cells // width]
    return float(np.sum(equal * (size - equal) / (size - 1)))


def _spread(values: Floats, unit: Integers) -> float:
    """Return half the sum over judgments of the mean squared distance to the others of the unit."""
    m = np.bincount(unit).astype(np.float64)
    mean = np.bincount(unit, weights=values) / m
    squares = np.bincount(unit, weights=(values - mean[unit]) ** 2)
    return float(np.sum(squares * m / (m - 1)))


def _equal_pairs(sample: JudgedOutputs) -> float:
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
