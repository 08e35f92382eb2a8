"""A finished campaign of one system, ready to be replayed under any rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import (
    JudgedOutputs,
    PoolArray,
    drawn_outputs,
    stratified_draw,
    unequal_draw,
)
from steelyard.design import Assumptions, ConfidenceSequence, draw_sample, plan, quantile_strata
from steelyard.design.sampling import Draw
from steelyard.design.sequence import Method
from steelyard.errors import NotEstimableError
from steelyard.estimate import Estimate, Options, corrected_mean, plain_mean
from steelyard.variance import efficiency_of, one_way

__all__ = ["FinishedCampaign", "Outcome", "Rule", "repeated"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rule = Literal["plan", "empirical-bernstein", "betting", "asymptotic"]
# A pilot's intervals at this level give the conservative plan.
_PILOT_LEVEL = 0.80
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcome:
    """What one replay came to."""

    judgments: int
    reached: bool
    half_width: float
    error: float
    covered: bool


@dataclass(frozen=True, eq=False)
class FinishedCampaign:
    r"""All judged outputs of one system, which stand for its pool of `size` outputs.

    Each replay has a pool of that size, in which every judged output is as often as needed. Mean
    judgments are not human scores: the mean of a pool of them is off from the mean human
    score :math:`\mu` by an error of variance :math:`\sigma_a^2\, \operatorname{mean}(1/m_i)/N`. What
    a replay draws varies about its output's mean judgment by :math:`1 - 1/m_i` of the rater variance
    only, and the two together make up the error of a new campaign. So each replay of a plan is held
    against a :math:`\mu` of its own, drawn about the mean of its pool with that variance.
    """

    sample: JudgedOutputs
    size: int
    first: Integers
    rater_variance: float
    half_width: float
    bounds: tuple[float, float]
    level: float
    look: int
    sizes: Floats | None = None

    @classmethod
    def of(
        cls,
        sample: JudgedOutputs,
        size: int,
        *,
        half_width: float,
        bounds: tuple[float, float],
        level: float,
        look: int,
        sizes: Floats | None = None,
    ) -> "FinishedCampaign":
        """Prepare a campaign of a pool of `size`; `sizes` hold one number for each judged output."""
        if sample.n_judgments == sample.n_outputs:
            raise NotEstimableError(
                "a replay needs outputs with two judgments, to tell rater noise: this campaign "
                "has none"
            )
        first = np.concatenate([[0], np.cumsum(sample.count)[:-1]])
        noise = one_way(sample).rater
        return cls(sample, size, first, noise, half_width, bounds, level, look, sizes)

    def outcomes(
        self,
        rule: Rule,
        *,
        with_metric: bool,
        strata: int,
        runs: int,
        seed: int,
        progress: Callable[[int], None] | None = None,
    ) -> list[Outcome]:
        """Replay one rule, the draws depending on the seed and the run alone.

        `progress`, if given, is called with the number of runs made.
        """
        if rule == "plan":
            act = self._planned(with_metric=with_metric, strata=strata)
        else:
            act = self._stopped(rule, with_metric=with_metric)
        found = []
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            pool = repeated(self.sample.n_outputs, self.size, rng)
            drawn = self.first[pool] + rng.integers(0, self.sample.count[pool])
            found.append(act(pool, self.sample.human[drawn], rng))
            if progress is not None:
                progress(run + 1)
        return found

    def _planned(self, *, with_metric: bool, strata: int) -> Callable[..., Outcome]:
        n = self._planned_number(with_metric=with_metric)
        unknown = np.sqrt(self.rater_variance * np.mean(1 / self.sample.count) / self.size)

        def act(pool: Integers, judged: Floats, rng: np.random.Generator) -> Outcome:
            seed = int(rng.integers(2**32))
            metric = self.sample.metric[pool] if with_metric else None
            labels = None
            if metric is not None and strata > 1:
                labels = quantile_strata(metric[:, 0], strata)
            if labels is not None:
                drawn = draw_sample(self.size, n, design="stratified", strata=labels, seed=seed)
            elif with_metric and self.sizes is not None:
                sizes = self.sizes[pool]
                drawn = draw_sample(
                    self.size, n, design="proportional-to-size", size=sizes, seed=seed
                )
            else:
                drawn = draw_sample(self.size, n, seed=seed)
            got = self._estimate(judged[drawn.positions], drawn, metric, labels)
            truth = rng.normal(float(self.sample.mean[pool].mean()), unknown)
            return Outcome(
                n,
                got.half_width <= self.half_width,
                got.half_width,
                got.estimate - truth,
                got.low <= truth <= got.high,
            )

        return act

    def _estimate(
        self,
        human: Floats,
        drawn: Draw,
        metric: Floats | None,
        labels: NDArray[np.int64] | None,
    ) -> Estimate:
        chosen = drawn.positions
        sample, known = drawn_outputs(
            human,
            None if metric is None else metric[chosen],
            chosen,
            recorded={
                "strata": None if labels is None else labels[chosen],
                "probability": drawn.probability,
            },
        )
        if labels is not None:
            sizes = dict(zip(*np.unique(labels, return_counts=True), strict=True))
            draw = stratified_draw(sample, known["strata"], sizes)
        else:
            draw = unequal_draw(sample, known["probability"], self.size)
        options = Options(level=self.level, rater_variance=self.rater_variance, bounds=self.bounds)
        if metric is None:
            return plain_mean(sample, draw, options=options)
        pool = PoolArray.of(metric)
        return corrected_mean(sample, draw, pool, slope="least-squares", options=options)

    def _planned_number(self, *, with_metric: bool) -> int:
        sample = self.sample
        found = efficiency_of(
            sample.human, sample.metric[sample.output], items=sample.output, level=_PILOT_LEVEL
        )
        assumed = Assumptions.of(found)
        made = plan(
            assumed if with_metric else assumed.without_metric(),
            half_width=self.half_width,
            pool_size=self.size,
            judgments_per_output=1,
            n_metrics=sample.n_metrics if with_metric else 0,
            level=self.level,
            rater_variance_given=True,
        )
        return made.conservative.outputs

    def _stopped(self, rule: Method, *, with_metric: bool) -> Callable[..., Outcome]:
        def act(pool: Integers, judged: Floats, rng: np.random.Generator) -> Outcome:
            metric = self.sample.metric[pool] if with_metric else None
            order = rng.permutation(self.size)
            sequence = ConfidenceSequence(
                metric,
                level=self.level,
                bounds=self.bounds,
                method=rule,
                pool_size=self.size,
                goal=self.half_width,
            )
            return self._watch(sequence, judged, order, metric)

        return act

    def _watch(
        self,
        sequence: ConfidenceSequence,
        judged: Floats,
        order: NDArray[np.int64],
        metric: Floats | None,
    ) -> Outcome:
        """Add judgments and look, until the interval is narrow enough or the pool is used up."""
        truth, held = float(judged.mean()), True
        for start in range(0, self.size, self.look):
            part = order[start : start + self.look]
            sequence.update(judged[part], None if metric is None else metric[part])
            held = held and sequence.low - _ROUNDING <= truth <= sequence.high + _ROUNDING
            if sequence.half_width <= self.half_width:
                break
        width, error = sequence.half_width, sequence.estimate - truth
        return Outcome(sequence.n, width <= self.half_width, width, error, held)


def repeated(judged: int, size: int, rng: np.random.Generator) -> Integers:
    """Return positions of judged units for a pool of `size`, each as often as that takes.

    What does not come out even is made up by as many units, chosen at random.
    """
    whole = np.tile(np.arange(judged), size // judged)
    rest = size % judged
    return np.concatenate([whole, rng.permutation(judged)[:rest]]) if rest else whole
