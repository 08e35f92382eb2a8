"""The model fitted to a campaign, and what any answer is made of: weights on judgments, and one error matrix."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Bools, Campaign, Floats
from steelyard.model.effects import effects
from steelyard.model.forms import Weights, squares
from steelyard.model.observed import Observed, observed
from steelyard.model.reach import Reach
from steelyard.model.reml import System, Variances, variances
from steelyard.model.spread import (
    Spread,
    freedom_of,
    half_scale,
    least_noise,
    raw_squares,
    spread_of,
)
from steelyard.model.targets import Targets, targets
from steelyard.model.threads import one_thread

__all__ = ["About", "Answers", "Fit", "fit"]

# Scores that differ by less, relative to their size, are equal.
_ROUNDING = 1e-14
# Judgments that effects explain wholly leave no less than this share of their variance: less is rounding.
_EXACT = 1e-6
# A system whose squares are so many times smaller than the largest has judgments that are all equal.
_EQUAL = 1e-12
# Of so few systems arrays of judgments by systems are held.
_FEW = 200

About = Literal["pool", "new outputs", "these raters"]


@dataclass(frozen=True, eq=False)
class Answers:
    """The means of all systems, and their errors; any other answer is a form of them.

    Attributes
    ----------
    mean : (k,) array
        Best linear unbiased predictions of the pools' means.
    weights : Weights
        The weight of each judgment in each mean.
    parts : mapping of str to (k, k) array
        What each effect adds to the covariance of the errors.
    unseen : (k, k) array, optional
        Column s: the weights of the systems' means in the answer s that no judgment shows; 0 where
        judgments show the answer.
    """

    mean: Floats
    weights: Weights
    parts: Mapping[str, Floats]
    unseen: Floats | None = None

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the errors of all means, (k, k)."""
        return np.asarray(np.sum(list(self.parts.values()), axis=0))


@dataclass(frozen=True, eq=False)
class Fit:
    """The model with its learned variances.

    Attributes
    ----------
    campaign : Campaign
        The judgments.
    scale : (k,) array
        The spread of each system's judgments.
    lent : float
        Degrees of freedom that the systems lend each other for their spread.
    freedom : (k,) array
        Degrees of freedom of each system's own judgments.
    centre : float
        What is taken from all scores before they are fitted.
    expectation : float, optional
        How many observed blocks the model's expectation of a mean's error is worth; learned where it is not given.
    kurtosis : float
        Excess kurtosis of the judgments: with long tails, observed squares show less.
    least : float
        What the variance of noise may be although no judgment shows it: errors hold at least so much.
    """

    campaign: Campaign
    scale: Floats
    lent: float
    freedom: Floats
    centre: float
    system: System
    variances: Variances
    expectation: float | None = None
    kurtosis: float = 0.0
    least: float = 0.0

    @property
    def unit(self) -> float:
        """The unit in which the equations hold the means."""
        return _unit(self.scale)

    def estimates(self, weights: Weights) -> Floats:
        """Return the estimates that weights on judgments give, (k,), never outside known ends of the scale."""
        found = weights.onto(self.campaign.score - self.centre) + self.centre
        ends = self.campaign.scale_ends if self.campaign.other is None else None
        return np.asarray(found if ends is None else np.clip(found, *ends))

    @cached_property
    def targets(self) -> Targets:
        """How the means of the whole pools hang together with judgments and effects."""
        return targets(self.system.effects, self.campaign, self.scale)

    @cached_property
    def weights(self) -> Weights:
        """The weight of each scaled judgment in the best estimate of each mean.

        They are best for these outputs by exactly these raters, each with a share of the judgments.
        What an interval is about changes the error, not the estimate.
        """
        at, asked, q = self.variances.solution, self.targets, self.system.q
        of_kernels = at.theta[len(self.system.slices) :]
        local = csr_array((self.campaign.n, asked.means.shape[1]))
        for theta, covariance in zip(of_kernels, asked.kernels, strict=True):
            local = local + theta * covariance
        target = asked.all_columns.copy()
        target[q:] *= self.unit
        if not (isinstance(local, csr_array) and self.campaign.k > 2 * q and self._means_apart):
            inside = at.within.times(local.toarray() if isinstance(local, csr_array) else local)
            off = target - self.system.u.T @ inside
            return Weights(inside + at.within.times(self.system.u @ (at.m_inverse @ off)))
        return self._low_rank(local, target)

    @property
    def _means_apart(self) -> bool:
        """Whether no judgment, and no block, holds several systems' means."""
        of_means = self.variances.solution.within.gram()[self.system.q :, self.system.q :]
        return not (of_means - np.diag(np.diag(of_means))).any()

    def _low_rank(self, local: csr_array, target: Floats) -> Weights:
        """Return the weights where systems are many, and share only the values of columns.

        The means' part of the equations is diagonal, d, and a is the part beside it over d. So the
        means' coefficients are ``(target - D'A^-1 C) / d - a'F`` with F those of the other columns.
        """
        at, u, q = self.variances.solution, self.system.u, self.system.q
        gram, inverse = at.within.gram(), at.within.matrix()
        inside = csr_array(inverse @ local)
        off = csr_array(target[q:]) - u[:, q:].T @ inside
        beside = gram[:q, q:] / np.diag(gram)[q:]
        of_columns = at.m_inverse[:q, :q] @ (target[:q] - (u[:, :q].T @ inside).toarray())
        of_columns += (off.T @ at.m_inverse[:q, q:].T).T
        own = inside + inverse @ (u[:, q:] @ off.multiply(1 / np.diag(gram)[q:, np.newaxis]))
        common = at.within.times(u[:, :q].toarray() - u[:, q:] @ beside.T)
        return Weights(common, csr_array(own), of_columns)

    def answers(self, about: About = "pool") -> Answers:
        """Return the means of all systems and their errors.

        Parameters
        ----------
        about : {"pool", "new outputs", "these raters"}
            Whether the means are of these outputs by raters like these, of new outputs like these, or of
            these outputs by exactly these raters.
        """
        return replace(self._errors(self._best, about), unseen=self.unseen)

    @cached_property
    def _best(self) -> Reach:
        return Reach.of(self, self.weights)

    @cached_property
    def unseen(self) -> Floats:
        """The weights of the systems' means in each answer that no judgment shows, (k, f)."""
        return np.asarray(self.targets.means - self._best.columns[self.system.q :] / self.unit)

    def plain(self, about: About = "pool") -> Answers:
        """Return the plain means of the judged outputs of each system, with their errors under the model.

        Parameters
        ----------
        about : {"pool", "new outputs", "these raters"}
            As in `answers`.
        """
        return self._errors(self._plain, about)

    @cached_property
    def _plain(self) -> Reach:
        campaign = self.campaign
        times = np.bincount(campaign.output, minlength=len(campaign.item))
        counts = 1.0 * (times > 0) if campaign.weight is None else (times > 0) * campaign.weight
        stands_for = csr_array((campaign.writer_rows > 0) * counts[:, np.newaxis])
        stands_for = csr_array(stands_for.multiply(self._share_of_shared(stands_for)))
        share = stands_for.multiply(1 / np.maximum(stands_for.sum(axis=0), 1e-300))
        share = csr_array(share.multiply((1 / np.maximum(times, 1))[:, np.newaxis]))
        weights = csr_array(share[campaign.output].multiply(self.spread[:, np.newaxis]))
        few = campaign.k <= _FEW
        common = weights.toarray() if few else np.zeros((campaign.n, 0))
        none = None if few else np.zeros((0, campaign.k))
        return Reach.of(self, Weights(common, None if few else weights, none))

    def _share_of_shared(self, stands_for: csr_array) -> csr_array:
        """Return what brings texts that several systems wrote, judged for any of them, to their share of each pool."""
        shared, group = self.campaign.pools.shared, self.campaign.shared_group
        row, system = stands_for.nonzero()
        judged = np.zeros((shared.shape[1] + 1, shared.shape[0]))
        np.add.at(judged, (group[row], system), stands_for.data)
        wanted = np.vstack([shared.T, 1 - shared.sum(axis=1)])
        share = np.where(judged > 0, wanted / np.maximum(judged, 1e-300), 0.0)
        return csr_array((share[group[row], system], (row, system)), shape=stands_for.shape)

    def errors_of(self, z_weights: Weights, about: About = "pool") -> Answers:
        """Return the estimates that these weights on scaled judgments give, and their errors.

        Parameters
        ----------
        z_weights : Weights
            The weight of each scaled judgment in each estimate.
        about : {"pool", "new outputs", "these raters"}
            As in `answers`.
        """
        return self._errors(Reach.of(self, z_weights), about)

    def _errors(self, reach: Reach, about: About) -> Answers:
        parts = self._modelled(reach, about)
        parts["learning"] = reach.learning
        parts["observed"] = self._observed(parts)
        return Answers(self.estimates(reach.weights), reach.weights, parts)

    def modelled(self, about: About = "pool") -> dict[str, Floats]:
        """Return what each effect adds to the errors of the best means, if the variances are known."""
        return self._modelled(self._best, about)

    def _modelled(self, reach: Reach, about: About) -> dict[str, Floats]:
        at, built, asked = self.variances.solution, self.system.effects, self.targets
        of_columns = asked.these_raters if about == "these raters" else asked.columns
        parts = {}
        for theta, own, column, wanted in zip(
            at.theta, self.system.slices, built.columns, of_columns, strict=False
        ):
            off = wanted - reach.columns[own]
            parts[column.name] = theta * off.T @ off
        of_kernels = at.theta[len(built.columns) :].copy()
        of_kernels[-1] = max(of_kernels[-1], self.least)
        for theta, kernel, square, cross, pool in zip(
            of_kernels, built.kernels, reach.squares, reach.crosses, asked.pools, strict=True
        ):
            off = square if about == "new outputs" else square - cross - cross.T + pool
            parts[kernel.name] = theta * off
        if about == "new outputs":
            parts["metrics of new outputs"] = self.metric_error
        return parts

    def _observed(self, parts: Mapping[str, Floats]) -> Floats:
        """How far the observed squares of blocks move the errors from what the model expects."""
        seen = self.observed
        of_blocks = sum(np.diag(parts[one.name]) for one in self.system.effects.kernels)
        kept = np.maximum(of_blocks, 0.0) / np.maximum(np.diag(seen.expected), 1e-300)
        share = np.sqrt(self.trust * kept)
        return np.asarray((seen.squares - seen.expected) * np.outer(share, share))

    @cached_property
    def observed(self) -> Observed:
        """What the judgments show of the errors, beside what the model expects."""
        of_kernels = self.variances.solution.theta[len(self.system.slices) :]
        pairs = zip(of_kernels, self._best.squares, strict=True)
        expected = np.asarray(sum(theta * square for theta, square in pairs))
        seen = observed(self.system, self.variances.solution, self.weights, expected, self.kurtosis)
        if self.campaign.other is not None:
            return seen
        # judgments that are all equal show nothing of their error, whatever the fit leaves of them
        varied = _varied(raw_squares(self.campaign))
        return replace(seen, squares=np.where(np.outer(varied, varied), seen.squares, 0.0))

    @cached_property
    def expectation_worth(self) -> float:
        """How many observed blocks the model's expectation of a mean's error is worth."""
        known = self.expectation
        return self.observed.expectation_worth() if known is None else known

    @cached_property
    def trust(self) -> Floats:
        """The weight of the observed squares beside the model's expectation, (k,)."""
        worth = self.observed.worth
        return worth / (worth + self.expectation_worth)

    @property
    def metric_error(self) -> Floats:
        """The error of the pool's mean metrics as those of new outputs."""
        # the slopes are known by what they explain over each pool
        k = self.campaign.k
        for own, one in zip(self.system.slices, self.system.effects.columns, strict=True):
            if one.name == "metrics":
                fitted = one.design @ self.variances.solution.values[own]
                return np.eye(k) * np.var(fitted) * self.scale**2 / self.campaign.pools.size
        return np.zeros((k, k))

    @cached_property
    def spread(self) -> Floats:
        """The spread of each judgment, (n,)."""
        return _spread_of_judgments(self.campaign, self.scale)

    def degrees_of_freedom(self, forms: Floats, answers: Answers) -> Floats:
        """Return the degrees of freedom of the errors of forms of the means (Satterthwaite).

        Parameters
        ----------
        forms : (f, k) array
            The weight of each mean in each form.
        answers : Answers
            The means.
        """
        names, none = self.variances.names, np.zeros_like(answers.covariance)
        gradient = np.stack(
            [squares(forms, answers.parts.get(name, none)) for name in names], axis=1
        )
        gradient = np.maximum(gradient, 0.0)
        # the errors of a design have no variance to learn
        total = gradient.sum(axis=1) + np.maximum(
            squares(forms, answers.parts.get("design", none)), 0
        )
        share = gradient / np.maximum(total, 1e-300)[:, np.newaxis]
        of_shares = squares(share, self.variances.covariance)
        n = max(len(self.system.z) - self.system.means.shape[1], 1)
        of_shares = np.maximum(of_shares - 2 / n, 0.0)
        own = forms**2 * np.diag(answers.covariance)
        weight = own / np.maximum(own.sum(axis=1), 1e-300)[:, np.newaxis]
        of_spread = np.sum(weight**2 * 2 * self._unknown, axis=1)
        if self.campaign.is_share:
            # the interval of a share has the variance that goes with each of its values: none is estimated
            of_spread = np.zeros(len(forms))
        found = 2 / np.maximum(np.maximum(of_spread, 2 / n) + of_shares, 2e-9)
        return np.asarray(np.maximum(found, 1.0))

    @property
    def _unknown(self) -> Floats:
        """Half of the relative variance of each mean's estimated variance, but for the shares, (k,).

        Of the expected part the spread is learned from the system's own judgments, and from what the others lend;
        what is observed is a part of that. Beside it, variances depart from what is expected.
        """
        trust, seen = self.trust, np.maximum(self.observed.freedom, 1e-9)
        known = np.minimum(self.freedom + self.lent, self.freedom.sum())
        by_chance = trust**2 / seen + (1 - trust**2) / np.maximum(known, seen)
        departing = (1 - 1 / self.campaign.k) * (1 - trust) ** 2 / self.expectation_worth
        return np.asarray(by_chance + departing)

    def outputs_worth(self, answers: Answers) -> Floats:
        """Return how many independent judgments each mean is worth: the variance of one over its error.

        The error is the one that the model expects: where all judgments seen are equal, nothing was observed.
        """
        error = answers.covariance - answers.parts.get("observed", 0.0)
        return np.asarray(sum(self.variance_of_one.values()) / np.maximum(np.diag(error), 1e-300))

    @cached_property
    def variance_of_one(self) -> Mapping[str, Floats]:
        """What each effect adds to the variance of one judgment of each system, (k,)."""
        own, found = self.campaign.writer_rows[self.campaign.output], {}
        theta = dict(zip(self.system.effects.names, self.variances.solution.theta, strict=True))
        mass = np.maximum(own.sum(axis=0), 1e-300)
        of_noise = np.asarray(own.T @ self.spread**2) / mass
        for part in self.system.effects.columns:
            design = part.design
            square = design.multiply(design) if isinstance(design, csr_array) else design**2
            each = np.asarray(square.sum(axis=1)).ravel()
            found[part.name] = theta[part.name] * (own.T @ (each * self.spread**2)) / mass
        for kernel in self.system.effects.kernels:
            found[kernel.name] = theta[kernel.name] * of_noise
        return found

    def left(self) -> Floats:
        """Return what is left of each judgment when it is predicted from all others, in its own units.

        Nothing is left of the only judgment of a system.
        """
        at = self.variances.solution
        own = at.own_projection()
        known = own > 0
        left = np.where(known, at.residual, 0.0) / np.where(known, own, 1.0)
        return np.asarray(left * self.spread)


def _spread_of_judgments(campaign: Campaign, scale: Floats) -> Floats:
    if campaign.other is not None:
        return np.ones(campaign.n)
    return np.asarray(campaign.writer_rows @ scale)[campaign.output]


def fit(
    campaign: Campaign,
    *,
    without: frozenset[str] = frozenset(),
    prior: bool = True,
    near: Fit | None = None,
) -> Fit:
    """Fit the model: with the systems' raw spreads, then with what the effects leave of them.

    Small matrices are not spread over threads, which costs several times what it saves.

    Parameters
    ----------
    campaign : Campaign
        The judgments.
    without : set of str
        Effects to leave out.
    prior : bool
        Whether the shares of effects have priors.
    near : Fit, optional
        The model of judgments that are much like these, at whose variances the search begins.

    Raises
    ------
    NotEstimableError
        If all judgments of each system are equal and the ends of the scale are not known.
    """

    def at(spread: Spread, near: Fit | None, *, exact: bool, least: float) -> Fit:
        scale = np.sqrt(spread.variance)
        of_judgments = _spread_of_judgments(campaign, scale)
        means = csr_array(campaign.contrast.multiply((_unit(scale) / of_judgments)[:, np.newaxis]))
        system = System((campaign.score - centre) / of_judgments, means, built)
        alike = near is not None and near.variances.names == built.names
        start = near.variances.solution.theta if near is not None and alike else None
        # preferences have no spread of their own that a least noise could be a share of
        bound = least if campaign.other is not None else 0.0
        learned = variances(system, start, prior=prior, exact=exact, least_noise=bound)
        return Fit(
            campaign,
            scale,
            spread.lent,
            freedom,
            centre,
            system,
            learned,
            # squares that are smaller than anybody can know say nothing of the errors
            expectation=np.inf if learned.solution.theta[-1] <= least * (1 + 1e-9) else None,
            kurtosis=spread.kurtosis,
            least=least,
        )

    built, least = effects(campaign, without=without), least_noise(campaign)
    centre = float(campaign.score.mean()) if campaign.other is None else 0.0
    with one_thread():
        if campaign.other is not None:
            freedom = np.full(campaign.k, campaign.n / campaign.k)
            return at(Spread(np.ones(campaign.k), 0.0, 0.0), near, exact=True, least=least)
        own = campaign.contrast
        mass = np.maximum(own.sum(axis=0), 1e-300)
        off = campaign.score - own @ ((own.T @ campaign.score) / mass)
        freedom, squares = freedom_of(campaign), raw_squares(campaign)
        if squares.max() <= (_ROUNDING * float(np.abs(campaign.score).max(initial=1e-150))) ** 2:
            half = np.full(campaign.k, half_scale(campaign) ** 2)
            return at(Spread(half, 0.0, 0.0), near, exact=True, least=least)
        raw = spread_of(off, own, squares, freedom)

        def least_of(spread: Spread) -> float:
            known = float(np.average(squares, weights=freedom + 1))
            return least * known / float(np.average(spread.variance, weights=freedom + 1))

        found = at(raw, near, exact=campaign.k <= 2, least=least_of(raw))
        if campaign.k > 2:
            left = found.left()
            # judgments that are all equal show no spread, whatever effects leave of them
            of_left = np.where(_varied(squares), (own.T @ left**2) / mass, 0.0)
            kept = spread_of(left, own, np.maximum(of_left, _EXACT * squares), freedom)
            found = at(kept, found, exact=True, least=least_of(kept))
        return found


def _varied(squares: Floats) -> Bools:
    """Return the systems whose judgments are not all equal."""
    return np.asarray(squares > _EQUAL * squares.max())


def _unit(scale: Floats) -> float:
    return float(np.exp(np.mean(np.log(scale))))
