"""Smaller campaigns drawn from a finished one."""

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from steelyard.campaign.part import part_of
from steelyard.errors import NotEstimableError
from steelyard.model.anytime import same_variances
from steelyard.model.campaign import Bools, Campaign, Floats, Ints, Pools
from steelyard.model.fit import Fit, fit
from steelyard.questions.fitted import PromptFit
from steelyard.questions.monitor import LookedFit

__all__ = ["Drawn", "Redraw"]

# Variances are learned again after so many times as many judgments.
_LEARN_AGAIN = 1.25


@dataclass(frozen=True, eq=False)
class Redraw:
    """A finished campaign whose judged items stand for the pool, each as often as it takes to fill it.

    Attributes
    ----------
    found : PromptFit
        The campaign, with pools that have the metrics of the judged outputs.
    truth : (k,) array
        The mean score of each system's judged outputs.
    noise : (k,) array
        What the judgments' noise adds to the squared error of a mean and replays do not show: it is the
        same in all of them.
    most : int
        Outputs of the smallest pool.
    same_items : bool
        Whether systems get the same items, where the campaign has the same for all.
    """

    found: PromptFit
    prompt: str
    systems: tuple[str, ...]
    truth: Floats
    noise: Floats
    most: int
    same_items: bool

    @classmethod
    def of(cls, found: PromptFit, *, same_items: bool) -> "Redraw":
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
        known = found.collected
        smaller = replace(campaign, pools=_judged_pools(campaign))
        truth, noise = _truth(campaign), _noise(found.fit)
        chosen = replace(found, collected=replace(known, campaign=smaller))
        return cls(
            chosen,
            found.prompt,
            campaign.systems,
            truth,
            noise,
            int(campaign.pools.size.min()),
            same_items,
        )

    @property
    def campaign(self) -> Campaign:
        """What is drawn from."""
        return self.found.collected.campaign

    @property
    def k(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_items(self) -> int:
        """Number of judged items."""
        return len(np.unique(self.campaign.item))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of all pairs of systems."""
        return list(combinations(range(self.k), 2))

    def draw(self, rng: np.random.Generator, n: int) -> "Drawn":
        """Draw n items from the pool that the judged items fill, the same for all systems or not."""
        campaign = self.campaign
        item = campaign.item[campaign.output]
        system = campaign.writers[campaign.output].argmax(axis=1)
        together = self.same_items and _same_items(campaign)
        groups = [np.arange(campaign.n)]
        if not together:
            groups = [np.flatnonzero(system == one) for one in range(self.k)]
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
        return Drawn(self, np.concatenate(rows), np.concatenate(copies), np.concatenate(places), n)


@dataclass(eq=False)
class Drawn:
    """One draw of items, judged in its order."""

    redraw: Redraw
    rows: Ints
    copy: Ints
    place: Ints
    n: int
    kept: Bools = field(init=False)
    near: Fit | None = field(default=None, init=False)
    _judged: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Begin without a judgment."""
        self.kept = np.zeros(len(self.rows), dtype=np.bool_)

    def judge(self, n: int, inside: Bools) -> None:
        """Judge up to the n-th item, of the systems that still need judgments."""
        campaign = self.redraw.campaign
        wanted = inside @ (campaign.writers[campaign.output[self.rows]] > 0).T
        self.kept |= (self.place >= self._judged) & (self.place < n) & (wanted > 0)
        self._judged = n

    def all(self) -> PromptFit:
        """Return the model of all that was drawn."""
        self.judge(self.n, np.ones(self.redraw.k, dtype=np.bool_))
        part = self._part()
        return self._found(part, fit(part))

    def so_far(self, planned: float | None) -> LookedFit:
        """Return the model of what was judged so far, at one of many looks."""
        part = self._part()
        near = self.near
        known = None
        if near is not None and part.n < _LEARN_AGAIN * near.campaign.n:
            known = same_variances(near, part)
        if known is None:
            known = self.near = fit(part)
        found = self._found(part, known)
        return LookedFit(found.collected, found.fit, found.slices, planned=planned)

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
