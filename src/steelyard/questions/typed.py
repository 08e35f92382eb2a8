"""What may be judged of systems of which only variances are known, and nothing was judged yet."""

import math
from collections.abc import Sequence

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.imagined import Known
from steelyard.questions.prospect import MOST_IMAGINED, Prospect

__all__ = ["Typed", "typed_prospect"]

Typed = float | Sequence[float]

_SEED = 20_181
_INTERVAL = 2 * 1.96
_SURE = 1e6
# A variance of nothing, relative to all.
_NONE = 1e-9


def typed_prospect(
    item_variance: Typed,
    rater_variance: Typed,
    correlation: Typed = 0.0,
    *,
    leniency: Typed = 0.0,
    raters: int | None = None,
    systems: int = 1,
    pool_size: int | None = None,
) -> Prospect:
    """Return what may be judged of systems with these variances.

    Parameters
    ----------
    item_variance : float or (float, float, float)
        Variance of human scores between outputs; with the ends of its 95% interval.
    rater_variance : float or (float, float, float)
        Variance of the judgments of one output, but for leniency.
    correlation : float or (float, float, float)
        Correlation of the metric with human scores.
    leniency : float or (float, float, float)
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
    items, item_doubt = _number("item_variance", item_variance)
    noise, noise_doubt = _number("rater_variance", rater_variance)
    size, correlation_doubt = _number("correlation", correlation)
    between, leniency_doubt = _number("leniency", leniency)
    if size >= 1:
        raise InvalidArgumentError(f"`correlation` must be below 1; got {size:g}")
    if items + noise <= 0:
        raise InvalidArgumentError("`item_variance` and `rater_variance` must not both be 0")
    if between > 0 and raters is None:
        raise InvalidArgumentError("`leniency` needs the number of raters: give `n_raters`")
    total = items + noise + between
    seen = size**2
    theta = {
        "metrics": seen * items,
        "own slopes": 0.0,
        "rater": between,
        "taste": 0.0,
        "output": (1 - seen) * items,
        "noise": noise,
    }
    theta = {one: max(value / total, _NONE) for one, value in theta.items()}
    moves = {
        "metrics": (1.0, 2.0, 0.0, 0.0),
        "output": (1.0, -2 * seen / (1 - seen), 0.0, 0.0),
        "noise": (0.0, 0.0, 1.0, 0.0),
        "rater": (0.0, 0.0, 0.0, 1.0),
    }
    move = np.array([moves.get(one, (0.0,) * 4) for one in theta])
    doubt = np.array([item_doubt, correlation_doubt, noise_doubt, leniency_doubt])
    names = tuple(f"system {number}" for number in range(1, systems + 1))
    known = Known(
        systems=names,
        scale=np.full(systems, math.sqrt(total)),
        freedom=np.full(systems, _SURE),
        lent=0.0,
        theta=theta,
        covariance=(move * doubt**2) @ move.T,
        freedom_of_all=_SURE,
        apart=True,
    )
    campaign = _campaign(names, int(seen > 0), raters, pool_size)
    place = np.tile(np.arange(1, campaign.n // systems + 1), systems)
    left = int(campaign.pools.size[0])
    return Prospect(known, campaign, place, left, "new outputs" if pool_size is None else "pool")


def _number(name: str, given: Typed) -> tuple[float, float]:
    """Return a number and the standard error of its logarithm."""
    numbers = [float(one) for one in ([given] if isinstance(given, int | float) else given)]
    if len(numbers) not in {1, 3} or not all(math.isfinite(one) and one >= 0 for one in numbers):
        raise InvalidArgumentError(
            f"`{name}` must be a number of 0 or more, or a number with the ends of its interval such as "
            f"0.5,0.3,0.6; got {given}"
        )
    if len(numbers) == 1:
        return numbers[0], 0.0
    value, low, high = numbers
    if not 0 < low <= value <= high:
        raise InvalidArgumentError(
            f"`{name}` must lie in its interval, which must be above 0; got {given}"
        )
    return value, math.log(high / low) / _INTERVAL


def _campaign(
    names: tuple[str, ...], p: int, raters: int | None, pool_size: int | None
) -> Campaign:
    """Return one imagined judgment of each of some outputs."""
    k = len(names)
    size = 10_000_000 if pool_size is None else pool_size
    each = min(size, MOST_IMAGINED // k)
    rng = np.random.default_rng(_SEED)
    values = rng.standard_normal((each * k, p))
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
        metric=values,
        pools=pools,
        in_pool=np.eye(k, dtype=np.bool_)[system],
        rater=None if raters is None else rng.permutation(each * k) % raters,
    )
