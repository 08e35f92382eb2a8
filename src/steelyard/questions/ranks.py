"""Ranks and groups of systems, from which pairs are told apart."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Rank", "groups_of", "ranks_of"]

Order = Collection[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Rank:
    """A system's estimate, and the ranks that it may have: 1 is the best."""

    system: str
    estimate: float
    low: int
    high: int


def ranks_of(
    means: Mapping[str, float], better: Order, *, lower_is_better: bool = False
) -> tuple[Rank, ...]:
    """Return the ranks that no simultaneous interval rules out, best estimate first.

    Parameters
    ----------
    means : mapping of str to float
        The estimate of each system.
    better : collection of (str, str)
        The pairs of which the first is better for sure.
    lower_is_better : bool
        Whether the least estimate is the best.
    """
    ranks = []
    sign = 1 if lower_is_better else -1
    # Systems without an estimate come last.
    for system in sorted(means, key=lambda name: (means[name] != means[name], sign * means[name])):
        above = sum((other, system) in better for other in means)
        below = sum((system, other) in better for other in means)
        ranks.append(
            Rank(system=system, estimate=means[system], low=1 + above, high=len(means) - below)
        )
    return tuple(ranks)


def groups_of(order: Sequence[str], better: Order) -> tuple[tuple[str, ...], ...]:
    """Cut the order wherever all above are better for sure than all below."""
    groups: list[list[str]] = [[]]
    for number, system in enumerate(order):
        above, below = order[:number], order[number:]
        if number and all((one, other) in better for one in above for other in below):
            groups.append([])
        groups[-1].append(system)
    return tuple(tuple(group) for group in groups)
