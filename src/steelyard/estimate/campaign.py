r"""The mean human scores of all systems of a campaign, estimated together.

Each estimate is a linear form :math:`c + \sum_j w_j y_j` in the judgments: the control that all systems teach
(`controlled`) gives c, the draw gives the weights of its outputs, and the leniency of raters (`leniency`) shifts
them. Its error variance has parts for outputs, raters and the finite pool; the systems lend one
another what they know of spread and shape (`lent`). Derived in docs/methods/campaign.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.campaign_leniency import campaign_leniency
from steelyard.estimate.controlled import JudgedSystem, controlled
from steelyard.estimate.error_variance import ErrorVariance, Part, fixed_raters, residual_parts
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.fit import Fit, named_method
from steelyard.estimate.intervals import check_options
from steelyard.estimate.leniency import Leniency
from steelyard.estimate.lent import Lent
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import leniency_in
from steelyard.estimate.result import Ends, Estimate
from steelyard.estimate.slope import fit_slope

__all__ = ["campaign_means"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# An interval for new outputs that is this much wider is shown beside the pool's.
_WIDER = 1.1


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
    usual = replace(options, raters_as="random") if options.raters_as == "adjusted" else options
    for one in systems:
        check_options(one.draw, one.sample, usual)
    controls = controlled(systems)
    plain = _Campaign.of(systems, [one.sample for one in systems], usual, seed)
    found = _Campaign.of(systems, controls.samples, options, seed)
    results: list[Estimate | NotEstimableError] = []
    for number, system in enumerate(systems):
        try:
            baseline = plain.estimate(number)
            estimate = found.estimate(number, controls.slopes[number])
        except NotEstimableError as error:
            results.append(error)
            continue
        estimate = replace(estimate, shares=tuple(controls.shares[number].tolist()))
        differ = system.metric.shape[1] or estimate.raters != baseline.raters
        results.append(replace(estimate, baseline=baseline) if differ else estimate)
    return results


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
    lent: Lent
    leniency: Leniency | None
    first: Integers
    options: Options
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        systems: Sequence[JudgedSystem],
        samples: Sequence[JudgedOutputs],
        options: Options,
        seed: int,
    ) -> "_Campaign":
        draws = [one.draw for one in systems]
        fits = [_plain_fit(sample, one.draw) for sample, one in zip(samples, systems, strict=True)]
        lent = Lent.of(fits, samples, draws, options=options, seed=seed)
        leniency, options, notes = campaign_leniency(systems, samples, options)
        sizes = np.array([sample.n_judgments for sample in samples])
        first = np.cumsum(sizes) - sizes
        return cls(systems, samples, fits, lent, leniency, first, options, notes)

    def estimate(self, number: int, slope: Floats | None = None) -> Estimate:
        """Return the estimate of one system; `slope` is that of its control.

        Without one it is a baseline, whose intervals from other points of view nobody asks for.
        """
        fit, sample, system = self.fits[number], self.samples[number], self.systems[number]
        if isinstance(fit, NotEstimableError):
            raise fit
        options = self.options
        counted = options.target == "census" and sample.n_outputs == system.draw.pool_size
        if counted or self.lent.variances[number] <= 0:
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
        ends = self.lent.ends(number, estimate, error)
        new_outputs = fixed = None
        if not is_baseline:
            new_outputs = self._new_outputs(number, fit, slope, weighed, ends)
            fixed = None if options.raters_as == "fixed" else self._fixed(number, fit, target)
        interval = "borrowed" if self.lent.shape is not None else "student"
        kind = named_method(system.draw, "learned-control" if len(slope) else "mean")
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
        here = slice(start, start + sample.n_judgments)
        own = (fit.weights / sample.count)[sample.output]
        if self.options.raters_as == "random":
            return _Weighed(fit.estimate, 1.0, (_lenient(leniency, leniency.per_rater(own, here)),))
        weights = np.zeros(len(leniency.rater))
        weights[here] = own
        weights = leniency.adjusted(weights)
        # Around the estimate, so that a constant on all scores moves it by exactly that.
        point = fit.estimate + float(weights @ self._around_means)
        by_output = np.bincount(leniency.output, weights)
        first = leniency.output[start]
        kept = by_output[first : first + sample.n_outputs].copy()
        by_output[first : first + sample.n_outputs] = 0.0
        elsewhere = float(by_output**2 @ self._output_variances)
        parts = (
            _lenient(leniency, leniency.per_rater(weights)),
            Part("other systems", elsewhere, 1.0, np.inf, 0.0),
        )
        return _Weighed(point, float(kept @ kept) / float(fit.weights @ fit.weights), parts)

    @cached_property
    def _around_means(self) -> Floats:
        """Return judgments less their system's mean; adjusted weights add to 0 over other systems."""
        means = [0.0 if isinstance(fit, NotEstimableError) else fit.estimate for fit in self.fits]
        around = [one.human - mean for one, mean in zip(self.samples, means, strict=True)]
        return np.concatenate(around)

    @cached_property
    def _output_variances(self) -> Floats:
        """Return the variance of each judged output of the campaign."""
        counts = [sample.n_outputs for sample in self.samples]
        return np.asarray(np.repeat(self.lent.variances, counts))

    def _with_raters(
        self, number: int, fit: Fit, fixed: ErrorVariance, weighed: _Weighed
    ) -> ErrorVariance:
        """Return the error variance with moderated spread, and raters seen as options say."""
        sample, draw = self.samples[number], self.systems[number].draw
        outputs = [
            self.lent.moderated(number, part) for part in fixed.parts if part.name == "outputs"
        ]
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
        return max(between, -float(self.lent.variances[number])) / pool.size

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
        wider = self.lent.ends(number, weighed.point, error)
        return wider if wider.high - wider.low > _WIDER * (ends.high - ends.low) else None

    def _fixed(self, number: int, fit: Fit, target: ErrorVariance) -> Ends | None:
        """Return the interval about exactly these raters."""
        weighed = _Weighed(fit.estimate, 1.0, ())
        error = self._with_raters(number, fit, target, weighed)
        return self.lent.ends(number, weighed.point, error) if error.value > 0 else None


def _lenient(leniency: Leniency, by_rater: Floats) -> Part:
    """Return what leniency adds to the error variance of weights on raters."""
    squares = float(by_rater @ by_rater)
    doubt = squares**2 * float(leniency.components.covariance[1, 1])
    return Part("leniency", leniency.variance, squares, np.inf, doubt)


def _plain_fit(sample: JudgedOutputs, draw: Draw) -> Fit | NotEstimableError:
    try:
        return fit_slope(sample, draw, None, np.empty(0), rng=np.random.default_rng(0))
    except NotEstimableError as error:
        return error
