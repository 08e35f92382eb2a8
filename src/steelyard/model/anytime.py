"""Intervals that hold at all looks: a look is an interval of one look at a stricter level."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_ndtr, ndtr, ndtri, stdtrit

from steelyard.model.campaign import Campaign, Floats
from steelyard.model.effects import effects
from steelyard.model.fit import Answers, Fit
from steelyard.model.forms import squares
from steelyard.model.reml import System, Variances

__all__ = [
    "FAR",
    "Looks",
    "growth_needed",
    "half_widths_later",
    "later",
    "looks_at",
    "same_variances",
]

# Without a planned end the mixture is as tight as it can be at about eight times so many judgments.
_MIXED = 10.0
# Past a planned end: the mixture is as tight as it can be at about the end.
_MIXED_PAST = 1 / 8
# An estimate so many times less likely than the level allows decides at any look.
_RARE = 1e-5
# Effects of which nothing is left to know once all outputs of a pool are judged.
_OF_POOLS = frozenset({"cluster", "item", "text", "output", "observed", "design"})
_KNOWN_BEFORE = frozenset({"metrics", "own slopes"})
_FARTHEST = 35.0
# More judgments than this many times those at hand are no forecast.
FAR, _STEPS = 25.0, 60


@dataclass(frozen=True, eq=False)
class Looks:
    """How far along f forms are, and how wide that makes intervals that hold at all looks.

    With a planned end the boundary is that of O'Brien and Fleming, looked at continuously; past the end and
    without one it is a normal mixture.

    Attributes
    ----------
    information : (f,) array
        Squared error at the planned end over the squared error now; 0 without a planned end.
    worth : (f,) array
        How many independent judgments each form's error is worth, beside what metrics explain.
    """

    information: Floats
    worth: Floats

    @property
    def _planned(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        return (self.information > 0) & (self.information <= 1 + 1e-9)

    @property
    def _mixing(self) -> tuple[Floats, Floats]:
        """The mixture's ratio of time to tuning, and by how much its chance is raised."""
        past = self.information > 0
        ratio = np.where(past, self.information / _MIXED_PAST, self.worth / _MIXED)
        return np.clip(ratio, 1e-9, 1e6), np.where(past, np.log(2), 0.0)

    def once(self, score: Floats) -> Floats:
        """Return the normal score of one look that is as unlikely as these scores are at any look.

        Parameters
        ----------
        score : (f,) array
            Estimates over their errors, on the normal scale.
        """
        z = np.minimum(np.abs(score), _FARTHEST)
        at_end = np.log(2) + log_ndtr(-z * np.sqrt(np.minimum(self.information, 1.0)))
        at_end = np.minimum(at_end, log_ndtr(-z) - np.log(_RARE))
        ratio, raised = self._mixing
        mixed = np.log1p(ratio) / 2 - z**2 / (2 * (1 + 1 / ratio)) - np.log(2) + raised
        tail = np.minimum(np.where(self._planned, at_end, mixed), np.log(0.5))
        return np.asarray(np.sign(score) * -ndtri(np.exp(tail)))

    def critical(self, once: float) -> Floats:
        """Return the normal score at this look that is as unlikely as a score of one look, (f,).

        Parameters
        ----------
        once : float
            The score of one look.
        """
        tail = float(ndtr(-once))
        with np.errstate(divide="ignore"):
            at_end = -ndtri(tail / 2) / np.sqrt(np.minimum(self.information, 1.0))
        at_end = np.minimum(at_end, -ndtri(tail * _RARE))
        ratio, raised = self._mixing
        square = (1 + 1 / ratio) * (np.log1p(ratio) + 2 * raised - 2 * np.log(2 * tail))
        return np.asarray(np.where(self._planned, at_end, np.sqrt(np.maximum(square, once**2))))


def later(fit: Fit, answers: Answers, forms: Floats, share: Floats) -> Floats:
    """Return the squared errors of forms when the judgments now are a share of all, (..., f).

    Errors fall with the number of judgments; of what belongs to outputs of the pool nothing is left when
    all are judged. Raters are taken to grow in number with the judgments.

    Parameters
    ----------
    fit, answers
        The model and its means now.
    forms : (f, k) array
        The weight of each mean in each form.
    share : (..., k) array
        Judgments of each system now over those then.
    """
    campaign, none = fit.campaign, np.zeros_like(answers.covariance)
    judged = (campaign.writer_rows[np.unique(campaign.output)] > 0).sum(axis=0)
    size = np.maximum(campaign.pools.size, judged)
    then = np.minimum(judged / share, size)
    now_open = np.maximum(1 - judged / size, 1e-9)
    of_pool = share * np.maximum(1 - then / size, 0.0) / now_open
    found = np.zeros((*share.shape[:-1], len(forms)))
    for kept, inside in ((of_pool, True), (share, False)):
        part = sum((v for one, v in answers.parts.items() if (one in _OF_POOLS) == inside), none)
        scaled = forms * np.sqrt(kept)[..., np.newaxis, :]
        found += ((scaled @ part) * scaled).sum(axis=-1)
    return np.maximum(found, 0.0)


def looks_at(fit: Fit, answers: Answers, forms: Floats, share: Floats | None) -> Looks:
    """Return how far along forms of the means are.

    Parameters
    ----------
    fit, answers
        The model and its means.
    forms : (f, k) array
        The weight of each mean in each form.
    share : (k,) array or None
        Judgments of each system over those planned; None without a plan.
    """
    now = np.maximum(squares(forms, answers.covariance), 1e-300)
    # what metrics explain is known before anything is judged
    of_one = [v for one, v in fit.variance_of_one.items() if one not in _KNOWN_BEFORE]
    of_forms = forms**2 @ np.sum(of_one, axis=0)
    # a difference of a system and itself has no error, whatever one looks at
    worth = np.where(of_forms > 0, of_forms / now, 1.0)
    if share is None:
        return Looks(np.zeros(len(forms)), worth)
    # what is past the end for one system counts as past for the forms that hold it
    return Looks(np.maximum(later(fit, answers, forms, share) / now, 1e-6), worth)


def half_widths_later(
    fit: Fit,
    answers: Answers,
    forms: Floats,
    *,
    share: Floats | None,
    now: Floats,
    once: float,
    growth: Floats,
) -> Floats:
    """Return the half-widths of forms after so many times as many judgments, (g, f).

    Parameters
    ----------
    fit, answers, forms, share
        As in `looks_at`.
    now : (f,) array
        Half-widths now.
    once : float
        The normal score of one look on which the half-widths rest.
    growth : (g,) array
        Judgments then over those now.
    """
    freedom = fit.degrees_of_freedom(forms, answers)
    start = looks_at(fit, answers, forms, share)
    square = np.maximum(squares(forms, answers.covariance), 1e-300)
    times = np.concatenate([[1.0], growth])[:, np.newaxis]
    then = later(fit, answers, forms, np.repeat(1 / times, fit.campaign.k, axis=1))
    ratio = square / np.maximum(then, 1e-300)
    looks = Looks(start.information * ratio, start.worth * ratio)
    half = -stdtrit(freedom * times, ndtr(-looks.critical(once))) * np.sqrt(then)
    # skewness and ends of the scale stay as they are
    stretch = np.where(now > 0, now / np.maximum(half[0], 1e-300), 1.0)
    return np.asarray(stretch * half[1:])


def growth_needed(
    fit: Fit,
    answers: Answers,
    forms: Floats,
    *,
    share: Floats | None,
    now: Floats,
    once: float,
    aim: Floats,
) -> Floats:
    """Return how many times as many judgments bring each form to a half-width; infinite if far too many.

    Parameters
    ----------
    fit, answers, forms, share, now, once
        As in `half_widths_later`.
    aim : (f,) array
        The half-widths to reach.
    """
    growth = np.geomspace(1.01, FAR, _STEPS)
    half = half_widths_later(fit, answers, forms, share=share, now=now, once=once, growth=growth)
    there = half <= aim
    return np.where(there.any(axis=0), growth[there.argmax(axis=0)], np.inf)


def same_variances(near: Fit, campaign: Campaign) -> Fit | None:
    """Return the model of a campaign with the variances and spreads of a smaller one; None if its effects differ.

    A look after every few judgments learns little about variances, and learning takes nearly all of the time.

    Parameters
    ----------
    near : Fit
        The model of fewer judgments of the same systems.
    campaign : Campaign
        The judgments now.
    """
    built = effects(campaign)
    if built.names != near.system.effects.names or campaign.k != near.campaign.k:
        return None
    spread = np.asarray(campaign.writer_rows @ near.scale)[campaign.output]
    if campaign.other is not None:
        spread = np.ones(campaign.n)
    means = csr_array(campaign.contrast.multiply((near.unit / spread)[:, np.newaxis]))
    system = System((campaign.score - near.centre) / spread, means, built)
    known = near.variances
    solved = Variances(known.names, system.solve(known.solution.theta), known.covariance)
    return replace(near, campaign=campaign, system=system, variances=solved)
