"""Which systems a metric favours: its means over the pools, put on the human scale, beside the people's."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from steelyard.model.campaign import Floats
from steelyard.model.fit import Answers
from steelyard.model.intervals import Intervals, intervals
from steelyard.model.simultaneous import Together, together
from steelyard.questions.diagnosis import RankAgreement, SystemOffset
from steelyard.questions.fitted import PromptFit
from steelyard.questions.judge_bias import BesidePeople
from steelyard.questions.judge_moments import Value, jackknife

__all__ = ["Offsets"]

# Draws of the means within their errors, for the pairs that are ordered alike.
_DRAWS, _SEED = 2_000, 20_291


@dataclass(frozen=True, eq=False)
class Offsets:
    """The human means of all systems with their errors, beside which metrics are held.

    Attributes
    ----------
    found : PromptFit
        The model.
    answers : Answers
        Its means.
    means : Intervals
        The same with intervals.
    against : (k, k) array
        Each system's difference from the mean of the others.
    pairs : list of (int, int)
        All pairs of the systems in question, and `told`, which of the two is better.
    systems : sequence of int
        The systems in question.
    """

    found: PromptFit
    answers: Answers
    means: Intervals
    against: Floats
    pairs: list[tuple[int, int]]
    told: Together | None
    systems: Sequence[int]
    level: float

    @classmethod
    def of(
        cls, found: PromptFit, answers: Answers, systems: Sequence[str], level: float
    ) -> "Offsets":
        """Return the human side of all offsets."""
        k = found.fit.campaign.k
        each = np.eye(k)
        # where texts are shared, the means of pools are what is compared, not those of systems
        against = (k * each - 1) / max(k - 1, 1)
        chosen = [place for place, one in enumerate(found.systems) if one in systems]
        pairs = list(combinations(chosen, 2))
        forms = np.array([each[a] - each[b] for a, b in pairs])
        return cls(
            found=found,
            answers=answers,
            means=intervals(found.fit, answers, each, level),
            against=against,
            pairs=pairs,
            told=together(found.fit, answers, forms, level) if pairs else None,
            systems=chosen,
            level=level,
        )

    @property
    def score(self) -> Floats:
        """The judgments."""
        return self.found.fit.campaign.score

    def _offset(self, form: Floats, metric: Floats, beside: BesidePeople, level: float) -> Value:
        """Return a form of the metric's means on the human scale, less that of the human means."""
        variance, freedom = jackknife(beside.to_human)
        variance += beside.assumed_variance
        apart = float(form @ metric)
        scaled = float(beside.to_human[0]) * apart
        value = scaled - float(form @ self.answers.mean)
        of_human = float(form @ self.answers.covariance @ form)
        of_scale = variance * apart**2
        square = max(of_human + of_scale, 1e-300)
        of_mean = float(self.found.fit.degrees_of_freedom(form[np.newaxis], self.answers)[0])
        joint = square**2 / (of_human**2 / max(of_mean, 1) + of_scale**2 / max(freedom, 1))
        reach = float(stdtrit(max(joint, 1.0), (1 + level) / 2)) * float(np.sqrt(square))
        return Value(value, value - reach, value + reach)

    def of_systems(self, place: int, beside: BesidePeople) -> tuple[SystemOffset, ...]:
        """Return how much a metric favours each system."""
        campaign = self.found.fit.campaign
        metric, k = campaign.pools.metric[:, place], campaign.k
        strict = self.level ** (1 / k)
        middle = float(self.answers.mean.mean())
        shown = middle + beside.to_human[0] * (metric - metric.mean())
        found = []
        for one in self.systems:
            offset, is_clear = None, False
            if k > 1:
                form = self.against[one]
                offset = self._offset(form, metric, beside, self.level)
                is_clear = self._offset(form, metric, beside, strict).excludes_zero
            found.append(
                SystemOffset(
                    system=campaign.systems[one],
                    metric=float(metric[one]),
                    on_human_scale=float(shown[one]),
                    human=Value(
                        float(self.means.estimate[one]),
                        float(self.means.low[one]),
                        float(self.means.high[one]),
                    ),
                    offset=offset,
                    is_clear=is_clear,
                )
            )
        return tuple(found)

    def of_family(self, place: int, beside: BesidePeople, own: Sequence[str]) -> Value | None:
        """Return how much a metric favours some systems beside all others; None without both."""
        campaign = self.found.fit.campaign
        inside = np.array([one in own for one in campaign.systems])
        if not own or not inside.any() or inside.all():
            return None
        form = inside / inside.sum() - ~inside / (~inside).sum()
        return self._offset(form, campaign.pools.metric[:, place], beside, self.level)

    def ranks(self, place: int, beside: BesidePeople) -> RankAgreement | None:
        """Return whether a metric orders systems as people do."""
        campaign = self.found.fit.campaign
        if self.told is None:
            return None
        metric = np.sign(beside.to_human[0]) * campaign.pools.metric[:, place]
        a, b = np.array(self.pairs).T
        sign = np.sign(metric[a] - metric[b])
        mean, names = self.answers.mean, campaign.systems
        values, vectors = np.linalg.eigh(self.answers.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        drawn = np.random.default_rng(_SEED).standard_normal((campaign.k, _DRAWS))
        means = mean[:, np.newaxis] + root @ drawn
        alike = np.mean(np.sign(means[a] - means[b]) == sign[:, np.newaxis], axis=0)
        low, high = np.quantile(alike, [(1 - self.level) / 2, (1 + self.level) / 2])
        value = float(np.mean(np.sign(mean[a] - mean[b]) == sign))
        decided = self.told.decided
        wrong = [
            (names[one], names[other]) if way > 0 else (names[other], names[one])
            for (one, other), way, own in zip(self.pairs, decided, sign, strict=True)
            if way and own == -way
        ]
        return RankAgreement(
            alike=Value(value, min(float(low), value), max(float(high), value)),
            decided=int(np.count_nonzero(decided)),
            wrong=tuple(wrong),
        )
