"""All judgments of a finished campaign, as a population to draw smaller campaigns from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, clustered, simple_draw, spread_draw
from steelyard.design.spread import spread_sample
from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import JudgedSystem

__all__ = ["JudgedCampaign", "SmallerCampaign"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Systems are drawn on the same items if so large a part of what was judged of each was judged of all.
_SAME = 0.9


@dataclass(frozen=True, eq=False)
class SmallerCampaign:
    """What a replay draws.

    Attributes
    ----------
    systems : list of JudgedSystem
        The drawn outputs of each, with one judgment of each text.
    paid : (k,) array
        Judgments of each system; one that counts for several is shared among them.
    """

    systems: list[JudgedSystem]
    paid: Floats


@dataclass(frozen=True, eq=False)
class JudgedCampaign:
    """Every judged output of all systems under one prompt, with all its judgments.

    Attributes
    ----------
    systems : sequence of JudgedSystem
        The systems; if they have `together`, the same items of each, in the same order.
    sizes : sequence of int
        Outputs in the pool of each.
    together : bool
        Whether replays draw the same items for all systems, as they were judged.
    """

    systems: Sequence[JudgedSystem]
    sizes: Sequence[int]
    together: bool

    @classmethod
    def of(cls, systems: Sequence[JudgedSystem], sizes: Sequence[int]) -> "JudgedCampaign":
        """Take the items that were judged of all systems, if these are most of what was judged."""
        common = systems[0].items
        for one in systems[1:]:
            common = np.intersect1d(common, one.items)
        most = max(len(one.items) for one in systems)
        together = len(common) >= max(_SAME * most, 2)
        whole = []
        for one, size in zip(systems, sizes, strict=True):
            chosen = np.isin(one.items, common) if together else np.ones(len(one.items), dtype=bool)
            kept = _restricted(one, chosen)
            whole.append(
                replace(kept, draw=clustered(simple_draw(kept.sample, size), kept.clusters))
            )
        if not together:
            # Each system is drawn on its own: no judgment of a draw counts for two.
            whole = [replace(one, texts=None) for one in whole]
        return cls(whole, sizes, together)

    @property
    def judged(self) -> list[int]:
        """Number of judged outputs of each system."""
        return [one.sample.n_outputs for one in self.systems]

    @cached_property
    def _owner(self) -> Integers | None:
        """The first system (k, C) that wrote the text of each output; None if no text is shared."""
        texts = [one.texts for one in self.systems if one.texts is not None]
        if len(texts) < len(self.systems) or not self.together:
            return None
        code = np.stack(texts)
        return np.asarray((code[:, np.newaxis] == code[np.newaxis]).argmax(axis=0))

    def drawn(
        self, n: int, rng: np.random.Generator, *, by: Sequence[Floats] | None = None
    ) -> SmallerCampaign:
        """Draw n outputs of each system, with one judgment of each text.

        Parameters
        ----------
        n : int
            Outputs to draw of each system.
        rng : numpy.random.Generator
            Source of randomness.
        by : sequence of (C,) or (C, p) array, optional
            Values that draws are spread by, of each system, or one for all if they are drawn
            together; simple draws by default.
        """
        number = 1 if self.together else len(self.systems)
        draws = [self._positions(one, n, rng, by) for one in range(number)]
        draws *= len(self.systems) // number
        judgments = [self._one_each(one, chosen, rng) for one, (chosen, _) in enumerate(draws)]
        paid = np.full(len(self.systems), float(n))
        texts: Sequence[Integers | None] = [None] * len(self.systems)
        if self._owner is not None:
            owner = self._owner[:, draws[0][0]]
            scores, raters = (np.stack(given) for given in zip(*judgments, strict=True))
            judgments = [(scores[own, np.arange(n)], raters[own, np.arange(n)]) for own in owner]
            writers = (owner[:, np.newaxis] == owner[np.newaxis]).sum(axis=0)
            paid = (1 / writers).sum(axis=1)
            texts = list(owner * n + np.arange(n))
        systems = [
            _judged_once(one, size, draw, given, text)
            for one, size, draw, given, text in zip(
                self.systems, self.sizes, draws, judgments, texts, strict=True
            )
        ]
        return SmallerCampaign(systems, paid)

    def plain_means(
        self, number: int, n: int, runs: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Return the mean and standard deviation of n judgments of one system, of so many draws.

        Outputs are drawn without replacement, with one judgment of each.
        """
        sample = self.systems[number].sample
        chosen = np.argsort(rng.random((runs, sample.n_outputs)), axis=1)[:, :n]
        scores = sample.human[sample.one_each(chosen, rng)]
        return scores.mean(axis=1), scores.std(axis=1, ddof=1)

    def plain_variance(self, number: int, n: int) -> float:
        r"""Return the variance of such a mean over draws.

        Means of the J outputs vary by :math:`S^2`, and their judgments by :math:`s_i^2` (divided by their number)
        about them: :math:`S^2 (1/n - 1/J) + \operatorname{mean}(s_i^2)/n`.
        """
        sample = self.systems[number].sample
        between = float(sample.mean.var(ddof=1)) * (1 / n - 1 / sample.n_outputs)
        return between + float(np.mean(sample.within / sample.count)) / n

    def _positions(
        self, number: int, n: int, rng: np.random.Generator, by: Sequence[Floats] | None
    ) -> tuple[Integers, Floats | None]:
        """Return which outputs of a system are drawn, in order, and their places if they are spread."""
        if by is None:
            return np.sort(rng.permutation(self.judged[number])[:n]), None
        chosen, place = spread_sample(by[number], n, rng=rng)
        order = np.argsort(chosen)
        return chosen[order], 1 + place[order]

    def _one_each(
        self, number: int, chosen: Integers, rng: np.random.Generator
    ) -> tuple[Floats, Integers]:
        """Return one judgment of each chosen output, and who gave it; rater 0 where nobody is known."""
        one = self.systems[number]
        at = one.sample.one_each(chosen, rng)
        raters = np.zeros(len(at), dtype=np.int64) if one.raters is None else one.raters[at]
        return one.sample.human[at], raters


def _judged_once(
    system: JudgedSystem,
    size: int,
    draw: tuple[Integers, Floats | None],
    given: tuple[Floats, Integers],
    texts: Integers | None,
) -> JudgedSystem:
    """Return a system with the chosen outputs, each judged once."""
    (chosen, place), (scores, raters) = draw, given
    known = None if system.raters is None else raters
    sample = JudgedOutputs.once(scores, raters=known)
    made = simple_draw(sample, size) if place is None else spread_draw(sample, place, size)
    clusters = None if system.clusters is None else system.clusters[chosen]
    return JudgedSystem(
        sample=sample,
        draw=clustered(made, clusters),
        metric=system.metric[chosen],
        items=system.items[chosen],
        raters=known,
        pool=system.pool,
        clusters=clusters,
        texts=texts,
    )


def _restricted(system: JudgedSystem, chosen: NDArray[np.bool_]) -> JudgedSystem:
    """Return a system with some of its outputs, and all judgments of these."""
    if not chosen.any():
        raise NotEstimableError("no output of a system was judged that could be replayed")
    sample = system.sample
    kept = chosen[sample.output]
    raters = None if system.raters is None else system.raters[kept]
    return replace(
        system,
        sample=replace(
            sample,
            mean=sample.mean[chosen],
            count=sample.count[chosen],
            within=sample.within[chosen],
            metric=sample.metric[chosen],
            human=sample.human[kept],
            output=(np.cumsum(chosen) - 1)[sample.output[kept]],
            rater=None if raters is None else np.unique(raters, return_inverse=True)[1],
        ),
        metric=system.metric[chosen],
        items=system.items[chosen],
        raters=raters,
        clusters=None if system.clusters is None else system.clusters[chosen],
        texts=None if system.texts is None else system.texts[chosen],
    )
