"""Preferences between systems, as forms of the same fit: what two systems differ by on one common scale, and apart from it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from steelyard.model.campaign import Bools, Floats, Ints
from steelyard.model.fit import Answers, Fit
from steelyard.model.targets import Targets, targets

__all__ = ["PreferredFit", "between", "net_ends", "wilson_ends"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PreferredFit(Fit):
    """A fit to preferences whose answers are forms of the systems' places on the common scale.

    Attributes
    ----------
    forms : (f, k) array
        The weight of each system in each answer.
    departing : (f,) array of bool
        Whether an answer holds what its two systems depart from the common scale.
    freedom : (f,) array
        Degrees of freedom of each answer's own judgments.
    """

    forms: Floats
    departing: Bools

    @cached_property
    def targets(self) -> Targets:
        """How the answers hang together with the systems' places, effects and judgments.

        Outputs that both systems wrote count as ties: they take as much of the systems' difference away
        as there are of them.
        """
        campaign, built = self.campaign, self.system.effects
        known = targets(built, campaign, self.scale)
        found = replace(known, means=campaign.pools.sharing.T).through(self.forms)
        columns = tuple(
            self._departures(one.design) if one.name == "departure" else of_one
            for one, of_one in zip(built.columns, found.columns, strict=True)
        )
        these = tuple(
            of_one if one.name == "departure" else known_one
            for one, of_one, known_one in zip(
                built.columns, columns, found.these_raters, strict=True
            )
        )
        return replace(found, columns=columns, these_raters=these)

    def _departures(self, design: object) -> Floats:
        """Return the weight of each pair's departure in each answer, (q, f)."""
        columns = csc_array(design)
        row = columns.indices[columns.indptr[:-1]]
        sign = columns.data[columns.indptr[:-1]]
        contrast = self.campaign.contrast[row].toarray()
        high, low = contrast.argmax(axis=1), contrast.argmin(axis=1)
        of_a, of_b = self.forms.argmax(axis=1), self.forms.argmin(axis=1)
        ahead = (high[:, np.newaxis] == of_a) & (low[:, np.newaxis] == of_b)
        behind = (high[:, np.newaxis] == of_b) & (low[:, np.newaxis] == of_a)
        found = sign[:, np.newaxis] * (1.0 * ahead - behind) * self.departing
        return np.asarray(found * differing(self.campaign.pools.identical, of_a, of_b))

    @property
    def metric_error(self) -> Floats:
        """The error of the pool's mean metrics as those of new outputs."""
        f = len(self.forms)
        for own, one in zip(self.system.slices, self.system.effects.columns, strict=True):
            if one.name == "metrics":
                fitted = one.design @ self.variances.solution.values[own]
                size = self.forms**2 @ (1 / self.campaign.pools.size)
                return np.eye(f) * np.var(fitted) * size / 2
        return np.zeros((f, f))

    def worth(self, answers: Answers) -> Floats:
        """Return how many independent judgments each answer is worth: the variance of one over its error.

        Both are what the model expects of a judgment, whatever the share of wins.
        """
        theta = dict(zip(self.system.effects.names, self.variances.solution.theta, strict=True))
        one = np.zeros(self.campaign.n)
        for part in self.system.effects.columns:
            if part.name != "departure":
                design = csr_array(part.design)
                one += theta[part.name] * np.asarray(design.multiply(design).sum(axis=1)).ravel()
        for kernel, matrix in zip(self.system.effects.kernels, self.system.matrices, strict=True):
            one += theta[kernel.name] * matrix.diagonal()
        own = np.abs(self.campaign.contrast @ self.forms.T) > 1
        variance = (one @ own) / np.maximum(own.sum(axis=0), 1)
        error = answers.covariance - answers.parts.get("observed", 0.0)
        return np.asarray(variance / np.maximum(np.diag(error), 1e-300))


def net_ends(
    net: Floats, decided: Floats, worth: Floats, multiple: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of intervals of net preferences: the values that are not too far from the estimate.

    A judgment is 1, -1 or 0; with a share d of decided ones and a net preference x its variance is
    ``d - x^2``. The interval holds all x with ``(x - net)^2 <= t^2 (d - x^2) / n``, which never reach
    beyond d (Wilson 1927 for two outcomes).

    Parameters
    ----------
    net : (f,) array
        Estimates.
    decided : (f,) array
        Share of judgments that are no tie.
    worth : (f,) array
        How many independent judgments each estimate is worth.
    multiple : (f,) array
        The quantile t.
    """
    c = multiple**2 / np.maximum(worth, 1e-9)
    some = np.maximum(decided, np.abs(net))
    half = np.sqrt(np.maximum(c * some * (1 + c) - c * net**2, 0.0))
    return (net - half) / (1 + c), (net + half) / (1 + c)


def wilson_ends(share: float, worth: float, multiple: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a share from so many independent judgments."""
    c = multiple**2 / max(worth, 1e-9)
    half = np.sqrt(c * share * (1 - share) + c**2 / 4)
    return float((share + c / 2 - half) / (1 + c)), float((share + c / 2 + half) / (1 + c))


def differing(identical: Floats, of_a: Ints, of_b: Ints) -> Floats:
    """Return the share of the outputs of system a that differ from those of b."""
    return np.asarray(1 - identical[of_a, of_b] / np.maximum(identical[of_a, of_a], 1))


def between(fit: Fit, forms: Floats, freedom: Floats, *, departing: bool) -> PreferredFit:
    """Return the fit with forms of the systems' places as its answers.

    Parameters
    ----------
    fit : Fit
        The model of preferences.
    forms : (f, k) array
        The weight of each system in each answer: 1 and -1 for a pair.
    freedom : (f,) array
        Degrees of freedom of each answer's own judgments.
    departing : bool
        Whether answers are pairs, each with what it departs from the common scale.
    """
    return PreferredFit(
        campaign=fit.campaign,
        scale=fit.scale,
        lent=fit.lent,
        freedom=freedom,
        centre=fit.centre,
        system=fit.system,
        variances=fit.variances,
        forms=forms,
        departing=np.full(len(forms), departing),
    )
