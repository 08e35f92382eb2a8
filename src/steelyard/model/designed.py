"""Means where chances were unequal or outputs were drawn by strata: the design's weights on what the model leaves.

For each judged block, the model predicts the pool and the block itself from all other blocks. The mean is the
average of these predictions of the pool, each with what is left of its block, weighted by the outputs that the
block stands for. So the means are unbiased for the draw, however wrong the model is (Cassel, Särndal and Wretman
1976; Wu and Gagnon-Bartsch 2018); without metrics they are the weighted means.
"""

import numpy as np

from steelyard.model.blocks import Blocks
from steelyard.model.campaign import Campaign, Floats
from steelyard.model.fit import About, Answers, Fit
from steelyard.model.forms import Weights
from steelyard.model.strata import within_strata

__all__ = ["answers_of", "designed_answers"]


def answers_of(fit: Fit, about: About = "pool") -> Answers:
    """Return all means: by the model, or with the weights of the design where it has some."""
    return fit.answers(about) if fit.campaign.weight is None else designed_answers(fit, about)


def designed_answers(fit: Fit, about: About = "pool") -> Answers:
    """Return the means under the design, with errors by blocks within strata.

    Parameters
    ----------
    fit : Fit
        The model of a campaign with weights.
    about : {"pool", "new outputs", "these raters"}
        As in `Fit.answers`.
    """
    campaign, at, system = fit.campaign, fit.variances.solution, fit.system
    k = campaign.k
    share = _shares(campaign) * fit.spread[:, np.newaxis]
    target = np.concatenate([*fit.targets.columns, fit.unit * fit.targets.means])
    of_pool = at.within.times(system.u @ (at.m_inverse @ target))
    blocks = system.effects.blocks
    # without block b the pool's prediction moves by what b's judgments add to it
    moved = share - blocks.sums(_shares(campaign))[blocks.number] * of_pool
    forms, left = np.zeros((campaign.n, k)), np.empty(campaign.n)
    for index in blocks.index:
        au = at.within.rows(index.ravel()).reshape(*index.shape, -1)
        inside = at.within.inside(index) - au @ at.m_inverse @ au.transpose(0, 2, 1)
        # of the projection P, block b predicted from all others leaves P_bb^-1 (P z)_b
        inverse = np.linalg.pinv(inside, hermitian=True)
        forms[index] = inverse @ moved[index]
        left[index] = (inverse @ at.residual[index][..., np.newaxis])[..., 0]
    z_weights = of_pool + at.project(forms)
    weights = Weights(z_weights / fit.spread[:, np.newaxis])
    drawn = _drawn_share(campaign)
    parts = {"design": _between_blocks(campaign, moved * left[:, np.newaxis], blocks, drawn)}
    if drawn.any():
        # what the draw takes off as known is known up to the noise of its judgments
        of_noise = share * np.sqrt(drawn)[:, np.newaxis]
        parts["noise"] = at.theta[-1] * of_noise.T @ of_noise
    if about == "new outputs":
        of_kernels = at.theta[len(system.slices) :]
        for theta, pool, kernel in zip(
            of_kernels, fit.targets.pools, system.effects.kernels, strict=True
        ):
            parts[f"{kernel.name} of new outputs"] = theta * pool
        parts["metrics of new outputs"] = fit.metric_error
    of_raters = fit.targets.these_raters if about == "these raters" else fit.targets.columns
    for theta, column, wanted in zip(at.theta, system.effects.columns, of_raters, strict=False):
        if column.name in {"rater", "taste", "version"}:
            off = wanted - column.design.T @ z_weights
            parts[column.name] = theta * off.T @ off
    return Answers(fit.estimates(weights), weights, parts)


def _drawn_share(campaign: Campaign) -> Floats:
    """Return how much of what each judgment's output stands for is known by judging it, (n,).

    Where no output was judged twice, noise is not told apart from it: nothing is taken for known.
    """
    assert campaign.weight is not None
    if len(np.unique(campaign.output)) == campaign.n:
        return np.zeros(campaign.n)
    return 1 / np.maximum(campaign.weight[campaign.output], 1.0)


def _shares(campaign: Campaign) -> Floats:
    """Return the share of each judgment in the pool of each system, (n, k)."""
    assert campaign.weight is not None
    times = np.bincount(campaign.output, minlength=len(campaign.item))
    of_outputs = (campaign.writers > 0) * campaign.weight[:, np.newaxis]
    of_outputs = of_outputs / np.maximum(of_outputs.sum(axis=0), 1e-300)
    return np.asarray((of_outputs / np.maximum(times, 1)[:, np.newaxis])[campaign.output])


def _between_blocks(campaign: Campaign, left: Floats, blocks: Blocks, drawn: Floats) -> Floats:
    """Return the covariance of sums over blocks, which were drawn apart within strata."""
    sums = blocks.sums(left)
    known = np.ones(len(sums))
    np.minimum.at(known, blocks.number, drawn)
    off, members = within_strata(sums, campaign, blocks)
    raised = np.where(members == 1, 1.0, members / np.maximum(members - 1, 1))
    return np.asarray((off * (raised * (1 - known))[:, np.newaxis]).T @ off)
