r"""The mean human scores of all systems of a campaign, estimated together.

Each estimate is a linear form :math:`c + \sum_j w_j y_j` in the judgments: the control that all systems teach
(`learned`) gives c, the draw gives the weights of its outputs, and the leniency of raters (`leniency`) shifts
them. Its error variance has parts for outputs, raters and the finite pool; the systems lend one
another what they know of spread and shape (`borrowed`). Derived in docs/methods/campaign.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.arrays import Draw, JudgedOutputs, PoolMoments
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.borrowed import (
    MIN_SYSTEMS,
    Shape,
    Spread,
    borrowed_spread,
    long_tailed_freedoms,
)
from steelyard.estimate.error_variance import ErrorVariance, Part, fixed_raters, residual_parts
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.fit import Fit
from steelyard.estimate.intervals import check_options
from steelyard.estimate.learned import learned_control
from steelyard.estimate.leniency import Leniency, estimated_leniency
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import leniency_in
from steelyard.estimate.result import Ends, Estimate
from steelyard.estimate.slope import fit_slope

__all__ = [
    "FEW_RATERS",
    "JudgedSystem",
    "campaign_leniency",
    "campaign_means",
    "controlled_samples",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# With fewer, raters tell too little of how much raters differ (measured).
FEW_RATERS = 5
# An interval for new outputs that is this much wider is shown beside the pool's.
_WIDER = 1.1
# Differences below this share of the values themselves are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class JudgedSystem:
    """What a campaign knows of one system.

    Attributes
    ----------
    sample : JudgedOutputs
        Its judged outputs, without metrics.
    draw : Draw
        How they were drawn.
    metric : (n, p) array
        Metrics of the judged outputs; NaN where one is missing.
    items : (n,) array of int
        Number of each output's item in the whole campaign.
    raters : (M,) array of int or None
        Number of each judgment's rater in the whole campaign; None when raters are unknown.
    pool : PoolMoments or None
        Moments of the metrics over the system's pool, a missing value counting as the mean.
    clusters : (n,) array of int or None
        Number of each output's cluster in the whole campaign; None where items stand for themselves.
    """

    sample: JudgedOutputs
    draw: Draw
    metric: Floats
    items: Integers
    raters: Integers | None
    pool: PoolMoments | None
    clusters: Integers | None = None

    @property
    def units(self) -> Integers:
        """What errs independently: each output's cluster, or else its item."""
        return self.items if self.clusters is None else self.clusters


def campaign_means(
    systems: Sequence[JudgedSystem], *, options: Options, seed: int = 0
) -> list[Estimate | NotEstimableError]:
    """Estimate the mean human score of every system, from all of them.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        The systems, all with the same metrics.
    options : Options
        Target, raters, level and bounds. The interval is Student's, with the shape that the systems
        share where they are enough.
    seed : int
        Seed of the simulated shape.

    Returns
    -------
    list of Estimate or NotEstimableError
        One for each system, with the plain mean of the same judgments as `baseline`; or why it has
        none.

    Raises
    ------
    InvalidArgumentError
        If raters are unknown that are to be a sample, or a draw cannot go with an option.
    """
    if not systems:
        return []
    deviation = _common_deviation(systems)
    controls = _controls(systems, deviation)
    usual = replace(options, raters_as="random") if options.raters_as == "adjusted" else options
    for one in systems:
        check_options(one.draw, one.sample, usual)
    plain = _Campaign.of(systems, [np.zeros(one.sample.n_outputs) for one in systems], usual, seed)
    found = _Campaign.of(systems, controls.values, options, seed)
    results: list[Estimate | NotEstimableError] = []
    for number, system in enumerate(systems):
        try:
            baseline = plain.estimate(number)
            slope = controls.coefficients[number] / np.where(deviation > 0, deviation, 1.0)
            estimate = found.estimate(number, slope)
            shares = np.abs(controls.coefficients[number])
            shares = shares / max(float(shares.sum()), 1e-300)
            estimate = replace(estimate, shares=tuple(float(share) for share in shares))
        except NotEstimableError as error:
            results.append(error)
            continue
        if not system.metric.shape[1] and estimate.raters == baseline.raters:
            results.append(estimate)
        else:
            results.append(replace(estimate, baseline=baseline))
    return results


def _common_deviation(systems: Sequence[JudgedSystem]) -> Floats:
    """Return each metric's standard deviation within pools, over all systems."""
    known = [one.pool for one in systems if one.pool is not None]
    if not known:
        return np.zeros(systems[0].metric.shape[1])
    variance = np.mean([np.diag(pool.covariance) for pool in known], axis=0)
    size = np.max([np.maximum(np.abs(pool.low), np.abs(pool.high)) for pool in known], axis=0)
    return np.where(np.sqrt(variance) > 1e-12 * size, np.sqrt(variance), 0.0)


@dataclass(frozen=True, eq=False)
class _Controls:
    values: list[Floats]
    coefficients: Floats


def _controls(systems: Sequence[JudgedSystem], deviation: Floats) -> _Controls:
    """Return the control of each judged output, zero on average over its pool.

    Scores that are all equal follow no metric: a control would only add its own spread to them.
    """
    usable = [number for number, one in enumerate(systems) if _varies(one.sample.mean)]
    values = [np.zeros(one.sample.n_outputs) for one in systems]
    coefficients = np.zeros((len(systems), len(deviation)))
    sizes = [systems[number].sample.n_outputs for number in usable]
    known = deviation > 0
    if not usable or not known.any():
        return _Controls(values, coefficients)
    scaled = [_scaled(systems[number], deviation)[:, known] for number in usable]
    scores = [systems[number].sample.mean for number in usable]
    learned = learned_control(
        np.concatenate(scores),
        np.concatenate(scaled),
        systems=np.repeat(np.arange(len(usable)), sizes),
        items=np.concatenate([systems[number].units for number in usable]),
        spread=_spreads(scores),
        pool_sizes=np.array([_drawn_from(systems[number].draw) for number in usable]),
    )
    ends = np.cumsum(sizes)
    for position, number in enumerate(usable):
        values[number] = learned.values[ends[position] - sizes[position] : ends[position]]
        coefficients[number, known] = learned.coefficients[position]
    return _Controls(values, coefficients)


def _drawn_from(draw: Draw) -> float:
    """Return the size of the pool that a simple draw used up; infinite for any other draw."""
    return float(draw.size[0]) if draw.simple and draw.identified else np.inf


def _scaled(system: JudgedSystem, deviation: Floats) -> Floats:
    """Return the metrics around the pool's mean, in common deviations, 0 where one is missing."""
    if system.pool is None:
        return np.zeros_like(system.metric)
    x = (system.metric - system.pool.mean) / np.where(deviation > 0, deviation, np.inf)
    return np.where(np.isfinite(x), x, 0.0)


def _spreads(scores: Sequence[Floats]) -> Floats:
    """Return a moderated standard deviation of each system's scores, never near zero."""
    own = np.array([one.var(ddof=1) if len(one) > 1 else 0.0 for one in scores])
    freedom = np.array([len(one) - 1.0 for one in scores])
    lent = borrowed_spread(own, freedom)
    whole = float(own @ freedom) / max(float(freedom.sum()), 1.0)
    if whole <= 0:
        return np.ones(len(scores))
    moderated = [
        lent.moderated(variance, known)[0] if known else whole
        for variance, known in zip(own, freedom, strict=True)
    ]
    return np.asarray(np.sqrt(np.maximum(moderated, 0.02 * whole)))


@dataclass(frozen=True, eq=False)
class _Weighed:
    """What the weights on all judgments of the campaign make of one system's estimate.

    Attributes
    ----------
    point : float
        The estimate.
    outputs : float
        Factor on the variance between the system's own outputs.
    parts : tuple of Part
        Error variance of raters and of other systems' outputs; empty when raters are fixed.
    held : dict
        What `leniency_in` gave, with the finite-pool factor and without, as far as it was asked.
    """

    point: float
    outputs: float
    parts: tuple[Part, ...]
    held: dict[bool, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Campaign:
    """All systems after their controls are taken off, with what they lend one another."""

    systems: Sequence[JudgedSystem]
    samples: Sequence[JudgedOutputs]
    fits: Sequence[Fit | NotEstimableError]
    variances: Floats
    freedoms: Floats
    lent: Spread
    shape: Shape | None
    leniency: Leniency | None
    judgments: Floats
    first: Integers
    options: Options
    seed: int
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        systems: Sequence[JudgedSystem],
        controls: Sequence[Floats],
        options: Options,
        seed: int,
    ) -> "_Campaign":
        samples = _corrected(systems, controls)
        fits = [_plain_fit(sample, one.draw) for sample, one in zip(samples, systems, strict=True)]
        own = np.array([0.0 if isinstance(fit, Exception) else _variance(fit) for fit in fits])
        freedoms = np.array([max(sample.n_outputs - 1.0, 0.0) for sample in samples])
        own = _with_least(own, samples, options)
        simple = np.array([one.draw.simple for one in systems])
        residuals = [np.zeros(1) if isinstance(fit, Exception) else fit.residual for fit in fits]
        freedoms = long_tailed_freedoms(residuals, np.where(simple, own, 0.0), freedoms)
        lent = borrowed_spread(np.where(simple, own, 0.0), freedoms)
        judgments = np.concatenate([sample.human for sample in samples])
        leniency, options, notes = _leniency(systems, samples, options)
        sizes = np.array([sample.n_judgments for sample in samples])
        return cls(
            systems,
            samples,
            fits,
            own,
            freedoms,
            lent,
            _shape(fits, own, freedoms, lent, seed) if lent.freedom else None,
            leniency,
            judgments,
            np.cumsum(sizes) - sizes,
            options,
            seed,
            notes,
        )

    def estimate(self, number: int, slope: Floats | None = None) -> Estimate:
        """Return the estimate of one system; `slope` is that of its control.

        Without one it is a baseline, whose intervals from other points of view nobody asks for.
        """
        fit, sample, system = self.fits[number], self.samples[number], self.systems[number]
        if isinstance(fit, NotEstimableError):
            raise fit
        options = self.options
        counted = options.target == "census" and sample.n_outputs == system.draw.pool_size
        if counted or self.variances[number] <= 0:
            return self._plain(number)
        target = fixed_raters(
            fit, sample, system.draw, None, options=replace(options, raters_as="fixed")
        )
        weighed = self._weighed(number, fit)
        error = self._with_raters(number, fit, target, weighed)
        is_baseline = slope is None
        slope = np.zeros(0) if slope is None else slope
        if options.target == "superpopulation":
            error = replace(error, between_pools=self._between(number, slope))
        estimate = weighed.point
        ends = self._ends(number, estimate, error)
        new_outputs = fixed = None
        if not is_baseline:
            new_outputs = self._new_outputs(number, fit, slope, weighed, ends)
            fixed = None if options.raters_as == "fixed" else self._fixed(number, fit, target)
        interval = "borrowed" if self.shape is not None else "student"
        kind = "learned-control" if len(slope) else "sample-mean"
        return Estimate(
            estimate=estimate,
            standard_error=ends.standard_error,
            low=ends.low,
            high=ends.high,
            level=options.level,
            target=options.target,
            raters=options.raters_as,
            method=f"{kind}/{interval}",
            n_outputs=sample.n_outputs,
            n_judgments=sample.n_judgments,
            n_raters=sample.n_raters,
            pool_size=system.draw.pool_size,
            degrees_of_freedom=float(error.degrees_of_freedom),
            slope=tuple(float(a) for a in slope),
            new_outputs=new_outputs,
            fixed_raters=fixed,
            notes=(*error.notes, *self.notes),
        )

    def _plain(self, number: int) -> Estimate:
        """Return the plain mean: of a whole pool, or where only bounds of the score give a width."""
        system = self.systems[number]
        fixed = replace(self.options, raters_as="fixed")
        return plain_mean(system.sample, system.draw, options=fixed)

    def _weighed(self, number: int, fit: Fit) -> _Weighed:
        """Return what raters, as options see them, make of an estimate: the same at every look."""
        leniency = self.leniency
        if self.options.raters_as == "fixed" or leniency is None:
            return _Weighed(fit.estimate, 1.0, ())
        sample, start = self.samples[number], self.first[number]
        weights, point = np.zeros(len(self.judgments)), fit.estimate
        weights[start : start + sample.n_judgments] = (fit.weights / sample.count)[sample.output]
        if self.options.raters_as == "adjusted":
            weights = leniency.adjusted(weights)
            # Around the estimate, so that a constant on all scores moves it by exactly that.
            point += float(weights @ self._around_means)
        by_output = np.bincount(leniency.output, weights)
        first = leniency.output[start]
        own = by_output[first : first + sample.n_outputs].copy()
        by_output[first : first + sample.n_outputs] = 0.0
        elsewhere = float(by_output**2 @ self._output_variances)
        by_rater = leniency.per_rater(weights)
        lenient = float(by_rater @ by_rater)
        doubt = lenient**2 * float(leniency.components.covariance[1, 1])
        parts = (
            Part("leniency", leniency.variance, lenient, np.inf, doubt),
            Part("other systems", elsewhere, 1.0, np.inf, 0.0),
        )
        return _Weighed(point, float(own @ own) / float(fit.weights @ fit.weights), parts)

    @cached_property
    def _around_means(self) -> Floats:
        """Return judgments less their system's mean; adjusted weights add to 0 over other systems."""
        means = [0.0 if isinstance(fit, NotEstimableError) else fit.estimate for fit in self.fits]
        counts = [sample.n_judgments for sample in self.samples]
        return np.asarray(self.judgments - np.repeat(means, counts))

    @cached_property
    def _output_variances(self) -> Floats:
        """Return the variance of each judged output of the campaign."""
        counts = [sample.n_outputs for sample in self.samples]
        return np.asarray(np.repeat(self.variances, counts))

    def _with_raters(
        self, number: int, fit: Fit, fixed: ErrorVariance, weighed: _Weighed
    ) -> ErrorVariance:
        """Return the error variance with moderated spread, and raters seen as options say."""
        sample, draw = self.samples[number], self.systems[number].draw
        outputs = [self._moderated(number, part) for part in fixed.parts if part.name == "outputs"]
        others = [part for part in fixed.parts if part.name != "outputs"]
        if self.leniency is None or not weighed.parts:
            return replace(fixed, parts=(*outputs, *others))
        limited = len(others) > 0 and draw.cluster is not None
        if limited not in weighed.held:
            weighed.held[limited] = leniency_in(fit, sample, draw, limited=limited)
        scale = float(self.leniency.scale[self.first[number]])
        held = weighed.held[limited] * self.leniency.variance * scale**2
        outputs = [
            replace(
                part,
                variance=max(part.variance - here, 0.05 * part.variance),
                coefficient=part.coefficient * weighed.outputs,
            )
            for part, here in zip(outputs, held, strict=True)
        ]
        return replace(fixed, parts=(*outputs, *others, *weighed.parts))

    def _moderated(self, number: int, part: Part) -> Part:
        fit = self.fits[number]
        if not self.systems[number].draw.simple:
            flat = isinstance(fit, Fit) and not _variance(fit)
            return replace(part, variance=float(self.variances[number])) if flat else part
        variance, freedom = self._spread(number)
        return replace(part, variance=variance, degrees_of_freedom=freedom)

    def _spread(self, number: int) -> tuple[float, float]:
        return self.lent.moderated(self.variances[number], self.freedoms[number])

    def _between(self, number: int, slope: Floats) -> float:
        """Return what the choice of the pool adds: the control's variance over it."""
        system = self.systems[number]
        pool, fit = system.pool, self.fits[number]
        if pool is None or not len(slope) or isinstance(fit, NotEstimableError):
            return 0.0
        x = np.nan_to_num(system.metric - pool.mean)
        h = x @ slope
        shared = float((h - h.mean()) @ fit.residual) / max(len(h) - 1, 1)
        between = float(slope @ pool.covariance @ slope) + 2 * shared
        return max(between, -float(self.variances[number])) / pool.size

    def _new_outputs(
        self, number: int, fit: Fit, slope: Floats, weighed: _Weighed, ends: Ends
    ) -> Ends | None:
        """Return the interval for new outputs like these, where it is clearly wider."""
        draw = self.systems[number].draw
        if self.options.target != "pool" or not draw.simple:
            return None
        error = self._with_raters(
            number, fit, ErrorVariance(residual_parts(fit, draw, limited=False)), weighed
        )
        error = replace(error, between_pools=self._between(number, slope))
        wider = self._ends(number, weighed.point, error)
        return wider if wider.high - wider.low > _WIDER * (ends.high - ends.low) else None

    def _fixed(self, number: int, fit: Fit, fixed: ErrorVariance) -> Ends | None:
        """Return the interval about exactly these raters."""
        parts = [
            self._moderated(number, part) if part.name == "outputs" else part
            for part in fixed.parts
        ]
        error = replace(fixed, parts=tuple(parts))
        return self._ends(number, fit.estimate, error) if error.value > 0 else None

    def _ends(self, number: int, estimate: float, error: ErrorVariance) -> Ends:
        """Return the interval around `estimate`."""
        value, level = error.value, self.options.level
        if value <= 0:
            raise NotEstimableError(
                "the interval would be a single point, as every output was judged and rater noise is "
                'taken as 0: use target="census", or give the `rater_variance` that judgments have'
            )
        quantiles = None
        if self.shape is not None and self.systems[number].draw.simple:
            outputs = sum(part.value for part in error.parts if part.name == "outputs") / value
            outputs = min(outputs, 1.0)
            moderated, _ = self._spread(number)
            quantiles = self.shape.quantiles(
                self.samples[number].n_outputs,
                own=Spread(moderated, self.freedoms[number]),
                lent=self.lent,
                outputs=outputs,
                rest=_freedom_of_rest(error),
                level=level,
            )
        # The shape may only lengthen Student's interval: a few judgments do not show long tails.
        reach = float(stdtrit(error.degrees_of_freedom, (1 + level) / 2))
        low, high = (-reach, reach) if quantiles is None else quantiles
        quantiles = min(low, -reach), max(high, reach)
        se = float(np.sqrt(value))
        low, high = estimate - quantiles[1] * se, estimate - quantiles[0] * se
        if self.options.bounds is not None:
            least, greatest = self.options.bounds
            low, high = max(low, min(least, estimate)), min(high, max(greatest, estimate))
        return Ends(standard_error=se, low=low, high=high)


def controlled_samples(systems: Sequence[JudgedSystem]) -> tuple[list[JudgedOutputs], Floats]:
    """Return judged outputs after the learned control is taken off, and its slopes (k, p)."""
    deviation = _common_deviation(systems)
    controls = _controls(systems, deviation)
    slopes = controls.coefficients / np.where(deviation > 0, deviation, np.inf)
    return _corrected(systems, controls.values), slopes


def _corrected(systems: Sequence[JudgedSystem], controls: Sequence[Floats]) -> list[JudgedOutputs]:
    return [
        replace(
            one.sample,
            mean=one.sample.mean - control,
            human=one.sample.human - control[one.sample.output],
        )
        for one, control in zip(systems, controls, strict=True)
    ]


def _plain_fit(sample: JudgedOutputs, draw: Draw) -> Fit | NotEstimableError:
    try:
        return fit_slope(sample, draw, None, np.empty(0), rng=np.random.default_rng(0))
    except NotEstimableError as error:
        return error


def _variance(fit: Fit) -> float:
    """Return the residual variance, 0 where it is rounding."""
    variance = float(fit.residual @ fit.residual) / max(len(fit.residual) - 1, 1)
    return variance if _varies(fit.estimate + fit.residual) else 0.0


def _varies(values: Floats) -> bool:
    """Return whether values differ by more than rounding."""
    return float(np.ptp(values)) > _ROUNDING * float(np.abs(values).max())


def _with_least(own: Floats, samples: Sequence[JudgedOutputs], options: Options) -> Floats:
    """Give systems without spread the variance that one more output might have shown.

    One more output at the other end of the scale, which the bounds of the score or the scores of
    all systems show, would give n + 1 outputs a variance of range^2 / (n + 1).
    """
    if (own > 0).all():
        return own
    scores = np.concatenate([sample.human for sample in samples])
    width = float(np.ptp(scores)) if options.bounds is None else float(np.ptp(options.bounds))
    count = np.array([sample.n_outputs + 1.0 for sample in samples])
    least = width**2 / count if len(samples) > 1 else np.zeros(len(samples))
    return np.where(own > 0, own, least)


def _shape(
    fits: Sequence[Fit | NotEstimableError],
    own: Floats,
    freedoms: Floats,
    lent: Spread,
    seed: int,
) -> Shape:
    residuals = [
        fit.residual / np.sqrt(lent.moderated(variance, freedom)[0])
        for fit, variance, freedom in zip(fits, own, freedoms, strict=True)
        if not isinstance(fit, NotEstimableError)
    ]
    return Shape(residuals, seed=seed)


def campaign_leniency(
    systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs], options: Options
) -> Leniency | None:
    """Return the leniency of raters over all systems, None where they are fixed or alike."""
    return _leniency(systems, samples, options)[0]


def _leniency(
    systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs], options: Options
) -> tuple[Leniency | None, Options, tuple[str, ...]]:
    """Estimate leniency over all systems; where nothing tells it, raters are seen as fixed."""
    if options.raters_as == "fixed":
        return None, options, ()
    raters = [one.raters for one in systems if one.raters is not None]
    if len(raters) < len(systems):
        raise InvalidArgumentError(
            '`raters` are needed to see raters as a sample: pass them, or use raters_as="fixed"'
        )
    sizes = [sample.n_outputs for sample in samples]
    starts = np.cumsum(sizes) - sizes
    output = np.concatenate(
        [sample.output + start for sample, start in zip(samples, starts, strict=True)]
    )
    system = np.repeat(np.arange(len(samples)), [sample.n_judgments for sample in samples])
    human = np.concatenate([sample.human for sample in samples])
    known, rater = np.unique(np.concatenate(raters), return_inverse=True)
    try:
        # Few systems do not show whether their spreads differ.
        spread = np.ones(len(samples))
        if len(samples) >= MIN_SYSTEMS:
            spread = _spreads([sample.mean for sample in samples])
        leniency = estimated_leniency(human, output, rater, system, spread=spread)
    except NotEstimableError:
        note = (
            "leniency cannot be told apart from systems or outputs, so the interval is about exactly "
            "these raters: let several raters judge each system, and each rater several outputs"
        )
        return None, replace(options, raters_as="fixed"), (note,)
    if len(known) >= FEW_RATERS:
        return leniency, options, ()
    note = (
        f"only {len(known)} raters: too few to tell how much raters differ, so the interval may be "
        f"too short for others than these; ask {FEW_RATERS} or more"
    )
    return leniency, options, (note,)


def _freedom_of_rest(error: ErrorVariance) -> float:
    """Return the degrees of freedom of the parts that do not lie between outputs."""
    rest = [part for part in error.parts if part.name != "outputs" and part.value > 0]
    if not rest:
        return np.inf
    found = ErrorVariance(tuple(rest)).degrees_of_freedom
    return found if np.isfinite(found) else np.inf
