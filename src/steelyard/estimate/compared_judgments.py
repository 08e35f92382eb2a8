"""All judgments of a campaign as a comparison sees them, and the error of a difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from steelyard.arrays import JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.campaign_leniency import campaign_leniency
from steelyard.estimate.controlled import JudgedSystem, controlled
from steelyard.estimate.error_variance import ErrorVariance
from steelyard.estimate.ledger import PlainInterval
from steelyard.estimate.leniency import Leniency, plain_parts
from steelyard.estimate.options import Options
from steelyard.estimate.pair_neighbours import item_neighbours
from steelyard.estimate.pair_tails import PairTails
from steelyard.estimate.pair_variance import PairScores, SideScores
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["NO_SCALE", "ComparedJudgments", "PairError", "Shared", "differing_outputs"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_SCALE = (
    "no common rater scale, as no rater judged both and raters are too few, or judged too few systems "
    "or outputs, to show how much they differ: let raters judge both, or say that raters do not differ "
    "with `--raters fixed`"
)

# Leniency is never taken for so much of a variance that less than this share is left.
_LEAST_LEFT = 0.05


@dataclass(frozen=True, eq=False)
class Shared:
    """What a pair of systems has in common.

    Attributes
    ----------
    items : int
        Items of the pool that both have; 0 where their pools hold different items.
    identical : int
        How many of them have the same output by both; 0 where texts or pools differ.
    differs : (n_a,) and (n_b,) array of bool
        Which judged outputs of either differ from the other's.
    metric : (p,) and (p,) array, or None
        Mean of either's metrics over the outputs that differ, around the mean of its pool; None
        for 0, as where nothing is identical.
    sizes : (float, float), optional
        Outputs of either; those of the whole pool by default.
    group : int
        Number of the slice. Errors of different groups are taken to be independent where too few
        items show how they go together.
    """

    items: int
    identical: int
    differs: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    metric: tuple[Floats, Floats] | None = None
    sizes: tuple[float, float] | None = None
    group: int = 0

    @property
    def share(self) -> float:
        """Share of the items on which the two differ."""
        return 1 - self.identical / self.items if self.items else 1.0

    @property
    def all_identical(self) -> bool:
        """Whether all outputs of the two are the same."""
        return self.identical > 0 and self.identical == self.items


@dataclass(frozen=True, eq=False)
class PairError:
    """The variance of a difference, and the variance of that estimate."""

    value: float
    doubt: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance (Satterthwaite)."""
        return max(2 * self.value**2 / self.doubt, 1.0) if self.doubt > 0 else np.inf

    def reach(self, level: float) -> float:
        """Return half the length of the interval."""
        if self.value <= 0:
            return 0.0
        return float(stdtrit(self.freedom, (1 + level) / 2) * np.sqrt(self.value))


def differing_outputs(differs: NDArray[np.bool_]) -> Integers:
    """Return the positions of the judged outputs that differ, of which there must be two."""
    outputs = np.flatnonzero(differs)
    if len(outputs) < 2:
        raise NotEstimableError(
            "a difference needs at least 2 judged outputs of each system on items where the two "
            f"differ; got {len(outputs)}: judge more of them"
        )
    return outputs


@dataclass(frozen=True, eq=False)
class ComparedJudgments:
    """All judgments of a campaign, controls taken off, with their raters' leniency."""

    systems: Sequence[JudgedSystem]
    samples: Sequence[JudgedOutputs]
    slopes: Floats
    human: Floats
    first: Integers
    leniency: Leniency | None
    n_units: int
    noise: tuple[float, float] | None
    options: Options
    tails: PairTails | None
    beside: Integers | None = None

    @classmethod
    def of(cls, systems: Sequence[JudgedSystem], options: Options) -> "ComparedJudgments":
        """Take the learned control off, and learn the leniency of raters."""
        found = controlled(systems, differences=True)
        samples = found.samples
        leniency, options, _ = campaign_leniency(systems, samples, options)
        sizes = np.array([sample.n_judgments for sample in samples])
        beside = item_neighbours(systems)
        units = [one.units[sample.output] for one, sample in zip(systems, samples, strict=True)]
        return cls(
            systems,
            samples,
            found.slopes,
            np.concatenate([sample.human for sample in samples]),
            np.cumsum(sizes) - sizes,
            leniency,
            int(np.concatenate(units).max()) + 1,
            _rater_noise(samples, options),
            options,
            PairTails.of(systems, samples, beside),
            beside,
        )

    @property
    def raw(self) -> "ComparedJudgments":
        """The judgments as they are, no control taken off."""
        samples = [one.sample for one in self.systems]
        return replace(
            self,
            samples=samples,
            slopes=np.zeros_like(self.slopes),
            human=np.concatenate([sample.human for sample in samples]),
        )

    def apart(self, pair: tuple[int, int], level: float) -> PlainInterval:
        """Return the interval of the difference of two plain means of judgments drawn apart.

        The raters of both are drawn from the same crew, so that leniency adds what it adds to the
        spread of scores.
        """
        scores = [self.systems[number].sample.human for number in pair]
        parts = [part for own in scores for part in plain_parts(own)]
        error = ErrorVariance(tuple(parts))
        n = sum(len(own) for own in scores)
        return PlainInterval(n, float(np.sqrt(error.value)), error.degrees_of_freedom, level)

    def apart_reach(
        self, pair: tuple[int, int], differs: tuple[NDArray[np.bool_], ...], level: float
    ) -> float:
        """Return half the length of the interval of two plain means of outputs drawn apart."""
        a, b = (np.flatnonzero(one) for one in differs)
        nothing = np.empty(0, dtype=np.int64)
        both = replace(self.scores_of(pair, (a, b), raw=True), in_a=nothing, in_b=nothing)
        return PairError(*both.variance()).reach(level)

    @property
    def n_raters(self) -> int:
        """Number of raters, 0 where they are not seen as a sample."""
        return 0 if self.leniency is None else int(self.leniency.rater.max()) + 1

    @property
    def units(self) -> int:
        """Number of items, or clusters of them, and raters, which make errors independently."""
        return self.n_units + self.n_raters

    def check_scale(self, pair: tuple[int, int]) -> None:
        """Raise if two systems have no rater in common, who alone can tell them from their raters."""
        a, b = (self.systems[number].raters for number in pair)
        if a is not None and b is not None and not np.isin(a, b).any():
            raise NotEstimableError(NO_SCALE)

    def scores_of(
        self, pair: tuple[int, int], outputs: tuple[Integers, Integers], *, raw: bool = False
    ) -> PairScores:
        """Return the scores of some outputs of two systems, controls taken off unless `raw`."""
        sides = []
        for number, chosen in zip(pair, outputs, strict=True):
            one = self.systems[number]
            sample = one.sample if raw else self.samples[number]
            clusters = None if one.clusters is None else one.clusters[chosen]
            scores, count = sample.mean[chosen], sample.count[chosen]
            sides.append(SideScores(one.items[chosen], scores, count, clusters))
        a, b = sides
        return PairScores.of(a, b, beside=None if raw else self.beside)

    def contrast(
        self, pair: tuple[int, int], outputs: tuple[Integers, Integers]
    ) -> tuple[Floats, float]:
        """Return the weights of all judgments, and what taking leniency out does to their squares."""
        weights = np.zeros(len(self.human))
        for sign, number, chosen in zip((1, -1), pair, outputs, strict=True):
            sample = self.samples[number]
            per_output = np.zeros(sample.n_outputs)
            per_output[chosen] = sign / len(chosen)
            start = self.first[number]
            own = (per_output / sample.count)[sample.output]
            weights[start : start + sample.n_judgments] += own
        if self.leniency is None or self.options.raters_as != "adjusted":
            return weights, 1.0
        adjusted = self.leniency.adjusted(weights)
        before, after = (np.bincount(self.leniency.output, one) for one in (weights, adjusted))
        return adjusted, float(after @ after) / float(before @ before)

    def error(
        self,
        pair: tuple[int, int],
        outputs: tuple[Integers, Integers],
        both: PairScores,
        ratio: float,
    ) -> tuple[PairError, ...]:
        """Return the error of a difference over a large pool, without leniency.

        A second one, where there is one, has the spread that all pairs lend: the interval is the
        longer of the two.
        """
        found = [both.variance()]
        if self.scores_of(pair, outputs, raw=True).variance()[0] == 0:
            found = [self._least(both)]
        elif self.tails is not None and self._whole(pair, outputs):
            found.append(self.tails.moderated(both))
        if self.leniency is None:
            return tuple(PairError(value * ratio, doubt * ratio**2) for value, doubt in found)
        shares = [self._rater_shares(*one) for one in zip(pair, outputs, strict=True)]
        held, expected = self.leniency.variance * both.leniency(*shares), found[-1][0]
        share = min(held / expected, 1 - _LEAST_LEFT) if expected > 0 else 0.0
        # A variance that falls out small by chance has not more leniency in it than others have.
        lent = self.tails.lent(both) if self.tails is not None and len(found) > 1 else 0.0
        return tuple(
            PairError(value * (1 - share) * ratio, doubt * ((1 - lent * share) * ratio) ** 2)
            for value, doubt in found
        )

    def _whole(self, pair: tuple[int, int], outputs: tuple[Integers, Integers]) -> bool:
        """Whether all judged outputs of both count, none of them identical or in another slice."""
        return all(
            len(chosen) == self.samples[number].n_outputs > 2
            for number, chosen in zip(pair, outputs, strict=True)
        )

    def _least(self, both: PairScores) -> tuple[float, float]:
        """Return the variance that one more item might have shown, where no difference varies.

        One more item at the other end of the scale, which the scores of all systems show, would
        give n + 1 differences a variance of range^2 / (n + 1).
        """
        width = max(float(np.ptp(np.concatenate([one.sample.human for one in self.systems]))), 0.0)
        if width == 0:
            raise NotEstimableError(
                "all judgments are equal, so nothing shows how sure a difference is: judge more"
            )
        n = both.n_units
        value = width**2 / (n * (n + 1))
        return value, 2 * value**2 / (n - 1)

    def _rater_shares(self, number: int, chosen: Integers) -> csr_array:
        """Return each rater's share in each output's score, over the spread of the system."""
        assert self.leniency is not None
        sample, start = self.samples[number], self.first[number]
        rater = self.leniency.rater[start : start + sample.n_judgments]
        shape = (sample.n_outputs, self.n_raters)
        scale = self.leniency.scale[start : start + sample.n_judgments]
        share = (1 / sample.count)[sample.output] * scale
        shares = csr_array((share, (sample.output, rater)), shape)
        return csr_array(shares[chosen])

    def about(
        self,
        error: PairError,
        pair: tuple[int, int],
        outputs: tuple[Integers, Integers],
        both: PairScores,
        *,
        shared: Shared,
        found: float,
    ) -> PairError:
        """Return the error about these outputs, or about new ones, as options say."""
        differing = shared.items - shared.identical
        if self.options.target == "pool":
            return self._finite(error, both, differing) if differing else error
        raw = self.scores_of(pair, outputs, raw=True)
        if differing:
            # What the choice of the pool adds by the control, and by the share that differs.
            more = (raw.spread - both.spread) / differing
            more += shared.identical / differing * found**2 / shared.items
        else:
            pools = [self.systems[number].pool for number in pair]
            sizes = shared.sizes or [pool.size if pool else np.inf for pool in pools]
            more = (raw.a.variance - both.a.variance) / sizes[0]
            more += (raw.b.variance - both.b.variance) / sizes[1]
            more *= both.inflation
        return PairError(max(error.value + more, 0.0), error.doubt)

    def _finite(self, error: PairError, both: PairScores, size: int) -> PairError:
        """Return the error over `size` items that differ: once all are judged, noise is left."""
        whole = both.variance()[0]
        if self.noise is None or whole == 0:
            return error
        noise, freedom = self.noise
        between = both.between_items(noise) / size
        if between <= 0:
            return error
        kept = max(1 - both.spread / size / whole, 0.0)
        doubt = error.doubt * kept**2 + (noise * both.heard / size) ** 2 * 2 / freedom
        return PairError(max(error.value - between, 0.0), doubt)

    def mean_difference(self, pair: tuple[int, int], both: PairScores, weights: Floats) -> float:
        """Return the weighted sum of judgments, around the means of both sides."""
        centres, around = self._around
        found = float(weights @ around)
        for sign, number, side in zip((1, -1), pair, (both.a, both.b), strict=True):
            mean, start = float(side.scores.mean()), self.first[number]
            own = weights[start : start + self.samples[number].n_judgments]
            found += sign * mean - (mean - centres[number]) * float(own.sum())
        return found

    @cached_property
    def _around(self) -> tuple[Floats, Floats]:
        """Return the mean of each system, and all judgments around that of theirs."""
        centres = np.array([sample.mean.mean() for sample in self.samples])
        sizes = [sample.n_judgments for sample in self.samples]
        return centres, self.human - np.repeat(centres, sizes)


def _rater_noise(samples: Sequence[JudgedOutputs], options: Options) -> tuple[float, float] | None:
    """Return the variance of judgments of one output over all systems, and its degrees of freedom.

    None if it is unknown.
    """
    if options.rater_variance is not None:
        return options.rater_variance, np.inf
    squares = sum(float(sample.within.sum()) for sample in samples)
    freedom = sum(int((sample.count - 1).sum()) for sample in samples)
    again = sum(int((sample.count > 1).sum()) for sample in samples)
    return (squares / freedom, float(freedom)) if again >= FEW_REPEATS else None
