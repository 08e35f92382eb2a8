"""What may be judged of systems of which only variances are known, and nothing was judged yet."""

import math

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.imagined import Known
from steelyard.questions.prospect import MOST_IMAGINED, Prospect

__all__ = ["typed_prospect"]

_SEED = 20_181
_SURE = 1e6
# A variance of nothing, relative to all.
_NONE = 1e-9


def typed_prospect(
    item_variance: float,
    rater_variance: float,
    correlation: float = 0.0,
    *,
    leniency: float = 0.0,
    raters: int | None = None,
    systems: int = 1,
    pool_size: int | None = None,
) -> Prospect:
    """Return what may be judged of systems with these variances.

    Parameters
    ----------
    item_variance : float
        Variance of human scores between outputs.
    rater_variance : float
        Variance of the judgments of one output, but for leniency.
    correlation : float
        Correlation of the metric with human scores.
    leniency : float
        Variance between raters; it needs `raters`.
    raters : int, optional
        How many raters will judge.
    systems : int
        Number of systems.
    pool_size : int, optional
        Outputs of each system; without it plans are about new outputs.

    Raises
    ------
    InvalidArgumentError
        If a variance or correlation is none.
    """
    for name, value in (
        ("item_variance", item_variance),
        ("rater_variance", rater_variance),
        ("correlation", correlation),
        ("leniency", leniency),
    ):
        if not (math.isfinite(value) and value >= 0):
            raise InvalidArgumentError(f"`{name}` must be a number of 0 or more; got {value}")
    if correlation >= 1:
        raise InvalidArgumentError(f"`correlation` must be below 1; got {correlation:g}")
    if item_variance + rater_variance <= 0:
        raise InvalidArgumentError("`item_variance` and `rater_variance` must not both be 0")
    if leniency > 0 and raters is None:
        raise InvalidArgumentError("`leniency` needs the number of raters: give `n_raters`")
    total, seen = item_variance + rater_variance + leniency, correlation**2
    theta = {
        "metrics": seen * item_variance,
        "own slopes": 0.0,
        "rater": leniency,
        "taste": 0.0,
        "output": (1 - seen) * item_variance,
        "noise": rater_variance,
    }
    names = tuple(f"system {number}" for number in range(1, systems + 1))
    known = Known(
        systems=names,
        scale=np.full(systems, math.sqrt(total)),
        freedom=np.full(systems, _SURE),
        lent=0.0,
        theta={one: max(value / total, _NONE) for one, value in theta.items()},
        covariance=np.zeros((len(theta), len(theta))),
        freedom_of_all=_SURE,
        apart=True,
    )
    campaign = _campaign(names, int(seen > 0), raters, pool_size)
    place = np.tile(np.arange(1, campaign.n // systems + 1), systems)
    left = int(campaign.pools.size[0])
    return Prospect(known, campaign, place, left, "new outputs" if pool_size is None else "pool")


def _campaign(
    names: tuple[str, ...], p: int, raters: int | None, pool_size: int | None
) -> Campaign:
    """Return one imagined judgment of each of some outputs."""
    k = len(names)
    size = 10_000_000 if pool_size is None else pool_size
    each = min(size, MOST_IMAGINED // k)
    rng = np.random.default_rng(_SEED)
    pools = Pools.apart(
        np.full(k, size),
        np.zeros((k, p)),
        np.tile(np.eye(p), (k, 1, 1)),
        np.diag([float(size)] * k),
    )
    system = np.repeat(np.arange(k), each)
    return Campaign(
        systems=names,
        metrics=("metric",) * p,
        score=np.zeros(each * k),
        output=np.arange(each * k),
        item=np.arange(each * k),
        writers=np.eye(k)[system],
        metric=rng.standard_normal((each * k, p)),
        pools=pools,
        in_pool=np.eye(k, dtype=np.bool_)[system],
        rater=None if raters is None else rng.permutation(each * k) % raters,
    )
