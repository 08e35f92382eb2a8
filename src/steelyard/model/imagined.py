"""Errors of judgments that nobody has made yet: an error matrix needs no scores, only variances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Campaign, Floats
from steelyard.model.effects import PRIOR, effects
from steelyard.model.fit import About, Answers, Fit
from steelyard.model.reml import Solution, System, Variances
from steelyard.model.threads import one_thread

__all__ = ["Imagined", "Known", "imagined"]

# Simulated scores whose average information stands for the expected one.
_DRAWS = 4
_SEED = 20_181
# Replays of pilots show so many times the squared doubt that the information on the variances has.
_DOUBT = 1.5
# What is observed of all systems' errors counts beside the model's expectation as if that were so many blocks.
_ALL = 100.0
# What so many outputs show of the kurtosis beyond a normal's is a half; of fewer it falls with their square.
_TAILS, _MOST_TAILS = 150.0, 5.0
# Squares of scores of two values that are as frequent hardly vary, but what is learned of effects does.
_LEAST_TAILS = 0.5


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of variances before further judgments are made.

    Attributes
    ----------
    systems : tuple of str
        The systems.
    scale : (k,) array
        The spread of each system's judgments.
    freedom : (k,) array
        Degrees of freedom that each spread is known with.
    lent : float
        Degrees of freedom that the systems lend each other.
    theta : mapping of str to float
        The variance of each effect, in units of the spread.
    covariance : (E, E) array
        Error covariance of the logarithms of `theta`, in its order.
    freedom_of_all : float
        Degrees of freedom of all judgments together.
    tails : float
        How many times the variance of a normal's square the squares of outputs have.
    off : float
        By which share the squares that were observed are larger than the model expects.
    apart : bool
        Whether the judgments that it is known from are none of those that a campaign will have.
    expectation : float
        How many observed blocks the model's expectation of a mean's error is worth.
    """

    systems: tuple[str, ...]
    scale: Floats
    freedom: Floats
    lent: float
    theta: Mapping[str, float]
    covariance: Floats
    freedom_of_all: float
    tails: float = 1.0
    off: float = 0.0
    apart: bool = False
    expectation: float = 10.0

    @classmethod
    def of(cls, fit: Fit) -> "Known":
        """Return what a fitted campaign shows."""
        names = fit.system.effects.names
        theta = dict(zip(names, fit.variances.solution.theta.tolist(), strict=True))
        if "taste" in theta:
            # of a small part that is hardly seen, half of what is likely lies below the likeliest
            place = names.index("taste")
            theta["taste"] *= float(np.exp(-fit.variances.covariance[place, place] / 2))
        return cls(
            fit.campaign.systems,
            fit.scale,
            fit.freedom,
            fit.lent,
            theta,
            fit.variances.covariance,
            float(max(fit.campaign.n - fit.campaign.k, 1)),
            _tails(fit),
            _off(fit),
            expectation=fit.expectation_worth,
        )

    def of_effects(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the variances of these effects, and the error covariance of their logarithms.

        Where outputs were judged once, their own variance and noise are known together. What nothing
        shows has its prior share.
        """
        old = list(self.theta)
        new = [one for one in names if one not in self.theta]
        total = sum(self.theta.values())
        theta = {one: self.theta.get(one, PRIOR[one][0] * total) for one in names}
        move = np.array([[1.0 * (a == b) for b in (*old, *new)] for a in names])
        noise = names.index("noise")
        if "output" in new:
            of_output, of_noise = PRIOR["output"][0], PRIOR["noise"][0]
            share = of_output / (of_output + of_noise)
            theta["output"], theta["noise"] = (
                share * self.theta["noise"],
                (1 - share) * self.theta["noise"],
            )
            column = len(old) + new.index("output")
            move[names.index("output"), [old.index("noise"), column]] = 1.0, 1 - share
            move[noise, column] = -share
        elif "output" in old and "output" not in names:
            theta["noise"] += self.theta["output"]
            for one in ("output", "noise"):
                move[noise, old.index(one)] = self.theta[one] / theta["noise"]
        both = np.diag([0.0] * len(old) + [PRIOR[one][1] ** 2 for one in new])
        both[: len(old), : len(old)] = self.covariance
        return np.array([theta[one] for one in names]), move @ both @ move.T

    def of_systems(self, systems: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the spread of each of these systems and its degrees of freedom; of others that of all."""
        place = {one: number for number, one in enumerate(self.systems)}
        common = float(np.exp(np.mean(np.log(self.scale))))
        at = [place.get(one) for one in systems]
        scale = np.array([common if one is None else self.scale[one] for one in at])
        return scale, np.array([0.0 if one is None else self.freedom[one] for one in at])


def _tails(fit: Fit) -> float:
    """Return how many times the variance of a normal's square the squares of outputs have: (kurtosis - 1) / 2."""
    low, high = fit.campaign.scale_ends or (0.0, 1.0)
    if not fit.campaign.is_share:
        seen = float(fit.freedom.sum()) ** 2
        return 1 + fit.kurtosis / 2 * min((seen + _TAILS**2) / max(seen, 1.0), _MOST_TAILS)
    # scores of two values have the kurtosis that goes with their mean
    p = float(np.clip((fit.campaign.score.mean() - low) / (high - low), 0.02, 0.98))
    return max((1 / (p * (1 - p)) - 4) / 2, _LEAST_TAILS)


def _off(fit: Fit) -> float:
    """Return by which share observed squares are larger than the model expects, as far as that is known."""
    parts = fit.answers().parts
    expected = sum(np.trace(parts[one.name]) for one in fit.system.effects.kernels)
    blocks = float(fit.freedom.sum())
    trust = blocks / (blocks + fit.campaign.k * fit.expectation_worth)
    found = np.trace(parts["observed"]) / max(float(expected), 1e-300) / max(trust, 0.1)
    return float(np.clip(found, -0.5, 1.0) * blocks / (blocks + _ALL))


@dataclass(frozen=True, eq=False)
class Imagined:
    """A campaign without scores: the errors that its answers will have.

    Attributes
    ----------
    campaign : Campaign
        Whose scores are not read.
    answers : Answers
        The weights and errors of all means; the means themselves are 0.
    """

    campaign: Campaign
    answers: Answers
    _fit: Fit
    _known: Known

    def variance(self, forms: Floats) -> Floats:
        """Return the expected variance of each form of the means, (f,)."""
        found = np.einsum("fk,kl,fl->f", forms, self.answers.covariance, forms)
        return np.asarray(np.maximum(found, 0.0))

    def grown(self, *, outputs: tuple[float, float], pool: float, each: float = 1.0) -> "Imagined":
        """Return the errors after more judgments of the same kind.

        What is sampled from a pool falls with the outputs and ends at the pool; the rest falls with the
        judgments; raters do not become more.

        Parameters
        ----------
        outputs : (float, float)
            Outputs of each system that are judged here, and those that will be.
        pool : float
            Outputs of each system in all.
        each : float
            How many times as many judgments an output will have.
        """
        now, then = outputs
        sampled = max((1 / then - 1 / pool) / (1 / now - 1 / pool), 0.0) if now < pool else 1.0
        factor = {"rater": 1.0, "taste": 1.0, "metrics of new outputs": 1.0}
        factor |= dict.fromkeys(("item", "text", "output", "cluster"), sampled)
        parts = {
            one: v * factor.get(one, now / then / each) for one, v in self.answers.parts.items()
        }
        return replace(self, answers=replace(self.answers, parts=parts))

    def freedom(self, forms: Floats) -> Floats:
        """Return the degrees of freedom that the intervals of forms will have, (f,)."""
        return self._fit.degrees_of_freedom(forms, self.answers)

    def doubt(self, forms: Floats) -> Floats:
        """Return the covariance of the logarithms of the variances that will be estimated, (f, f).

        What is known now is a mean over what will be known; so the estimates to come move by what is
        not known now less what will not be known then. Beside it, the squares of the judgments to come
        move each error by chance.
        """
        share, weight = self._shares(forms)
        names = self._fit.variances.names
        known, campaign = self._known, self.campaign
        before = known.of_systems(campaign.systems)[1]
        now = _relative(
            share,
            weight,
            covariance=known.of_effects(names)[1],
            freedom=np.minimum(before + known.lent, before.sum()),
            n=known.freedom_of_all,
            tails=known.tails,
        )
        then = self._fit.freedom
        later = _relative(
            share,
            weight,
            covariance=self._fit.variances.covariance,
            freedom=np.minimum(then + known.lent, then.sum()),
            n=max(campaign.n - campaign.k, 1),
            tails=known.tails,
        )
        if known.apart:
            return _DOUBT * (now + later)
        blocks = np.maximum(then, 1.0)
        fresh = 1 - np.minimum(before / blocks, 1.0)
        own = fresh * known.tails * 2 / blocks * (blocks / (blocks + known.expectation)) ** 2
        found = now - later
        least = np.maximum(np.diag(found), 0.0)
        np.fill_diagonal(found, least)
        by_chance = (weight * own) @ weight.T
        np.fill_diagonal(by_chance, weight @ own)
        return np.asarray(_DOUBT * (found + by_chance))

    def _shares(self, forms: Floats) -> tuple[Floats, Floats]:
        """Return the share of each effect in the variance of each form, and the weight of each system."""
        parts, zero = self.answers.parts, np.zeros_like(self.answers.covariance)
        by_effect = np.stack(
            [
                np.einsum("fk,kl,fl->f", forms, parts.get(one, zero), forms)
                for one in self._fit.variances.names
            ],
            axis=1,
        )
        by_effect = np.maximum(by_effect, 0.0)
        own = forms**2 * np.diag(self.answers.covariance)
        return (
            by_effect / np.maximum(by_effect.sum(axis=1, keepdims=True), 1e-300),
            own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300),
        )


def _relative(
    share: Floats, weight: Floats, *, covariance: Floats, freedom: Floats, n: float, tails: float
) -> Floats:
    """Return the error covariance of the logarithms of forms' variances, as Satterthwaite has it."""
    of_shares = share @ covariance @ share.T - 2 / n
    of_spread = np.maximum((weight * 2 / np.maximum(freedom, 1.0)) @ weight.T, 2 / n)
    # items that are hard to score are so for all systems: long tails show, or do not, in all of them at once
    common = np.sqrt(weight @ (2 / np.maximum(freedom, 1.0)))
    of_spread = min(tails, 1.0) * of_spread + max(tails - 1, 0.0) * np.outer(common, common)
    found = of_spread + of_shares
    np.fill_diagonal(found, np.diag(of_spread) + np.maximum(np.diag(of_shares), 0.0))
    return np.asarray(found)


def imagined(known: Known, campaign: Campaign, *, about: About = "pool") -> Imagined:
    """Return the errors that a campaign's answers will have.

    Parameters
    ----------
    known : Known
        What is known of the variances.
    campaign : Campaign
        The judgments that there will be; their scores are not read.
    about : {"pool", "new outputs", "these raters"}
        As in `Fit.answers`.
    """
    with one_thread():
        built = effects(campaign)
        theta, _ = known.of_effects(built.names)
        scale, _ = known.of_systems(campaign.systems)
        spread = np.asarray(campaign.writer_rows @ scale)[campaign.output]
        unit = float(np.exp(np.mean(np.log(scale))))
        means = csr_array(campaign.contrast.multiply((unit / spread)[:, np.newaxis]))
        system = System(np.zeros(campaign.n), means, built)
        solution = system.solve(theta)
        covariance = _covariance(system, solution)
        judged = np.unique(campaign.output)
        freedom = np.maximum(campaign.writers[judged].sum(axis=0) - 1, 0.0)
        learned = Variances(built.names, solution, covariance)
        fit = Fit(
            campaign,
            scale,
            known.lent,
            freedom,
            0.0,
            system,
            learned,
            expectation=known.expectation,
            kurtosis=max(2 * (known.tails - 1), 0.0),
        )
        return Imagined(campaign, _expected(fit, about, known.off), fit, known)


def _covariance(system: System, solution: Solution) -> Floats:
    """Return the error covariance that the log variances will have, from their expected information."""
    built, theta = system.effects, solution.theta
    rng = np.random.default_rng(_SEED)
    z = np.zeros((len(system.z), _DRAWS))
    of_columns, of_kernels = theta[: len(system.slices)], theta[len(system.slices) :]
    values = rng.standard_normal((system.q, _DRAWS))
    for own, v in zip(system.slices, of_columns, strict=True):
        values[own] *= np.sqrt(v)
    z += system.u[:, : system.q] @ values
    for index in built.blocks.index:
        pairs = index[:, :, np.newaxis], index[:, np.newaxis, :]
        block = sum(
            v * one.covariance(*pairs) for v, one in zip(of_kernels, built.kernels, strict=True)
        )
        root = np.linalg.cholesky(block)
        z[index] += root @ rng.standard_normal((*index.shape, _DRAWS))
    left = solution.project(z)
    seen = system.u.T @ left
    forces = []
    for own, v in zip(system.slices, of_columns, strict=True):
        forces.append(v * (system.u[:, own] @ seen[own]))
    forces += [v * (one @ left) for v, one in zip(of_kernels, system.matrices, strict=True)]
    stacked = np.stack(forces)  # (E, n, draws)
    projected = solution.project(np.concatenate(list(stacked), axis=1))
    again = projected.reshape(len(z), len(theta), _DRAWS)
    information = np.einsum("ens,nfs->ef", stacked, again) / (2 * _DRAWS)
    precision = np.array([PRIOR[one][1] for one in built.names]) ** -2.0
    shape = np.diag(precision) - np.outer(precision, precision) / precision.sum()
    bend = (information + information.T) / 2 + shape
    return np.linalg.inv(bend + 1e-10 * np.eye(len(bend)) * np.trace(bend))


def _expected(fit: Fit, about: About, off: float) -> Answers:
    """Return the answers with the errors that they are expected to have; `off`: what observed squares will add."""
    parts = fit.modelled(about)
    of_blocks = sum(parts[one.name] for one in fit.system.effects.kernels)
    trust = np.sqrt(fit.freedom / (fit.freedom + fit.expectation_worth))
    parts["learning"] = _learning(fit)
    parts["observed"] = off * of_blocks * np.outer(trust, trust)
    if about == "new outputs":
        parts["metrics of new outputs"] = _metric_error(fit)
    return Answers(np.zeros(fit.campaign.k), fit.weights.times(1 / fit.spread), parts)


def _learning(fit: Fit) -> Floats:
    """What the means are expected to move by, as the variances are learned (Prasad and Rao 1990)."""
    at, system, asked = fit.variances.solution, fit.system, fit.targets
    weights = fit.weights.dense()
    seen = system.u.T @ weights
    moves = [
        system.u[:, own] @ (these - seen[own])
        for own, these in zip(system.slices, asked.these_raters, strict=True)
    ]
    moves += [
        np.asarray(covariance - matrix @ weights)
        for matrix, covariance in zip(system.matrices, asked.kernels, strict=True)
    ]
    e, n, k = len(moves), *weights.shape
    flat = np.stack([v * one for v, one in zip(at.theta, moves, strict=True)], axis=1)
    flat = flat.reshape(n, e * k)
    both = (flat.T @ at.project(flat)).reshape(e, k, e, k)
    return np.asarray(np.einsum("ekfl,ef->kl", both, fit.variances.covariance))


def _metric_error(fit: Fit) -> Floats:
    """The expected error of the pool's mean metrics as those of new outputs."""
    for theta, one in zip(fit.variances.solution.theta, fit.system.effects.columns, strict=False):
        if one.name == "metrics" and one.axes is not None:
            inside = np.einsum("qp,kpr,qr->k", one.axes, fit.campaign.pools.covariance, one.axes)
            return np.diag(theta * inside * fit.scale**2 / fit.campaign.pools.size)
    return np.zeros((fit.campaign.k, fit.campaign.k))
