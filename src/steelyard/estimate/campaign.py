r"""The mean human scores of all systems of a campaign, estimated together.

Each estimate is a linear form :math:`c + \sum_j w_j y_j` in the judgments: the control that all systems teach
(`learned`) gives c, the draw gives the weights of its outputs, and the leniency of raters (`leniency`) shifts
them. Its error variance has parts for outputs, raters and the finite pool; the systems lend one
another what they know of spread and shape (`borrowed`). Derived in docs/methods/campaign.md.
"""

from collections.abc import Iterable, Mapping, Sequence
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
from steelyard.estimate.slices import Cell, Slicing, sliced
from steelyard.estimate.slope import fit_slope

__all__ = [
    "FEW_RATERS",
    "JudgedSystem",
    "campaign_leniency",
    "campaign_means",
    "controlled_samples",
    "slice_means",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The weight of each system, or slice of one, in an estimate, by number.
Form = Mapping[int, float]

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
    controls = _controls(systems, _common_deviation(systems))
    cells = [
        Cell(number, 0, *pair)
        for number, pair in enumerate(zip(systems, controls.values, strict=True))
    ]
    forms = [{number: 1.0} for number in range(len(systems))]
    return _estimates(cells, forms, controls, options=options, seed=seed)


def slice_means(
    systems: Sequence[JudgedSystem],
    slicings: Sequence[Slicing],
    *,
    mix: Sequence[float] | None = None,
    options: Options,
    seed: int = 0,
) -> list[dict[int, Estimate | NotEstimableError]]:
    """Estimate the mean human score of every slice of every system, or of a mix of slices.

    The control is learned from all systems before the cut. Slices of all systems lend one another
    spread and shape, and leniency is learned from all of them.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        The systems, all with the same metrics, simply drawn or in clusters.
    slicings : sequence of Slicing
        How each is cut.
    mix : (S,) sequence of float, optional
        Weight of each slice in a mean over slices.
    options, seed
        As in `campaign_means`.

    Returns
    -------
    list of dict
        For each system, estimates by number of the slice; with a `mix` one estimate, by 0, of each
        system that has judged outputs in all slices that count.
    """
    if not systems:
        return []
    controls = _controls(systems, _common_deviation(systems))
    cells: list[Cell] = []
    for parent, (system, slicing) in enumerate(zip(systems, slicings, strict=True)):
        own = {"control": controls.values[parent], "slope": controls.slopes[parent]}
        cells += sliced(parent, system, slicing, **own)
    number = {(cell.parent, cell.slice): place for place, cell in enumerate(cells)}
    forms: dict[tuple[int, int], Form] = {}
    for parent, slicing in enumerate(slicings):
        inside = [one for one in range(len(slicing.sizes) - 1) if (parent, one) in number]
        if mix is None:
            forms |= {(parent, one): {number[parent, one]: 1.0} for one in inside}
        elif set(inside) >= {one for one, weight in enumerate(mix) if weight > 0}:
            forms[parent, 0] = {number[parent, one]: mix[one] for one in inside if mix[one] > 0}
    results = _estimates(cells, forms.values(), controls, options=options, seed=seed)
    found: list[dict[int, Estimate | NotEstimableError]] = [{} for _ in systems]
    for (parent, one), result in zip(forms, results, strict=True):
        found[parent][one] = result
    return found


def _estimates(
    cells: Sequence[Cell],
    forms: Iterable[Form],
    controls: "_Controls",
    *,
    options: Options,
    seed: int,
) -> list[Estimate | NotEstimableError]:
    """Return the estimate of each form, with the plain mean of the same judgments beside it."""
    usual = replace(options, raters_as="random") if options.raters_as == "adjusted" else options
    systems = [cell.system for cell in cells]
    for one in systems:
        check_options(one.draw, one.sample, usual)
    plain = _Campaign.of(systems, [np.zeros(one.sample.n_outputs) for one in systems], usual, seed)
    found = _Campaign.of(systems, [cell.control for cell in cells], options, seed)
    results: list[Estimate | NotEstimableError] = []
    for form in forms:
        cell = cells[next(iter(form))]
        try:
            baseline = plain.estimate(form)
            estimate = found.estimate(form, controls.slopes[cell.parent])
        except NotEstimableError as error:
            results.append(error)
            continue
        shares = np.abs(controls.coefficients[cell.parent])
        shares = shares / max(float(shares.sum()), 1e-300)
        estimate = replace(estimate, shares=tuple(float(share) for share in shares))
        if not cell.system.metric.shape[1] and estimate.raters == baseline.raters:
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
    """Controls of judged outputs, with coefficients (k, p) on scaled metrics, and on the metrics."""

    values: list[Floats]
    coefficients: Floats
    slopes: Floats


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
        return _Controls(values, coefficients, coefficients)
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
    return _Controls(values, coefficients, coefficients / np.where(known, deviation, np.inf))


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
    """What the weights on all judgments of the campaign make of an estimate.

    Attributes
    ----------
    point : float
        The estimate.
    outputs : dict of int to float
        Factor on the variance between outputs, of each system in the estimate.
    parts : tuple of Part
        Error variance of raters and of other systems' outputs; empty when raters are fixed.
    held : dict
        What `leniency_in` gave for each system, with the finite-pool factor and without, as far as
        it was asked.
    """

    point: float
    outputs: dict[int, float]
    parts: tuple[Part, ...]
    held: dict[tuple[int, bool], Floats] = field(default_factory=dict)


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

    def estimate(self, form: Form, slope: Floats | None = None) -> Estimate:
        """Return the estimate of one system, or of a weighted mean over several slices of one.

        `slope` is that of its control. Without one it is a baseline, whose intervals from other
        points of view nobody asks for.
        """
        fits = {number: self._fit(number) for number in form}
        options = self.options
        if len(form) == 1 and self._is_known(*form):
            return self._plain(*form)
        fixed = replace(options, raters_as="fixed")
        targets = {
            number: fixed_raters(
                fit, self.samples[number], self.systems[number].draw, None, options=fixed
            )
            for number, fit in fits.items()
        }
        weighed = self._weighed(form, fits)
        error = self._with_raters(form, targets, weighed)
        is_baseline = slope is None
        slope = np.zeros(0) if slope is None else slope
        if options.target == "superpopulation":
            error = replace(error, between_pools=self._between(form, slope))
        estimate = weighed.point
        ends = self._ends(form, estimate, error)
        new_outputs = as_fixed = None
        if not is_baseline:
            new_outputs = self._new_outputs(form, slope, weighed, ends)
            as_fixed = None if options.raters_as == "fixed" else self._fixed(form, targets)
        interval = "borrowed" if self._borrows(form) else "student"
        kind = "learned-control" if len(slope) else "sample-mean"
        samples = [self.samples[number] for number in form]
        return Estimate(
            estimate=estimate,
            standard_error=ends.standard_error,
            low=ends.low,
            high=ends.high,
            level=options.level,
            target=options.target,
            raters=options.raters_as,
            method=f"{kind}/{interval}",
            n_outputs=sum(sample.n_outputs for sample in samples),
            n_judgments=sum(sample.n_judgments for sample in samples),
            n_raters=self._n_raters(form),
            pool_size=self._pool_size(form),
            degrees_of_freedom=float(error.degrees_of_freedom),
            slope=tuple(float(a) for a in slope),
            new_outputs=new_outputs,
            fixed_raters=as_fixed,
            notes=(*error.notes, *self.notes),
        )

    def _fit(self, number: int) -> Fit:
        fit = self.fits[number]
        if isinstance(fit, NotEstimableError):
            raise fit
        return fit

    def _is_known(self, number: int) -> bool:
        """Whether a whole pool was judged that is the target, or nothing shows how scores vary."""
        whole = self.samples[number].n_outputs == self.systems[number].draw.pool_size
        return (self.options.target == "census" and whole) or self.variances[number] <= 0

    def _n_raters(self, form: Form) -> int | None:
        raters = [self.systems[number].raters for number in form]
        known = [one for one in raters if one is not None]
        return len(np.unique(np.concatenate(known))) if len(known) == len(raters) else None

    def _pool_size(self, form: Form) -> int | None:
        sizes = [self.systems[number].draw.pool_size for number in form]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def _plain(self, number: int) -> Estimate:
        """Return the plain mean: of a whole pool, or where only bounds of the score give a width."""
        system = self.systems[number]
        fixed = replace(self.options, raters_as="fixed")
        return plain_mean(system.sample, system.draw, options=fixed)

    def _weighed(self, form: Form, fits: Mapping[int, Fit]) -> _Weighed:
        """Return what raters, as options see them, make of an estimate: the same at every look."""
        leniency = self.leniency
        point = sum(weight * fits[number].estimate for number, weight in form.items())
        if self.options.raters_as == "fixed" or leniency is None:
            return _Weighed(point, dict.fromkeys(form, 1.0), ())
        weights = np.zeros(len(self.judgments))
        for number, weight in form.items():
            sample, start = self.samples[number], self.first[number]
            own = weight * (fits[number].weights / sample.count)[sample.output]
            weights[start : start + sample.n_judgments] = own
        if self.options.raters_as == "adjusted":
            weights = leniency.adjusted(weights)
            # Around the estimate, so that a constant on all scores moves it by exactly that.
            point += float(weights @ self._around_means)
        by_output = np.bincount(leniency.output, weights)
        outputs = {}
        for number, weight in form.items():
            first = leniency.output[self.first[number]]
            inside = slice(first, first + self.samples[number].n_outputs)
            before = weight * fits[number].weights
            outputs[number] = float(by_output[inside] @ by_output[inside]) / float(before @ before)
            by_output[inside] = 0.0
        elsewhere = float(by_output**2 @ self._output_variances)
        by_rater = leniency.per_rater(weights)
        lenient = float(by_rater @ by_rater)
        doubt = lenient**2 * float(leniency.components.covariance[1, 1])
        parts = (
            Part("leniency", leniency.variance, lenient, np.inf, doubt),
            Part("other systems", elsewhere, 1.0, np.inf, 0.0),
        )
        return _Weighed(point, outputs, parts)

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
        self, form: Form, fixed: Mapping[int, ErrorVariance], weighed: _Weighed
    ) -> ErrorVariance:
        """Return the error variance with moderated spread, and raters seen as options say."""
        parts: list[Part] = []
        for number, weight in form.items():
            own = self._own_parts(number, fixed[number], weighed)
            parts += [replace(part, coefficient=weight**2 * part.coefficient) for part in own]
        notes = dict.fromkeys(note for one in fixed.values() for note in one.notes)
        return ErrorVariance((*parts, *weighed.parts), notes=tuple(notes))

    def _own_parts(self, number: int, fixed: ErrorVariance, weighed: _Weighed) -> list[Part]:
        """Return the parts of one system's outputs, less the leniency that they hold."""
        outputs = [self._moderated(number, part) for part in fixed.parts if part.name == "outputs"]
        others = [part for part in fixed.parts if part.name != "outputs"]
        if self.leniency is None or not weighed.parts:
            return [*outputs, *others]
        sample, draw = self.samples[number], self.systems[number].draw
        limited = len(others) > 0 and draw.cluster is not None
        if (number, limited) not in weighed.held:
            fit = self._fit(number)
            weighed.held[number, limited] = leniency_in(fit, sample, draw, limited=limited)
        scale = float(self.leniency.scale[self.first[number]])
        held = weighed.held[number, limited] * self.leniency.variance * scale**2
        outputs = [
            replace(
                part,
                variance=max(part.variance - here, 0.05 * part.variance),
                coefficient=part.coefficient * weighed.outputs[number],
            )
            for part, here in zip(outputs, held, strict=True)
        ]
        return [*outputs, *others]

    def _moderated(self, number: int, part: Part) -> Part:
        fit = self.fits[number]
        if not self.systems[number].draw.simple:
            flat = isinstance(fit, Fit) and not _variance(fit)
            return replace(part, variance=float(self.variances[number])) if flat else part
        variance, freedom = self._spread(number)
        return replace(part, variance=variance, degrees_of_freedom=freedom)

    def _spread(self, number: int) -> tuple[float, float]:
        return self.lent.moderated(self.variances[number], self.freedoms[number])

    def _between(self, form: Form, slope: Floats) -> float:
        """Return what the choice of the pool adds: the control's variance over it."""
        return sum(weight**2 * self._between_pools(one, slope) for one, weight in form.items())

    def _between_pools(self, number: int, slope: Floats) -> float:
        system = self.systems[number]
        pool, fit = system.pool, self.fits[number]
        if pool is None or not len(slope) or isinstance(fit, NotEstimableError):
            return 0.0
        x = np.nan_to_num(system.metric - pool.mean)
        h = x @ slope
        shared = float((h - h.mean()) @ fit.residual) / max(len(h) - 1, 1)
        between = float(slope @ pool.covariance @ slope) + 2 * shared
        return max(between, -float(self.variances[number])) / pool.size

    def _new_outputs(self, form: Form, slope: Floats, weighed: _Weighed, ends: Ends) -> Ends | None:
        """Return the interval for new outputs like these, where it is clearly wider."""
        draws = {number: self.systems[number].draw for number in form}
        if self.options.target != "pool" or not all(draw.simple for draw in draws.values()):
            return None
        parts = {
            number: ErrorVariance(residual_parts(self._fit(number), draw, limited=False))
            for number, draw in draws.items()
        }
        error = self._with_raters(form, parts, weighed)
        error = replace(error, between_pools=self._between(form, slope))
        wider = self._ends(form, weighed.point, error)
        return wider if wider.high - wider.low > _WIDER * (ends.high - ends.low) else None

    def _fixed(self, form: Form, fixed: Mapping[int, ErrorVariance]) -> Ends | None:
        """Return the interval about exactly these raters."""
        point = sum(weight * self._fit(number).estimate for number, weight in form.items())
        weighed = _Weighed(point, dict.fromkeys(form, 1.0), ())
        error = self._with_raters(form, fixed, weighed)
        return self._ends(form, point, error) if error.value > 0 else None

    def _borrows(self, form: Form) -> bool:
        """Whether the interval has the shape that all systems share."""
        return self.shape is not None and len(form) == 1

    def _ends(self, form: Form, estimate: float, error: ErrorVariance) -> Ends:
        """Return the interval around `estimate`."""
        value, level = error.value, self.options.level
        if value <= 0:
            raise NotEstimableError(
                "the interval would be a single point, as every output was judged and rater noise is "
                'taken as 0: use target="census", or give the `rater_variance` that judgments have'
            )
        number = next(iter(form))
        quantiles = None
        if self.shape is not None and len(form) == 1 and self.systems[number].draw.simple:
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
    controls = _controls(systems, _common_deviation(systems))
    return _corrected(systems, controls.values), controls.slopes


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
