r"""Differences between the systems of a campaign, all pairs at once.

A difference is the difference of two linear forms in the same judgments, so what the two systems share cancels: the
item, the rater, and identical outputs, which differ by exactly zero. With :math:`q` the share of items on which
the outputs of a and b differ, known from their texts, and means over judged outputs of such items,
:math:`\hat d = q (\bar y_a - \bar y_b)` has :math:`q^2` times the variance of `pair_variance`, with
parts for raters and the finite pool. Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from steelyard.errors import NotEstimableError
from steelyard.estimate.compared_judgments import (
    ComparedJudgments,
    PairError,
    Shared,
    differing_outputs,
)
from steelyard.estimate.controlled import JudgedSystem, judgments_paid
from steelyard.estimate.ledger import Ledger
from steelyard.estimate.options import Options, Raters
from steelyard.estimate.pair_neighbours import between_neighbours
from steelyard.estimate.simultaneous import Together, contrasts_of

__all__ = ["Difference", "Mix", "Shared", "campaign_differences"]

Floats = NDArray[np.float64]
# Slices of a pair with their weights.
Mix = Sequence[tuple[float, Shared]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The mean of system a minus that of system b.

    Attributes
    ----------
    a, b : int
        Numbers of the systems.
    difference, standard_error, degrees_of_freedom : float
        The estimate and its error.
    low, high, simultaneous_low, simultaneous_high : float
        Its interval alone, and together with those of all pairs.
    p_value : float
        Of no difference, two-sided, corrected for all pairs, by steps from the clearest pair down.
    deciding_reach : float
        A difference beyond it is decided, if all clearer ones are.
    n_items, identical_items : int
        Judged items that both share and differ on, and items with identical outputs.
    n_judgments : int
        Judgments that the difference rests on.
    raters : {"fixed", "random", "adjusted"} or None
        How raters are seen: fixed where nothing shows how much they differ. None for as asked.
    ledger : Ledger or None
        Judgments that two plain means would need for this interval, and what saved them.
    """

    a: int
    b: int
    difference: float
    standard_error: float
    degrees_of_freedom: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p_value: float
    deciding_reach: float
    n_items: int
    identical_items: int
    n_judgments: int
    raters: Raters | None = None
    ledger: Ledger | None = None


def campaign_differences(
    systems: Sequence[JudgedSystem],
    pairs: Sequence[tuple[int, int]],
    shared: Sequence[Shared | Mix],
    *,
    options: Options,
    seed: int = 0,
) -> list[Difference | NotEstimableError]:
    """Estimate differences of systems, with intervals that hold alone and all together.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        All systems of the campaign.
    pairs : sequence of (int, int)
        Which to compare.
    shared : sequence of Shared, or of mixes
        What each pair has in common; or slices of it with their weights, of which the weighted sum
        of differences is estimated.
    options : Options
        Target, raters and level.
    seed : int
        Seed of the simulated joint distribution.

    Returns
    -------
    list of Difference or NotEstimableError
        One for each pair, or why there is none.
    """
    campaign = ComparedJudgments.of(systems, options)
    contrasts: list[_Contrast | NotEstimableError] = []
    for pair, common in zip(pairs, shared, strict=True):
        mix = ((1.0, common),) if isinstance(common, Shared) else common
        try:
            if campaign.options.raters_as != options.raters_as:
                campaign.check_scale(pair)
            contrasts.append(_Contrast.of(campaign, pair, mix))
        except NotEstimableError as error:
            contrasts.append(error)
    known = [one for one in contrasts if isinstance(one, _Contrast)]
    varying = [one for one in known if one.varies]
    together = _together(varying, options.level, seed)
    steps = together.steps(
        np.array([one.p_value for one in varying]), [one.nodes for one in varying]
    )
    stepped = zip(steps.p_values.tolist(), steps.levels.tolist(), strict=True)
    ledgers = _Ledgers(campaign)
    return [
        replace(
            one.difference(
                campaign.options,
                together.level,
                *(next(stepped) if one.varies else (one.p_value, together.level)),
            ),
            ledger=ledgers.of(one, common)
            if isinstance(common, Shared) and options.ledger
            else None,
        )
        if isinstance(one, _Contrast)
        else one
        for one, common in zip(contrasts, shared, strict=True)
    ]


def _together(contrasts: Sequence["_Contrast"], level: float, seed: int) -> Together:
    """Return what these differences need to hold together."""
    influences = np.array([one.influence for one in contrasts], ndmin=2)
    apart = contrasts_of([one.nodes for one in contrasts])
    units = int(influences.any(axis=0).sum())
    return Together(influences, apart, units=units, level=level, seed=seed)


@dataclass(frozen=True, eq=False)
class _Part:
    """What one slice, or the whole pool, adds to a difference; its error is without leniency."""

    estimate: float
    errors: tuple[PairError, ...]
    weights: Floats
    influence: Floats
    n_items: int
    n_judgments: int

    @classmethod
    def of(
        cls,
        campaign: ComparedJudgments,
        pair: tuple[int, int],
        shared: Shared,
        weight: float,
    ) -> "_Part":
        outputs = (differing_outputs(shared.differs[0]), differing_outputs(shared.differs[1]))
        both = campaign.scores_of(pair, outputs)
        weights, ratio = campaign.contrast(pair, outputs)
        errors = campaign.error(pair, outputs, both, ratio)
        influence = np.zeros(campaign.n_units)
        for sign, side in ((1, both.a), (-1, both.b)):
            np.add.at(influence, side.units, sign * side.residual / len(side.scores))
        found = campaign.mean_difference(pair, both, weights)
        if shared.metric is not None:
            found += float(campaign.slopes[pair[0]] @ shared.metric[0])
            found -= float(campaign.slopes[pair[1]] @ shared.metric[1])
        errors = tuple(
            campaign.about(error, pair, outputs, both, shared=shared, found=found)
            for error in errors
        )
        share = weight * shared.share
        return cls(
            share * found,
            tuple(PairError(share**2 * one.value, share**4 * one.doubt) for one in errors),
            share * weights,
            share * between_neighbours(influence, campaign.beside),
            len(both.in_a),
            int(both.a.count.sum() + both.b.count.sum()),
        )


@dataclass(frozen=True, eq=False)
class _Contrast:
    """A difference before its interval."""

    pair: tuple[int, int]
    estimate: float
    errors: tuple[PairError, ...]
    influence: Floats
    n_items: int
    identical: int
    n_judgments: int
    group: int

    @classmethod
    def of(cls, campaign: ComparedJudgments, pair: tuple[int, int], mix: Mix) -> "_Contrast":
        # Identical outputs of a slice differ by nothing, and count as that.
        parts = [
            _Part.of(campaign, pair, one, weight) for weight, one in mix if not one.all_identical
        ]
        identical = sum(one.identical for _, one in mix)
        group = mix[0][1].group
        influence = np.zeros(campaign.units)
        if not parts:
            return cls(pair, 0.0, (PairError(0.0, 0.0),), influence, 0, identical, 0, group)
        for part in parts:
            influence[: campaign.n_units] += part.influence
        errors = tuple(
            PairError(sum(one.value for one in each), sum(one.doubt for one in each))
            for each in zip(*(part.errors for part in parts), strict=False)
        )
        lenient = campaign.leniency
        if lenient is not None:
            by_rater = lenient.per_rater(np.sum([part.weights for part in parts], axis=0))
            total = float(by_rater @ by_rater)
            doubt = total**2 * float(lenient.components.covariance[1, 1])
            errors = tuple(
                PairError(one.value + lenient.variance * total, one.doubt + doubt) for one in errors
            )
            influence[campaign.n_units :] = np.sqrt(lenient.variance) * by_rater
        return cls(
            pair,
            sum(part.estimate for part in parts),
            errors,
            influence,
            sum(part.n_items for part in parts),
            identical,
            sum(part.n_judgments for part in parts),
            group,
        )

    @property
    def nodes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The two systems, in their slice."""
        return (self.group, self.pair[0]), (self.group, self.pair[1])

    @property
    def varies(self) -> bool:
        """Whether the difference has an error at all."""
        return max(one.value for one in self.errors) > 0

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference, by itself."""
        if not self.varies:
            return 1.0 if self.estimate == 0 else 0.0
        return max(
            float(2 * stdtr(one.freedom, -abs(self.estimate) / np.sqrt(one.value)))
            for one in self.errors
            if one.value > 0
        )

    def reach(self, level: float) -> float:
        """Return half the length of the interval."""
        return max(one.reach(level) for one in self.errors)

    def difference(
        self, options: Options, together: float, p_value: float, deciding: float
    ) -> Difference:
        """Return the difference with its intervals."""
        alone, all_of_them = self.reach(options.level), self.reach(together)
        longest = max(self.errors, key=lambda one: one.reach(options.level))
        return Difference(
            a=self.pair[0],
            b=self.pair[1],
            difference=self.estimate,
            standard_error=float(np.sqrt(longest.value)),
            degrees_of_freedom=longest.freedom,
            low=self.estimate - alone,
            high=self.estimate + alone,
            simultaneous_low=self.estimate - all_of_them,
            simultaneous_high=self.estimate + all_of_them,
            p_value=p_value,
            deciding_reach=self.reach(deciding),
            n_items=self.n_items,
            identical_items=self.identical,
            n_judgments=self.n_judgments,
            raters=options.raters_as,
        )


class _Ledgers:
    """What each device saved of the judgments that two plain means would need for a difference."""

    def __init__(self, campaign: ComparedJudgments) -> None:
        raters_as = campaign.options.raters_as
        random = replace(campaign.options, raters_as="fixed" if raters_as == "fixed" else "random")
        endless = replace(campaign, noise=None)
        own = replace(endless, tails=None)
        usual = replace(own, options=random)
        self._campaign = campaign
        # The campaign as it is seen with one device more than before.
        self._stages = (
            *([("spread", usual.raw)] if campaign.beside is not None else []),
            *([("control", usual)] if campaign.slopes.shape[1] else []),
            *([("raters", own)] if raters_as == "adjusted" else []),
            *([("other_systems", endless)] if campaign.tails is not None else []),
            *([("without_replacement", campaign)] if campaign.noise is not None else []),
        )
        self._plain = replace(usual.raw, options=replace(random, target="pool"), beside=None)

    def of(self, found: _Contrast, shared: Shared) -> Ledger | None:
        """Return the ledger of a difference; None where it has no error."""
        level = self._campaign.options.level
        clustered = any(one.clusters is not None for one in self._campaign.systems)
        if not found.varies or clustered:
            return None
        start = self._plain.apart(found.pair, level)
        every = np.ones_like(shared.differs[0]), np.ones_like(shared.differs[1])
        stages = []
        if any(self._campaign.systems[number].sample.count.max() > 1 for number in found.pair):
            stages.append(("repeats", self._plain.apart_reach(found.pair, every, level)))
        if shared.identical:
            reach = shared.share * self._plain.apart_reach(found.pair, shared.differs, level)
            stages.append(("identity", reach))
        stages += [
            (name, _Contrast.of(seen, found.pair, ((1.0, shared),)).reach(level))
            for name, seen in (("pairing", self._plain), *self._stages)
        ]
        both = [self._campaign.systems[number] for number in found.pair]
        return start.ledger(stages, used=sum(judgments_paid(both)))
