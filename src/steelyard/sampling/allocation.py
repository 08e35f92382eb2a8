"""How many outputs to judge in each stratum."""

import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np

from steelyard.errors import InvalidArgumentError

__all__ = ["allocate"]


def allocate(
    n: int,
    sizes: Mapping[Any, int],
    *,
    at_least: Mapping[Any, int] | None = None,
) -> dict[Any, int]:
    r"""Return the whole numbers of outputs that give a stratified mean the least variance.

    Of all :math:`n_h` that sum to n with :math:`\min(2, N_h) \le n_h \le N_h`, those that minimise
    :math:`\sum_h N_h^2 / n_h` exactly: beginning from the least, each further output goes to
    the stratum with the greatest :math:`N_h / \sqrt{n_h (n_h + 1)}`.
    This is proportional allocation, and where :math:`n N_h / N` are whole numbers above one, it is
    they. There is no rounding afterwards.

    Parameters
    ----------
    n : int
        Number of outputs to draw.
    sizes : mapping of stratum to int
        Number of outputs in each stratum, :math:`N_h`.
    at_least : mapping of stratum to int, optional
        Outputs already drawn, which an extension keeps.

    Returns
    -------
    dict of stratum to int
        In the order of `sizes`; strata without outputs get none.

    Raises
    ------
    InvalidArgumentError
        If n is below two a stratum or above the size of the pool.

    References
    ----------
    Wright (2017), Exact optimal sample allocation: more efficient than Neyman.

    Examples
    --------
    >>> allocate(10, {"low": 20, "high": 80})
    {'low': 2, 'high': 8}
    """
    floor = {name: max(min(2, size), (at_least or {}).get(name, 0)) for name, size in sizes.items()}
    for name, size in sizes.items():
        if floor[name] > size:
            raise InvalidArgumentError(
                f"`at_least` must not exceed the stratum; {floor[name]} of {size} in {name!r}"
            )
    _check_total(n, sizes, floor)
    found = dict(floor)
    queue = [
        (-_priority(sizes[name], count), -sizes[name], number, name)
        for number, (name, count) in enumerate(found.items())
        if count < sizes[name]
    ]
    heapq.heapify(queue)
    for _ in range(n - sum(found.values())):
        _, size, number, name = heapq.heappop(queue)
        found[name] += 1
        if found[name] < sizes[name]:
            priority = -_priority(sizes[name], found[name])
            heapq.heappush(queue, (priority, size, number, name))
    return found


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


def _priority(size: int, count: int) -> float:
    return size / float(np.sqrt(count * (count + 1)))
