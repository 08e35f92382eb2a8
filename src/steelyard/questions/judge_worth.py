"""What a metric is worth: the errors of the means with it, beside those without any metric.

Both are errors by exactly these raters: what raters have in common, no metric and no judgment of theirs takes away.
"""

from dataclasses import replace

import numpy as np
from scipy.special import stdtrit

from steelyard.model.campaign import Campaign
from steelyard.model.designed import answers_of
from steelyard.model.fit import Fit, fit
from steelyard.questions.judge_bias import BesidePeople
from steelyard.questions.judge_moments import Value, jackknife

__all__ = ["judge_worth", "without_metrics"]


def without_metrics(campaign: Campaign) -> float:
    """Return the mean squared error of the systems' means with the effects of metrics switched off."""
    off = fit(campaign, without=frozenset({"metrics", "own slopes"}))
    return _square(off)


def judge_worth(campaign: Campaign, place: int, plain: float, beside: BesidePeople) -> Value:
    """Return the share of the judgments that a metric saves.

    Parameters
    ----------
    campaign : Campaign
        The judgments.
    place : int
        The number of the metric.
    plain : float
        Mean squared error of the means without metrics.
    beside : BesidePeople
        The metric beside the judgments, which shows how sure its worth is.
    """
    pools = campaign.pools
    only = replace(
        campaign,
        metrics=(campaign.metrics[place],),
        metric=campaign.metric[:, [place]],
        pools=replace(
            pools,
            metric=pools.metric[:, [place]],
            covariance=pools.covariance[:, [place]][:, :, [place]],
        ),
    )
    value = float(np.clip(1 - _square(fit(only)) / max(plain, 1e-300), 0.0, 1.0))
    # on the scale of angles, on which a worthless metric is as surely known as any other
    variance, freedom = jackknife(np.arcsin(np.sqrt(beside.explained)))
    if not np.isfinite(variance):
        return Value(value, float("nan"), float("nan"))
    reach = float(stdtrit(freedom, (1 + beside.level) / 2)) * float(np.sqrt(variance))
    middle = float(np.arcsin(np.sqrt(value)))
    low, high = np.sin(np.clip([middle - reach, middle + reach], 0.0, np.pi / 2)) ** 2
    return Value(value, float(low), float(high))


def _square(found: Fit) -> float:
    """Return the mean squared error of the systems' means."""
    return float(np.mean(np.diag(answers_of(found, "these raters").covariance)))
