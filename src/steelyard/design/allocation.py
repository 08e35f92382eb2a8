"""How many outputs to judge in each stratum."""

import heapq
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import judged_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError

__all__ = ["allocate", "pilot_deviations"]

Floats = NDArray[np.float64]

# Judged outputs that the pooled variance counts for, beside a stratum's own.
_PRIOR = 2


def allocate(
    n: int,
    sizes: Mapping[Any, int],
    *,
    deviations: Mapping[Any, float] | None = None,
    at_least: Mapping[Any, int] | None = None,
) -> dict[Any, int]:
    r"""Return the whole numbers of outputs that give a stratified mean the least variance.

    Of all :math:`n_h` that sum to n with :math:`\min(2, N_h) \le n_h \le N_h`, those that minimise
    :math:`\sum_h N_h^2 S_h^2 / n_h` exactly: beginning from the least, each further output goes to
    the stratum with the greatest :math:`N_h S_h / \sqrt{n_h (n_h + 1)}`. With equal deviations
    this is proportional allocation, and where :math:`n N_h / N` are whole numbers above one, it is
    they. There is no rounding afterwards.

    Parameters
    ----------
    n : int
        Number of outputs to draw.
    sizes : mapping of stratum to int
        Number of outputs in each stratum, :math:`N_h`.
    deviations : mapping of stratum to float, optional
        Standard deviation in each stratum, :math:`S_h` (Neyman allocation); all equal if not
        given.
    at_least : mapping of stratum to int, optional
        Outputs already drawn, which an extension keeps.

    Returns
    -------
    dict of stratum to int
        In the order of `sizes`; strata without outputs get none.

    Raises
    ------
    InvalidArgumentError
        If n is below two a stratum or above the size of the pool, or deviations are missing or
        negative.

    References
    ----------
    Neyman (1934); Wright (2012), The equivalence of Neyman optimum allocation for sampling and
    equal proportions for apportioning the U.S. House of Representatives; Wright (2017), Exact
    optimal sample allocation: more efficient than Neyman.

    Examples
    --------
    >>> allocate(10, {"low": 50, "high": 50}, deviations={"low": 1.0, "high": 4.0})
    {'low': 2, 'high': 8}
    """
    spread = _spreads(sizes, deviations)
    floor = {name: max(min(2, size), (at_least or {}).get(name, 0)) for name, size in sizes.items()}
    for name, size in sizes.items():
        if floor[name] > size:
            raise InvalidArgumentError(
                f"`at_least` must not exceed the stratum; {floor[name]} of {size} in {name!r}"
            )
    _check_total(n, sizes, floor)
    found = dict(floor)
    # Strata without spread come last, the larger first, once all others are exhausted.
    queue = [
        (-_priority(sizes[name], spread[name], count), -sizes[name], number, name)
        for number, (name, count) in enumerate(found.items())
        if count < sizes[name]
    ]
    heapq.heapify(queue)
    for _ in range(n - sum(found.values())):
        _, size, number, name = heapq.heappop(queue)
        found[name] += 1
        if found[name] < sizes[name]:
            priority = -_priority(sizes[name], spread[name], found[name])
            heapq.heappush(queue, (priority, size, number, name))
    return found


def pilot_deviations(
    human: ArrayLike,
    strata: ArrayLike,
    *,
    items: ArrayLike,
    names: Mapping[Any, int],
    metric: ArrayLike | None = None,
) -> dict[Any, float]:
    r"""Return the standard deviation of mean judgments in each stratum, from a pilot.

    With metrics it is that of what they leave, :math:`\bar y_i - a'g_i` with the least-squares slope
    within strata, since that is what an estimate with a combined slope has to average.

    Few judged outputs can show no spread where there is some, and such a stratum would be all but
    left out. So each stratum's variance, with :math:`n_h - 1` degrees of freedom, is averaged with
    the pooled variance within strata counting for two:
    :math:`(\nu_h s_h^2 + 2 s^2)/(\nu_h + 2)`. Strata that the pilot does not know get the pooled
    one.

    Parameters
    ----------
    human, strata, items : (M,) array
        Judgments of the pilot, the stratum of their outputs, and which outputs they are.
    metric : (M,) or (M, p) array, optional
        Metrics of their outputs that the estimate will correct with.
    names : mapping
        The strata to allocate to, whatever they map to.

    Returns
    -------
    dict of stratum to float

    Raises
    ------
    NotEstimableError
        If no stratum has two judged outputs, or none shows spread.

    Examples
    --------
    >>> found = pilot_deviations(
    ...     [1, 1, 0, 4], ["a", "a", "b", "b"], items=[1, 2, 3, 4], names={"a": 9, "b": 9, "c": 9}
    ... )
    >>> [round(found[name], 3) for name in "abc"]
    [1.633, 2.309, 2.0]
    """
    labels, code = np.unique(np.asarray(strata), return_inverse=True)
    columns = [code.astype(np.float64)]
    if metric is not None:
        columns.append(np.asarray(metric, dtype=np.float64))
    sample = judged_outputs(human, np.column_stack(columns), items)
    stratum = sample.metric[:, 0].astype(np.int64)
    count = np.bincount(stratum, minlength=len(labels))

    def centred(values: Floats) -> Floats:
        totals = np.bincount(stratum, weights=values, minlength=len(labels))
        return np.asarray(values - (totals / np.maximum(count, 1))[stratum])

    left, n_metrics = centred(sample.mean), sample.n_metrics - 1
    if n_metrics:
        g = np.column_stack([centred(column) for column in sample.metric[:, 1:].T])
        left = left - g @ np.linalg.lstsq(g, left, rcond=None)[0]
    squares = np.bincount(stratum, weights=left**2, minlength=len(labels))
    freedom = np.maximum(count - 1, 0)
    if freedom.sum() <= n_metrics or squares.sum() <= 1e-24 * float(sample.mean @ sample.mean):
        raise NotEstimableError(
            f"the pilot tells no spread within strata: {sample.n_outputs} judged outputs in "
            f"{len(labels)} strata: judge more, or use proportional allocation"
        )
    pooled = float(squares.sum() / (freedom.sum() - n_metrics))
    own = dict(zip(labels.tolist(), zip(squares, freedom, strict=True), strict=True))
    return {
        name: float(
            np.sqrt((own[name][0] + _PRIOR * pooled) / (own[name][1] + _PRIOR))
            if name in own
            else np.sqrt(pooled)
        )
        for name in names
    }


def _spreads(
    sizes: Mapping[Any, int], deviations: Mapping[Any, float] | None
) -> dict[Hashable, float]:
    if deviations is None:
        return dict.fromkeys(sizes, 1.0)
    for name in sizes:
        if name not in deviations:
            raise InvalidArgumentError(f"`deviations` must hold every stratum; {name!r} is missing")
        if not 0 <= deviations[name] < np.inf:
            raise InvalidArgumentError(
                f"`deviations` must be finite and not negative; got {deviations[name]} for {name!r}"
            )
    return {name: float(deviations[name]) for name in sizes}


def _check_total(n: int, sizes: Mapping[Any, int], floor: Mapping[Any, int]) -> None:
    pool = sum(sizes.values())
    if n > pool:
        raise InvalidArgumentError(f"`n` must not exceed the pool; got {n} of {pool} outputs")
    least = sum(floor.values())
    if n < least:
        raise InvalidArgumentError(
            f"`n` must be at least {least}, two outputs in each of {len(sizes)} strata and those "
            f"already drawn; got {n}: draw more, or use fewer strata"
        )


def _priority(size: int, spread: float, count: int) -> float:
    return size * spread / float(np.sqrt(count * (count + 1)))
