"""Item variance, rater variance and their ratio."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.single.analysis import Analysis, analysis, check_repeats
from steelyard.single.judged import JudgedOutputs, judged_outputs, systems_of_outputs
from steelyard.single.quantity import Quantity, check_options

__all__ = ["OneWay", "VarianceComponents", "components_of", "one_way", "variance_components"]


@dataclass(frozen=True)
class OneWay:
    """One-way analysis of variance of judgments by output.

    Attributes
    ----------
    rater : float
        Unbiased rater variance.
    degrees_of_freedom : int
        Of `rater`: judgments less outputs.
    unbiased_item : float
        Unbiased item variance, negative where chance makes it so: what to average over systems.
    effective_count : float
        Judgments an output, n0: their mean number less a correction for its spread.
    """

    rater: float
    degrees_of_freedom: int
    unbiased_item: float
    effective_count: float

    @property
    def item(self) -> float:
        """Item variance, not below zero."""
        return max(self.unbiased_item, 0.0)


@dataclass(frozen=True)
class VarianceComponents:
    """Where the variance of a judgment comes from.

    Attributes
    ----------
    item : Quantity
        Item variance: of the human score between outputs.
    rater : Quantity
        Rater variance: of judgments of one output.
    noise_ratio : Quantity
        Rater variance over item variance.
    leniency, residual : Quantity or None
        The two parts of `rater`, between raters and the rest, when raters are known and some
        rater gave two judgments.
    n_outputs, n_judgments : int
        Sizes.
    n_raters : int or None
        None when raters are unknown.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
        What a reader should know about the estimates.
    """

    item: Quantity
    rater: Quantity
    noise_ratio: Quantity
    leniency: Quantity | None
    residual: Quantity | None
    n_outputs: int
    n_judgments: int
    n_raters: int | None
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return f"item {self.item}, rater {self.rater}, noise ratio {self.noise_ratio}"

    def to_dict(self) -> dict[str, object]:
        """Return all fields under stable keys, quantities as ``{value, low, high}``."""
        quantities = {
            "item": self.item,
            "rater": self.rater,
            "noise_ratio": self.noise_ratio,
            "leniency": self.leniency,
            "residual": self.residual,
        }
        return {
            **{name: None if q is None else q.to_dict() for name, q in quantities.items()},
            "n_outputs": self.n_outputs,
            "n_judgments": self.n_judgments,
            "n_raters": self.n_raters,
            "level": self.level,
            "notes": list(self.notes),
        }


def one_way(sample: JudgedOutputs) -> OneWay:
    r"""Unbiased item and rater variance of judged outputs, without intervals.

    With :math:`m_i` judgments of output i, n outputs and M judgments in all,

    .. math:: \hat\sigma_a^2 = \frac{SS_{within}}{M - n}, \quad
              \hat\sigma_f^2 = \frac{MS_{between} - \hat\sigma_a^2}{n_0}, \quad
              n_0 = \frac{M - \sum_i m_i^2 / M}{n - 1}.

    Parameters
    ----------
    sample : JudgedOutputs
        Judgments grouped by output.

    Returns
    -------
    OneWay

    Raises
    ------
    NotEstimableError
        If there are fewer than two outputs, or none has two judgments.

    Notes
    -----
    Unbiased where noise is independent between outputs. Raters who judge many of them share their
    leniency among these, and the item variance is then too small: by :math:`\sigma_r^2 / k` when the
    same k raters judge everything. Where raters are known, `crossed_components` has no such bias.

    References
    ----------
    S. R. Searle, G. Casella and C. E. McCulloch (1992), Variance Components, section 3.6.

    Examples
    --------
    >>> one_way(judged_outputs([1, 3, 6, 8], items=["a", "a", "b", "b"]))
    OneWay(rater=2.0, degrees_of_freedom=2, unbiased_item=11.5, effective_count=2.0)
    """
    check_repeats(sample)
    m = sample.count.astype(np.float64)
    n, M = sample.n_outputs, sample.n_judgments
    freedom = M - n
    rater = float(sample.within.sum()) / freedom
    between = float(m @ (sample.mean - sample.human.mean()) ** 2) / (n - 1)
    effective = (M - float(m @ m) / M) / (n - 1)
    return OneWay(rater, freedom, (between - rater) / effective, effective)


def variance_components(
    human: ArrayLike,
    items: ArrayLike,
    raters: ArrayLike | None = None,
    *,
    systems: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator | None = None,
) -> VarianceComponents:
    r"""Item variance, rater variance and noise ratio, each with an interval.

    Without raters, the one-way analysis of variance of `one_way`, unbiased for unequal numbers of
    judgments unless outputs share raters, with percentile intervals from outputs
    drawn with random weights. With
    raters, the crossed model of `crossed_components`, whose rater variance has two parts,
    :math:`\sigma_a^2 = \sigma_r^2 + \sigma_e^2`: `leniency` and `residual`.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array
        Which output each judgment is of.
    raters : (M,) array, optional
        Who gave it. Pass them wherever they are known.
    systems : (M,) array, optional
        Which system the output is of; the item variance is then that within systems.
    level : float
        Confidence level of the intervals.
    resamples : int
        Bootstrap resamples of the outputs.
    rng : numpy.random.Generator, optional
        Source of randomness; without it the same resamples are drawn at every call.

    Returns
    -------
    VarianceComponents
        An item variance estimated below zero is reported as 0, and the noise ratio as infinite.

    Raises
    ------
    InvalidArgumentError
        If an array is misaligned or not finite, or an option breaks its rule.
    NotEstimableError
        If no output has two judgments, all judgments are equal, or there is one output or rater.

    Notes
    -----
    Outputs are a simple random sample. Without raters, judgments of one output are independent
    draws; with them, raters are a random sample too, and intervals rest on mean squares, widened
    where the bootstrap shows item and rater variance to vary more than under normal distributions.

    References
    ----------
    S. R. Searle, G. Casella and C. E. McCulloch (1992), Variance Components.

    Examples
    --------
    >>> human = [1, 3, 6, 8, 2, 4, 9, 9, 5, 6]
    >>> items = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> found = variance_components(human, items)
    >>> round(found.rater.value, 3), round(found.item.value, 3)
    (1.3, 7.55)
    """
    check_options(level, resamples)
    rng = np.random.default_rng(0) if rng is None else rng
    sample = judged_outputs(human, None, items, raters=raters)
    found = analysis(
        sample,
        systems=systems_of_outputs(systems, items),
        level=level,
        resamples=resamples,
        rng=rng,
    )
    return components_of(found, level)


def components_of(found: Analysis, level: float) -> VarianceComponents:
    """Return the components of an analysis."""
    sample = found.sample
    return VarianceComponents(
        item=found.item,
        rater=found.rater,
        noise_ratio=found.noise_ratio,
        leniency=found.leniency,
        residual=found.residual,
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        level=level,
        notes=found.notes,
    )
