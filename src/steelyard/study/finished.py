"""A finished campaign of one system, ready to be replayed under any rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import (
    Draw,
    JudgedOutputs,
    PoolMoments,
    simple_draw,
    stratified_draw,
    unequal_draw,
)
from steelyard.design import draw_sample, plan, quantile_strata
from steelyard.design.sequence import Method
from steelyard.design.sequence.options import SequenceOptions
from steelyard.errors import NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import JudgedSystem
from steelyard.study.mean_pilot import MeanPilot
from steelyard.study.stopping_replay import Outcome, stopped_outcomes
from steelyard.variance import one_way

__all__ = ["FinishedCampaign", "Outcome", "Rule", "repeated"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rule = Literal["plan", "empirical-bernstein", "betting", "asymptotic"]
# Numbers in one array of replays, which bounds their memory.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class FinishedCampaign:
    r"""All judged outputs of one system, which stand for its pool of `size` outputs.

    `pool` holds every judged output as often as that size takes. Mean
    judgments are not human scores: the mean of a pool of them is off from the mean human
    score :math:`\mu` by an error of variance :math:`\sigma_a^2\, \operatorname{mean}(1/m_i)/N`. What
    a replay draws varies about its output's mean judgment by :math:`1 - 1/m_i` of the rater variance
    only, and the two together make up the error of a new campaign. So each replay of a plan is held
    against a :math:`\mu` of its own, drawn about the mean of its pool with that variance.
    """

    sample: JudgedOutputs
    pool: Integers
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
        noise = one_way(sample).rater
        pool = repeated(sample.n_outputs, size, np.random.default_rng(size))
        return cls(sample, pool, noise, half_width, bounds, level, look, sizes)

    @property
    def size(self) -> int:
        """Number of outputs of the pool."""
        return len(self.pool)

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
        told = progress or (lambda _: None)
        if rule != "plan":
            return self._stopped(rule, runs, seed, told, with_metric=with_metric)
        act = self._planned(with_metric=with_metric, strata=strata)
        found = []
        for run in range(runs):
            found.append(act(*self._judged(seed, run)))
            told(run + 1)
        return found

    def _judged(self, seed: int, run: int) -> tuple[Floats, np.random.Generator]:
        """Return one judgment of each output of the pool, and what further numbers come from."""
        rng = np.random.default_rng([seed, run])
        return self.sample.human[self.sample.one_each(self.pool, rng)], rng

    def _planned(self, *, with_metric: bool, strata: int) -> Callable[..., Outcome]:
        n = self._planned_number(with_metric=with_metric)
        metric = self._metric(with_metric=with_metric)
        pool = PoolMoments.of(metric)
        known = float(self.sample.mean[self.pool].mean())
        unknown = np.sqrt(self.rater_variance * np.mean(1 / self.sample.count) / self.size)
        options = Options(level=self.level, rater_variance=self.rater_variance, bounds=self.bounds)
        drawn = self._design(n, metric, strata)

        def act(judged: Floats, rng: np.random.Generator) -> Outcome:
            chosen, draw_of = drawn(int(rng.integers(2**32)))
            sample = JudgedOutputs.once(judged[chosen])
            # An output that the pool holds several times is one item: it never predicts itself.
            system = JudgedSystem(
                sample, draw_of(sample), metric[chosen], self.pool[chosen], None, pool
            )
            [got] = campaign_means([system], options=options, beside=False)
            if isinstance(got, NotEstimableError):
                raise got
            truth = rng.normal(known, unknown)
            return Outcome(
                n,
                got.half_width <= self.half_width,
                got.half_width,
                got.estimate - truth,
                got.low <= truth <= got.high,
            )

        return act

    def _metric(self, *, with_metric: bool) -> Floats:
        """Return the metrics of the pool, or none of them."""
        return self.sample.metric[self.pool, : None if with_metric else 0]

    def _design(
        self, n: int, metric: Floats, strata: int
    ) -> Callable[[int], tuple[Integers, Callable[[JudgedOutputs], Draw]]]:
        """Return what draws n outputs from a seed, and says of the sample how it was drawn."""
        if metric.shape[1] and strata > 1:
            labels = quantile_strata(metric[:, 0], strata)
            sizes = dict(zip(*np.unique(labels, return_counts=True), strict=True))

            def by_strata(seed: int) -> tuple[Integers, Callable[[JudgedOutputs], Draw]]:
                drawn = draw_sample(self.size, n, design="stratified", strata=labels, seed=seed)
                own = labels[drawn.positions]
                return drawn.positions, lambda sample: stratified_draw(sample, own, sizes)

            return by_strata
        if metric.shape[1] and self.sizes is not None:
            weight = self.sizes[self.pool]

            def by_size(seed: int) -> tuple[Integers, Callable[[JudgedOutputs], Draw]]:
                drawn = draw_sample(
                    self.size, n, design="proportional-to-size", size=weight, seed=seed
                )
                return (
                    drawn.positions,
                    lambda sample: unequal_draw(sample, drawn.probability, self.size),
                )

            return by_size

        def simply(seed: int) -> tuple[Integers, Callable[[JudgedOutputs], Draw]]:
            chosen = np.random.default_rng(seed).choice(self.size, n, replace=False)
            return chosen, lambda sample: simple_draw(sample, self.size)

        return simply

    def _planned_number(self, *, with_metric: bool) -> int:
        """Return the outputs that `steelyard plan` asks for from all judgments, with assurance."""
        sample, metric = self.sample, self._metric(with_metric=with_metric)
        everything = JudgedSystem(
            sample,
            simple_draw(sample, self.size),
            sample.metric[:, : metric.shape[1]],
            np.arange(sample.n_outputs),
            None,
            PoolMoments.of(metric),
        )
        known = MeanPilot.of_systems([everything], as_sample=False)
        made = plan(
            known.assumed,
            half_width=self.half_width,
            pool_size=self.size,
            judgments_per_output=1,
            n_metrics=metric.shape[1],
            level=self.level,
            judged=known.judged,
            rater_variance_given=True,
        )
        return (made.assured or made.expected).outputs

    def _stopped(
        self,
        rule: Method,
        runs: int,
        seed: int,
        told: Callable[[int], None],
        *,
        with_metric: bool,
    ) -> list[Outcome]:
        options = SequenceOptions(
            level=self.level,
            bounds=self.bounds,
            method=rule,
            pool_size=self.size,
            goal=self.half_width,
        )
        metric = self.sample.metric[self.pool]
        block = max(_AT_ONCE // self.size, 1)
        found: list[Outcome] = []
        for start in range(0, runs, block):
            human, orders = [], []
            for run in range(start, min(start + block, runs)):
                judged, rng = self._judged(seed, run)
                orders.append(rng.permutation(self.size))
                human.append(judged[orders[-1]])
            found += stopped_outcomes(
                np.stack(human),
                metric[np.stack(orders)] if with_metric else None,
                options,
                look=self.look,
                goal=self.half_width,
            )
            told(len(found))
        return found


def repeated(judged: int, size: int, rng: np.random.Generator) -> Integers:
    """Return positions of judged units for a pool of `size`, each as often as that takes.

    What does not come out even is made up by as many units, chosen at random.
    """
    whole = np.tile(np.arange(judged), size // judged)
    rest = size % judged
    return np.concatenate([whole, rng.permutation(judged)[:rest]]) if rest else whole
