r"""The error of linear forms in the judgments of all systems of a campaign.

An estimate is a weighted mean of one or several systems, or slices of them. Its error variance has parts for
outputs, raters and the finite pool; leniency moves weight to other systems' judgments. Derived in
docs/methods/campaign.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.campaign_leniency import campaign_leniency
from steelyard.estimate.controlled import JudgedSystem, alike_squares, shared_outputs
from steelyard.estimate.error_variance import (
    ErrorVariance,
    Part,
    fixed_raters,
    residual_parts,
    unspread,
)
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.fit import Fit, named_method
from steelyard.estimate.ledger import PlainInterval
from steelyard.estimate.leniency import Leniency, leniency_part, plain_parts
from steelyard.estimate.lent import Lent
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import leniency_in
from steelyard.estimate.result import Ends, Estimate
from steelyard.estimate.slope import plain_fit

__all__ = ["Form", "Together"]

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
class _Found:
    """An interval, and what it is made of."""

    targets: dict[int, ErrorVariance]
    weighed: _Weighed
    error: ErrorVariance
    ends: Ends


@dataclass(frozen=True, eq=False)
class Together:
    """All systems after their controls are taken off, with what they lend one another."""

    systems: Sequence[JudgedSystem]
    samples: Sequence[JudgedOutputs]
    fits: Sequence[Fit | NotEstimableError]
    lent: Lent
    leniency: Leniency | None
    first: Integers
    options: Options
    notes: tuple[str, ...]
    seed: int

    @classmethod
    def of(
        cls,
        systems: Sequence[JudgedSystem],
        samples: Sequence[JudgedOutputs],
        options: Options,
        seed: int,
    ) -> "Together":
        """Learn spread, shape and leniency from `samples`, the judged outputs less their controls."""
        draws = [one.draw for one in systems]
        fits = [_plain_fit(sample, one.draw) for sample, one in zip(samples, systems, strict=True)]
        overlap = max(shared_outputs(systems), alike_squares(systems, samples))
        lent = Lent.of(fits, samples, draws, options=options, seed=seed, overlap=overlap)
        leniency, options, notes = campaign_leniency(systems, samples, options)
        sizes = np.array([sample.n_judgments for sample in samples])
        first = np.cumsum(sizes) - sizes
        return cls(systems, samples, fits, lent, leniency, first, options, notes, seed)

    def estimate(self, form: Form, slope: Floats | None = None) -> Estimate:
        """Return the estimate of one system, or of a weighted mean over several slices of one.

        `slope` is that of its control. Without one it is a baseline, whose intervals from other
        points of view nobody asks for.
        """
        options = self.options
        if len(form) == 1 and self.is_known(*form):
            return self._plain(*form)
        is_baseline = slope is None
        slope = np.zeros(0) if slope is None else slope
        found = self._found(form, slope)
        estimate, ends, error = found.weighed.point, found.ends, found.error
        new_outputs = as_fixed = None
        if not is_baseline:
            new_outputs = self._new_outputs(form, slope, found.weighed, ends)
            as_fixed = None if options.raters_as == "fixed" else self._fixed(form, found.targets)
        interval = "borrowed" if self.lent.shapes(tuple(form)) else "student"
        draw = self.systems[next(iter(form))].draw
        kind = named_method(draw, "learned-control" if len(slope) else "mean")
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

    @cached_property
    def drawn_simply(self) -> "Together":
        """The same judgments, had they been drawn simply at random."""
        systems = [replace(one, draw=replace(one.draw, place=None)) for one in self.systems]
        return Together.of(systems, self.samples, self.options, self.seed)

    def half_width(self, form: Form, slope: Floats | None = None) -> float:
        """Return half the length of the interval of `estimate`."""
        ends = self._found(form, np.zeros(0) if slope is None else slope).ends
        return (ends.high - ends.low) / 2

    def unlimited_half_width(self, form: Form) -> float:
        """Return what half the length of the interval would be with an endless pool."""
        fits = {number: self._fit(number) for number in form}
        parts = {
            number: ErrorVariance(residual_parts(fit, self.systems[number].draw, limited=False))
            for number, fit in fits.items()
        }
        error = self._with_raters(form, parts, self._weighed(form, fits))
        ends = self.lent.ends(tuple(form), 0.0, error)
        return (ends.high - ends.low) / 2

    def plain_interval(self, form: Form) -> PlainInterval:
        """Return the interval of the plain mean, had each judgment been drawn for itself.

        Outputs would have been drawn with replacement, each judged once; raters are seen as a sample
        where they are; nothing is known but these judgments.
        """
        parts: list[Part] = []
        for number, weight in form.items():
            scores = self.samples[number].human
            here = slice(self.first[number], self.first[number] + len(scores))
            own = plain_parts(scores, self.leniency, where=here, system=number)
            parts += [replace(part, coefficient=weight**2 * part.coefficient) for part in own]
        error = ErrorVariance(tuple(parts))
        return PlainInterval(
            sum(self.samples[number].n_judgments for number in form),
            float(np.sqrt(error.value)),
            error.degrees_of_freedom,
            self.options.level,
        )

    def _found(self, form: Form, slope: Floats) -> _Found:
        """Return the interval with all that it is made of."""
        fits = {number: self._fit(number) for number in form}
        fixed = replace(self.options, raters_as="fixed")
        targets = {
            number: fixed_raters(
                fit, self.samples[number], self.systems[number].draw, None, options=fixed
            )
            for number, fit in fits.items()
        }
        weighed = self._weighed(form, fits)
        error = self._with_raters(form, targets, weighed)
        if self.options.target == "superpopulation":
            error = replace(error, between_pools=self._between(form, slope))
        return _Found(targets, weighed, error, self.lent.ends(tuple(form), weighed.point, error))

    def _fit(self, number: int) -> Fit:
        fit = self.fits[number]
        if isinstance(fit, NotEstimableError):
            raise fit
        return fit

    def is_known(self, number: int) -> bool:
        """Whether a whole pool was judged that is the target, or nothing shows how scores vary."""
        whole = self.samples[number].n_outputs == self.systems[number].draw.pool_size
        return (self.options.target == "census" and whole) or self.lent.variances[number] <= 0

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
        here = {
            number: slice(start, start + self.samples[number].n_judgments)
            for number, start in ((one, self.first[one]) for one in form)
        }
        own = {
            number: weight
            * fits[number].weights[self.samples[number].output]
            / self.samples[number].count[self.samples[number].output]
            for number, weight in form.items()
        }
        if self.options.raters_as == "random":
            by_rater = np.sum([leniency.per_rater(own[one], here[one]) for one in form], axis=0)
            return _Weighed(point, dict.fromkeys(form, 1.0), (leniency_part(leniency, by_rater),))
        weights = np.zeros(len(leniency.rater))
        for number in form:
            weights[here[number]] = own[number]
        weights = leniency.adjusted(weights)
        # Around the estimate, so that a constant on all scores moves it by exactly that.
        point += float(weights @ self._around_means)
        by_output = np.bincount(leniency.output, weights)
        outputs = {}
        for number, weight in form.items():
            inside = np.unique(leniency.output[here[number]])
            before = weight * fits[number].weights
            outputs[number] = float(by_output[inside] @ by_output[inside]) / float(before @ before)
            by_output[inside] = 0.0
        elsewhere = float(by_output**2 @ self._output_variances)
        parts = (
            leniency_part(leniency, leniency.per_rater(weights)),
            Part("other systems", elsewhere, 1.0, np.inf, 0.0),
        )
        return _Weighed(point, outputs, parts)

    @cached_property
    def _around_means(self) -> Floats:
        """Return judgments less their system's mean; adjusted weights add to 0 over other systems."""
        means = [0.0 if isinstance(fit, NotEstimableError) else fit.estimate for fit in self.fits]
        around = [one.human - mean for one, mean in zip(self.samples, means, strict=True)]
        return np.concatenate(around)

    @cached_property
    def _output_variances(self) -> Floats:
        """Return the variance of each judged text of the campaign, by the first system that wrote it."""
        assert self.leniency is not None
        first = np.unique(self.leniency.output, return_index=True)[1]
        return np.asarray(self.lent.variances[self.leniency.system[first]])

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
        outputs = [
            self.lent.moderated(number, part) for part in fixed.parts if part.name == "outputs"
        ]
        others = [part for part in fixed.parts if part.name != "outputs"]
        if self.leniency is None or not weighed.parts:
            return [*outputs, *others]
        sample, draw = self.samples[number], self.systems[number].draw
        limited = len(others) > 0 and draw.cluster is not None
        if (number, limited) not in weighed.held:
            fit = self._fit(number)
            weighed.held[number, limited] = leniency_in(fit, sample, draw, limited=limited)
        scale = float(self.leniency.spread[number])
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

    def _between(self, form: Form, slope: Floats) -> float:
        """Return what the choice of the pool adds: the control's variance over it."""
        return sum(weight**2 * self._between_pools(one, slope) for one, weight in form.items())

    def _between_pools(self, number: int, slope: Floats) -> float:
        system = self.systems[number]
        pool, fit = system.pool, self.fits[number]
        if isinstance(fit, NotEstimableError):
            return 0.0
        more = unspread(fit, system.draw, float(self.lent.variances[number]))
        if pool is None or not len(slope):
            return more
        x = np.nan_to_num(system.metric - pool.mean)
        h = x @ slope
        shared = float((h - h.mean()) @ fit.residual) / max(len(h) - 1, 1)
        between = float(slope @ pool.covariance @ slope) + 2 * shared
        return max(between, -float(self.lent.variances[number])) / pool.size + more

    def _new_outputs(self, form: Form, slope: Floats, weighed: _Weighed, ends: Ends) -> Ends | None:
        """Return the interval for new outputs like these, where it is clearly wider."""
        draws = {number: self.systems[number].draw for number in form}
        if self.options.target != "pool" or not all(draw.uniform for draw in draws.values()):
            return None
        parts = {
            number: ErrorVariance(residual_parts(self._fit(number), draw, limited=False))
            for number, draw in draws.items()
        }
        error = self._with_raters(form, parts, weighed)
        error = replace(error, between_pools=self._between(form, slope))
        wider = self.lent.ends(tuple(form), weighed.point, error)
        return wider if wider.high - wider.low > _WIDER * (ends.high - ends.low) else None

    def _fixed(self, form: Form, fixed: Mapping[int, ErrorVariance]) -> Ends | None:
        """Return the interval about exactly these raters."""
        point = sum(weight * self._fit(number).estimate for number, weight in form.items())
        weighed = _Weighed(point, dict.fromkeys(form, 1.0), ())
        error = self._with_raters(form, fixed, weighed)
        return self.lent.ends(tuple(form), point, error) if error.value > 0 else None


def _plain_fit(sample: JudgedOutputs, draw: Draw) -> Fit | NotEstimableError:
    try:
        return plain_fit(sample, draw)
    except NotEstimableError as error:
        return error
