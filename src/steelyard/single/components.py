"""Item variance, rater variance and their ratio, with or without raters, over systems or within them."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Ints
from steelyard.errors import NotEstimableError
from steelyard.single.crossed import CrossedComponents, crossed_components
from steelyard.single.interval import (
    Interval,
    check_options,
    mean_square_draws,
    mean_square_interval,
    noise_ratio_interval,
    student_level,
    variance_interval,
)
from steelyard.single.judged import JudgedSample, judged_outputs, systems_of_outputs
from steelyard.single.moments import SampleMoments, drawn_moments, moments
from steelyard.single.repeats import Repeats

__all__ = [
    "Analysis",
    "VarianceComponents",
    "analysis",
    "check_repeats",
    "check_spread",
    "variance_components",
]


# Below this many, what raters have in common is known from too few of them to go unsaid.
_FEW_RATERS = 5
_FEW_REPEATS = 30


@dataclass(frozen=True)
class VarianceComponents:
    """Where the variance of a judgment comes from.

    Attributes
    ----------
    item : Interval
        Item variance: of the human score between outputs.
    rater : Interval
        Rater variance: of judgments of one output.
    noise_ratio : Interval
        Rater variance over item variance.
    leniency, residual : Interval or None
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

    item: Interval
    rater: Interval
    noise_ratio: Interval
    leniency: Interval | None
    residual: Interval | None
    n_outputs: int
    n_judgments: int
    n_raters: int | None
    level: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return f"item {self.item}, rater {self.rater}, noise ratio {self.noise_ratio}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields under stable keys, quantities as ``{value, low, high}``."""
        return asdict(self) | {"notes": list(self.notes)}


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

    Without raters, the one-way analysis of variance, unbiased for unequal numbers of judgments unless
    outputs share raters, with percentile intervals from outputs drawn with random weights: with
    :math:`m_i` judgments of output i, n outputs and M judgments in all,

    .. math:: \hat\sigma_a^2 = \frac{SS_{within}}{M - n}, \quad
              \hat\sigma_f^2 = \frac{MS_{between} - \hat\sigma_a^2}{n_0}, \quad
              n_0 = \frac{M - \sum_i m_i^2 / M}{n - 1}.

    With raters, the crossed model of `crossed_components`, whose rater variance has two parts,
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
    within = systems_of_outputs(systems, items)
    return analysis(sample, systems=within, level=level, resamples=resamples, rng=rng).components


@dataclass(frozen=True, eq=False)
class Analysis:
    """Item and rater variance of a sample, and the moments that a correlation is made of.

    Attributes
    ----------
    components : VarianceComponents
        With intervals.
    here, there : SampleMoments
        Of the sample, and of draws from it.
    """

    components: VarianceComponents
    here: SampleMoments
    there: SampleMoments


def analysis(
    sample: JudgedSample,
    *,
    systems: Ints | None = None,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> Analysis:
    r"""Return the components and moments of a sample, crossed where its raters are known.

    Without raters, the one-way analysis of variance. With them, the components of
    `crossed_components`: outputs are then drawn with their judgments less each rater's predicted
    leniency, the draws moved so that they scatter about the crossed estimates, and a draw of the
    leniency's variance added to each, since drawn outputs show nothing of raters.

    Raises
    ------
    NotEstimableError
        If the sample does not determine the components.
    """
    check_repeats(sample, systems)
    check_spread(sample)
    crossed, adjusted = None, None
    if sample.rater is not None:
        apart = None
        if systems is not None and systems.max() > 0:
            apart = np.equal.outer(systems[sample.output], np.arange(1, systems.max() + 1))
        crossed = crossed_components(sample.human, sample.output, sample.rater, covariates=apart)
        less_leniency = sample.human - crossed.leniencies[sample.rater]
        adjusted = judged_outputs(less_leniency, None, sample.output)
    plain = moments(sample, adjusted=adjusted, systems=systems)
    here = plain
    if crossed is not None:
        here = replace(plain, item=np.array([crossed.item]), rater=np.array([crossed.rater]))
    drawn = _residual_draws(sample, adjusted, systems, crossed, plain, resamples=resamples, rng=rng)
    far = student_level(level, float((sample.count > 1).sum()))
    there, leniency, residual = drawn, None, None
    if crossed is not None and crossed.leniency_identified:
        square = (crossed.leniency, float(crossed.covariance[1, 1]), crossed.n_raters - 1)
        added = mean_square_draws(*square, size=drawn.rater.shape[-1], rng=rng)
        there = replace(drawn, rater=drawn.rater + added)
        leniency = mean_square_interval(*square, level=level)
        residual = variance_interval(crossed.residual, drawn.rater, far)
    components = VarianceComponents(
        item=variance_interval(float(here.item[0]), there.item, far),
        rater=variance_interval(float(here.rater[0]), there.rater, far),
        noise_ratio=noise_ratio_interval(float(here.reliability[0]), there.reliability, far),
        leniency=leniency,
        residual=residual,
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        level=level,
        notes=_notes(sample, here, crossed),
    )
    return Analysis(components, here, there)


def check_repeats(sample: JudgedSample, systems: Ints | None = None) -> None:
    """Refuse a sample that does not tell item from rater variance."""
    if sample.n_judgments == sample.n_outputs:
        way_out = (
            "collect a second judgment on some outputs"
            if sample.identified
            else "pass `items` to say which output each judgment is of"
        )
        raise NotEstimableError(
            "at least one output with two judgments is needed; got "
            f"{sample.n_judgments} judgments of as many outputs: {way_out}"
        )
    if sample.n_outputs < 2:
        raise NotEstimableError("at least two outputs are needed; got one: judge more outputs")
    if systems is not None and sample.n_outputs == int(systems.max()) + 1:
        raise NotEstimableError(
            "at least one system with two judged outputs is needed; got "
            f"{sample.n_outputs} outputs of as many systems: judge more outputs"
        )


def check_spread(sample: JudgedSample) -> None:
    """Refuse judgments that are all equal: they bound no variance from above."""
    if np.ptp(sample.human) == 0:
        raise NotEstimableError(
            "variance components need judgments that differ; "
            f"got {sample.n_judgments} times {sample.human[0]:g}: collect more judgments"
        )


def _residual_draws(
    sample: JudgedSample,
    adjusted: JudgedSample | None,
    systems: Ints | None,
    crossed: CrossedComponents | None,
    plain: SampleMoments,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> SampleMoments:
    """Return draws of the moments without leniency, about the crossed estimates."""
    repeats = Repeats.of(sample)
    assert repeats is not None  # check_repeats
    noise = float(plain.rater[0])
    scale = 1.0 if crossed is None or noise <= 0 else crossed.residual / noise
    most = float(plain.between[0]) if repeats.imagined else 0.0
    drawn = drawn_moments(
        sample,
        adjusted=adjusted,
        systems=systems,
        scale=scale,
        disagreement=max(repeats.largest, most),
        resamples=resamples,
        rng=rng,
    )
    if crossed is None:
        return drawn
    # An item variance at its boundary stays below it in about as many draws as it would have been.
    item = (float(plain.between[0]) - scale * noise) / float(plain.effective[0])
    item = max(item, 0.0) if crossed.item == 0 else item
    return replace(drawn, item=drawn.item + (crossed.item - item))


def _notes(
    sample: JudgedSample, here: SampleMoments, crossed: CrossedComponents | None
) -> tuple[str, ...]:
    notes = [] if crossed is None else list(crossed.notes)
    if crossed is None and here.item[0] <= 0:
        notes.append(
            "outputs differ no more than rater noise explains, so the item variance is reported "
            f"as 0 (estimated {here.item[0]:.3g})"
        )
    if crossed is None and here.rater[0] == 0:
        notes.append("no two judgments of one output differ, so the rater variance is 0")
    if crossed is not None and crossed.leniency_identified and crossed.n_raters < _FEW_RATERS:
        notes.append(
            f"only {crossed.n_raters} raters: how far raters differ is known from these alone, so "
            "the rater variance and the noise ratio may be far higher than estimated"
        )
    repeated = int((sample.count > 1).sum())
    if repeated < _FEW_REPEATS:
        notes.append(
            f"only {repeated} outputs have two judgments or more, so the rater variance and all "
            "that rests on it are uncertain"
        )
    return tuple(notes)
