"""Smaller campaigns drawn from a finished one."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.campaign.part import part_of
from steelyard.errors import NotEstimableError
from steelyard.model.anytime import same_variances
from steelyard.model.campaign import Bools, Campaign, Floats, Ints, Pools
from steelyard.model.fit import Fit, fit
from steelyard.questions.fitted import PromptFit
from steelyard.questions.monitor import LookedFit, looked

__all__ = ["Drawn", "Redraw"]

# Variances are learned again after so many times as many judgments.
_LEARN_AGAIN = 2.0


@dataclass(frozen=True, eq=False)
class Redraw:
    """A finished campaign whose judged items stand for the pool, each as often as it takes to fill it.

    Attributes
    ----------
    found : PromptFit
        The finished campaign.
    campaign : Campaign
        The same with pools that have the metrics of the judged outputs: what is drawn from.
    truth : (k,) array
        The mean score of each system's judged outputs.
    noise : (k,) array
        What the judgments' noise adds to the squared error of a mean and replays do not show: it is the
        same in all of them.
    """

    found: PromptFit
    campaign: Campaign
    truth: Floats
    noise: Floats

    @classmethod
    def of(cls, found: PromptFit) -> "Redraw":
        """Prepare a campaign for replays.

        Raises
        ------
        NotEstimableError
            If it holds preferences, or was not drawn simply.
        """
        campaign = found.fit.campaign
        if campaign.other is not None:
            raise NotEstimableError(
                f"prompt {found.prompt!r} asks which of two outputs is better: replays are of scores"
            )
        if campaign.weight is not None or found.collected.paired:
            raise NotEstimableError(
                f"prompt {found.prompt!r}: the outputs were not drawn simply at random, so the judged ones do "
                "not stand for the pool: replay a campaign with a simple draw"
            )
        smaller = replace(campaign, pools=_judged_pools(campaign))
        return cls(found, smaller, _truth(campaign), _noise(found.fit))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems."""
        return self.campaign.systems

    @property
    def most(self) -> int:
        """Outputs of the smallest pool."""
        return int(self.campaign.pools.size.min())

    @property
    def n_items(self) -> int:
        """Number of judged items."""
        return len(np.unique(self.campaign.item))

    def draw(self, rng: np.random.Generator, n: int) -> "Drawn":
        """Draw n items from the pool that the judged items fill, the same for all systems that were judged so."""
        campaign = self.campaign
        item = campaign.item[campaign.output]
        system = campaign.writers[campaign.output].argmax(axis=1)
        groups = [np.arange(campaign.n)]
        if not _same_items(campaign):
            groups = [np.flatnonzero(system == one) for one in range(campaign.k)]
        rows, copies, places = [], [], []
        for own in groups:
            judged = np.unique(item[own])
            filled = np.resize(rng.permutation(judged), max(self.most, n))
            order = rng.permutation(len(filled))[:n]
            copy = np.arange(len(filled))[order] // len(judged)
            for place, (one, number) in enumerate(zip(filled[order], copy, strict=True)):
                those = own[item[own] == one]
                rows.append(those)
                copies.append(np.full(len(those), number))
                places.append(np.full(len(those), place))
        return Drawn(self, np.concatenate(rows), np.concatenate(copies), np.concatenate(places))


@dataclass(eq=False)
class Drawn:
    """One draw of items, judged in its order."""

    redraw: Redraw
    rows: Ints
    copy: Ints
    place: Ints
    kept: Bools = field(init=False)
    near: Fit | None = field(default=None, init=False)
    _judged: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Begin without a judgment."""
        self.kept = np.zeros(len(self.rows), dtype=np.bool_)

    def judge(self, n: int, needing: Collection[str]) -> None:
        """Judge up to the n-th item, of the systems that still need judgments."""
        campaign = self.redraw.campaign
        inside = np.array([one in needing for one in campaign.systems])
        wanted = (campaign.writers[campaign.output[self.rows]] > 0) @ inside
        self.kept |= (self.place >= self._judged) & (self.place < n) & wanted
        self._judged = n

    def once(self) -> PromptFit:
        """Return the model of what was judged, which is looked at once."""
        part = self._part()
        return self._found(part, fit(part, near=self.redraw.found.fit))

    def looked(self, planned: float | None, *, exact: bool) -> LookedFit:
        """Return the model of what was judged so far, at one of many looks.

        Variances are those of a look before, as long as judgments have not become many more, unless `exact`.
        """
        part, near, known = self._part(), self.near, None
        if near is not None and part.n < _LEARN_AGAIN * near.campaign.n:
            known = near if part.n == near.campaign.n else None
            if known is None and not exact:
                known = same_variances(near, part)
        if known is None:
            known = self.near = fit(part, near=near or self.redraw.found.fit)
        return looked(self._found(part, known), planned)

    def _part(self) -> Campaign:
        part = part_of(self.redraw.campaign, self.rows[self.kept], self.copy[self.kept])
        judged = (part.writers > 0).sum(axis=0)
        if judged.min() < 2:
            raise NotEstimableError("an interval needs at least 2 judged outputs of each system")
        return part

    def _found(self, part: Campaign, known: Fit) -> PromptFit:
        wrote = part.writers > 0
        collected = replace(
            self.redraw.found.collected,
            campaign=part,
            rows=self.redraw.found.collected.rows.head(0),
            items=tuple(str(one) for one in range(int(part.item.max()) + 1)),
            n_outputs=wrote.sum(axis=0),
            n_judgments=wrote[part.output].sum(axis=0),
            system_notes={},
            notes=(),
        )
        return PromptFit(collected, known, self.redraw.found.slices)


def _same_items(campaign: Campaign) -> bool:
    """Whether all systems were judged on the same items."""
    judged = np.zeros((int(campaign.item.max()) + 1, campaign.k), dtype=np.bool_)
    np.logical_or.at(judged, campaign.item, campaign.writers > 0)
    return bool(judged.all())


def _truth(campaign: Campaign) -> Floats:
    """Return the mean over each system's judged outputs of the mean judgment."""
    times = np.bincount(campaign.output, minlength=len(campaign.item))
    mean = np.bincount(campaign.output, campaign.score, len(campaign.item)) / np.maximum(times, 1)
    wrote = (campaign.writers > 0) & (times > 0)[:, np.newaxis]
    return np.asarray((wrote * mean[:, np.newaxis]).sum(axis=0) / wrote.sum(axis=0))


def _noise(found: Fit) -> Floats:
    """Return the variance of the mean noise of the judgments of a whole pool."""
    theta = dict(zip(found.system.effects.names, found.variances.solution.theta, strict=True))
    campaign = found.campaign
    per_output = campaign.n / max(len(np.unique(campaign.output)), 1)
    return np.asarray(theta["noise"] * found.scale**2 / per_output / campaign.pools.size)


def _judged_pools(campaign: Campaign) -> Pools:
    """Return pools of the same size with the metrics of the judged outputs."""
    wrote = (campaign.writers > 0).astype(np.float64)
    share = wrote / wrote.sum(axis=0)
    mean = share.T @ campaign.metric
    off = campaign.metric[np.newaxis] - mean[:, np.newaxis]
    covariance = np.einsum("mk,kmp,kmq->kpq", share, off, off)
    return replace(campaign.pools, metric=mean, covariance=covariance)
