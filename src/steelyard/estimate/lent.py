"""What the systems of a campaign lend one another for their intervals: spread and shape."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.borrowed import Shape, Spread, borrowed_spread, long_tailed_freedoms
from steelyard.estimate.controlled import varies
from steelyard.estimate.error_variance import ErrorVariance, Part
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options
from steelyard.estimate.residual_squares import residual_squares
from steelyard.estimate.result import Ends

__all__ = ["Lent"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lent:
    """Spread and shape of the systems of a campaign.

    Attributes
    ----------
    draws : sequence of Draw
        How each system's outputs were drawn; only draws with equal chances borrow. What is lent
        is between outputs, or between their clusters.
    flat : (k,) array of bool
        Which systems show no spread of their own.
    variances, freedoms : (k,) array
        Each system's residual variance, and its degrees of freedom.
    counted : (k,) array
        Degrees of freedom, were tails normal.
    spread, usual : Spread
        What to expect of a variance, with tails as long as all residuals show them, and were they normal.
    shape : Shape or None
        The shape of residuals that all have in common, where systems are enough.
    options : Options
        Level and bounds of the intervals.
    """

    draws: Sequence[Draw]
    flat: NDArray[np.bool_]
    variances: Floats
    freedoms: Floats
    counted: Floats
    spread: Spread
    usual: Spread
    shape: Shape | None
    options: Options

    @classmethod
    def of(
        cls,
        fits: Sequence[Fit | NotEstimableError],
        samples: Sequence[JudgedOutputs],
        draws: Sequence[Draw],
        *,
        options: Options,
        seed: int,
        overlap: float = 0.0,
    ) -> "Lent":
        """Learn spread and shape from what the fits of all systems leave.

        `overlap` is the mean share of outputs whose judgments two systems have in common.
        """
        found = [_spread(fit, draw) for fit, draw in zip(fits, draws, strict=True)]
        own, counted = (np.array(column) for column in zip(*found, strict=True))
        variances = _with_least(own, samples, options)
        lending = np.where([draw.equal_chances for draw in draws], variances, 0.0)
        residuals = [_by_unit(fit, draw) for fit, draw in zip(fits, draws, strict=True)]
        freedoms = long_tailed_freedoms(residuals, lending, counted)
        spread = borrowed_spread(lending, freedoms, overlap=overlap)
        usual = borrowed_spread(lending, counted, overlap=overlap)
        shape = None
        if spread.freedom:
            shape = Shape(
                [
                    residual / np.sqrt(spread.moderated(variance, freedom)[0])
                    for residual, fit, variance, freedom in zip(
                        residuals, fits, variances, freedoms, strict=True
                    )
                    if isinstance(fit, Fit)
                ],
                seed=seed,
            )
        return cls(draws, own <= 0, variances, freedoms, counted, spread, usual, shape, options)

    def alone(self) -> "Lent":
        """Return what each system knows without the others."""
        nothing = Spread(0.0, 0.0)
        return replace(self, freedoms=self.counted, spread=nothing, usual=nothing, shape=None)

    def moderated(self, number: int, part: Part) -> Part:
        """Return what lies between a system's outputs, with what the others tell of it."""
        draw, own = self.draws[number], float(self.variances[number])
        if not draw.equal_chances:
            return replace(part, variance=own) if self.flat[number] else part
        lent, own_freedom = self._lent_to(number)
        variance, freedom = lent.moderated(own, own_freedom)
        if draw.cluster is not None and not self.flat[number]:
            # Of a finite pool clusters have another variance, as their outputs differ in chances left.
            variance *= part.variance / own
        return Part(part.name, variance, part.coefficient, freedom, part.doubt)

    def shapes(self, numbers: Sequence[int]) -> bool:
        """Whether an interval has the shape that all systems share: that of a single one has."""
        return self.shape is not None and len(numbers) == 1

    def ends(self, numbers: Sequence[int], estimate: float, error: ErrorVariance) -> Ends:
        """Return the interval around the `estimate` of a system, or of a mean over several.

        Raises
        ------
        NotEstimableError
            If it would have no width.
        """
        value, level = error.value, self.options.level
        if value <= 0:
            raise NotEstimableError(
                "the interval would be a single point, as every output was judged and rater noise is "
                'taken as 0: use target="census", or give the `rater_variance` that judgments have'
            )
        # The shape may only lengthen Student's interval: a few judgments do not show long tails.
        reach = float(stdtrit(error.degrees_of_freedom, (1 + level) / 2))
        shortest, longest = -reach, reach
        shaped = self._shaped(numbers[0], error) if self.shapes(numbers) else None
        if shaped is not None:
            shortest, longest = min(shaped[0], shortest), max(shaped[1], longest)
        se = float(np.sqrt(value))
        low, high = estimate - longest * se, estimate - shortest * se
        if self.options.bounds is not None:
            least, greatest = self.options.bounds
            low, high = max(low, min(least, estimate)), min(high, max(greatest, estimate))
        return Ends(standard_error=se, low=low, high=high)

    def _shaped(self, number: int, error: ErrorVariance) -> tuple[float, float] | None:
        """Return the quantiles of error over standard error that the common shape makes."""
        draw = self.draws[number]
        if self.shape is None or not draw.equal_chances:
            return None
        outputs = sum(part.value for part in error.parts if part.name == "outputs") / error.value
        lent, freedom = self._lent_to(number)
        return self.shape.quantiles(
            len(np.unique(draw.unit)),
            neighbours=draw.place is not None,
            own=Spread(lent.moderated(self.variances[number], freedom)[0], freedom),
            lent=lent,
            outputs=min(outputs, 1.0),
            rest=_freedom_of_rest(error),
            level=self.options.level,
        )

    def _lent_to(self, number: int) -> tuple[Spread, float]:
        """Return what is lent to a system, and the degrees of freedom of its own variance.

        Long tails make a variance too small where a sample has missed them, so the others may lengthen
        an interval because of them. They are no reason to shorten the interval of a system with
        more spread than the others, whose tails may be short. So the longer of two intervals counts.
        """
        own, level = self.variances[number], self.options.level
        known = (self.spread, self.freedoms[number]), (self.usual, self.counted[number])

        def reach(one: tuple[Spread, float]) -> float:
            lent, own_freedom = one
            variance, freedom = lent.moderated(own, own_freedom)
            return float(stdtrit(max(freedom, 1e-300), (1 + level) / 2) * np.sqrt(variance))

        return max(known, key=reach)


def _spread(fit: Fit | NotEstimableError, draw: Draw) -> tuple[float, float]:
    """Return the residual variance, 0 where it is rounding, and its degrees of freedom."""
    freedom = max(len(draw.stratum) - 1.0, 0.0)
    if not isinstance(fit, Fit) or not varies(fit.estimate + fit.residual):
        return 0.0, freedom
    if draw.place is not None or draw.cluster is not None:
        squares = residual_squares(fit, draw, limited=False)
        return float(squares.variance[0]), float(squares.freedom[0])
    return float(fit.residual @ fit.residual) / max(freedom, 1.0), freedom


def _by_unit(fit: Fit | NotEstimableError, draw: Draw) -> Floats:
    """Return the residuals of outputs, or those of clusters with the variance of outputs."""
    if not isinstance(fit, Fit):
        return np.zeros(1)
    if draw.cluster is None:
        return fit.residual
    total = np.bincount(np.unique(draw.cluster, return_inverse=True)[1], fit.residual)
    return np.asarray(total * np.sqrt(len(total) / len(fit.residual)))


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


def _freedom_of_rest(error: ErrorVariance) -> float:
    """Return the degrees of freedom of the parts that do not lie between outputs."""
    rest = tuple(part for part in error.parts if part.name != "outputs" and part.value > 0)
    return ErrorVariance(rest).degrees_of_freedom if rest else np.inf
