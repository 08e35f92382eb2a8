r"""All systems of a campaign after their controls are taken off: what makes an estimate of any form.

A form is a weight for each of some systems, or slices of one: one for a system's own mean, several for a mix of slices. Its weights on all
judgments give the estimate and the parts of its error variance. Derived in docs/methods/campaign.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.borrowed import Shape, Spread, borrowed_spread, long_tailed_freedoms
from steelyard.estimate.campaign_leniency import leniency_of
from steelyard.estimate.controls import corrected, varies
from steelyard.estimate.error_variance import ErrorVariance, Part, fixed_raters, residual_parts
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.fit import Fit
from steelyard.estimate.judged_system import JudgedSystem
from steelyard.estimate.leniency import Leniency
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import leniency_in
from steelyard.estimate.result import Ends, Estimate
from steelyard.estimate.slope import fit_slope

__all__ = ["ControlledCampaign", "Form"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The weight of each system, or slice of one, in an estimate, by number.
Form = Mapping[int, float]

# An interval for new outputs that is this much wider is shown beside the pool's.
_WIDER = 1.1


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
class ControlledCampaign:
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
    ) -> "ControlledCampaign":
        """Take the controls off, and learn what the systems lend one another."""
        samples = corrected(systems, controls)
        fits = [_plain_fit(sample, one.draw) for sample, one in zip(samples, systems, strict=True)]
        own = np.array([0.0 if isinstance(fit, Exception) else _variance(fit) for fit in fits])
        freedoms = np.array([max(sample.n_outputs - 1.0, 0.0) for sample in samples])
        own = _with_least(own, samples, options)
        simple = np.array([one.draw.simple for one in systems])
        residuals = [np.zeros(1) if isinstance(fit, Exception) else fit.residual for fit in fits]
        freedoms = long_tailed_freedoms(residuals, np.where(simple, own, 0.0), freedoms)
        lent = borrowed_spread(np.where(simple, own, 0.0), freedoms)
        judgments = np.concatenate([sample.human for sample in samples])
        leniency, options, notes = leniency_of(systems, samples, options)
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


def _plain_fit(sample: JudgedOutputs, draw: Draw) -> Fit | NotEstimableError:
    try:
        return fit_slope(sample, draw, None, np.empty(0), rng=np.random.default_rng(0))
    except NotEstimableError as error:
        return error


def _variance(fit: Fit) -> float:
    """Return the residual variance, 0 where it is rounding."""
    variance = float(fit.residual @ fit.residual) / max(len(fit.residual) - 1, 1)
    return variance if varies(fit.estimate + fit.residual) else 0.0


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


def _freedom_of_rest(error: ErrorVariance) -> float:
    """Return the degrees of freedom of the parts that do not lie between outputs."""
    rest = [part for part in error.parts if part.name != "outputs" and part.value > 0]
    if not rest:
        return np.inf
    found = ErrorVariance(tuple(rest)).degrees_of_freedom
    return found if np.isfinite(found) else np.inf
