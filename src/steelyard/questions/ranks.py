"""Ranks and groups of systems, and the answer in one sentence, from which pairs are told apart."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Rank", "answer_sentence", "groups_of", "ranks_of"]

Order = Collection[tuple[str, str]]

# More names than this are counted, not listed.
_LISTED = 4


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


def answer_sentence(groups: Sequence[Sequence[str]], better: Order) -> str:
    """Return which systems are better than which, in one true sentence.

    Parameters
    ----------
    groups : sequence of sequence of str
        The systems, best first, cut where all above are better than all below.
    better : collection of (str, str)
        The pairs of which the first is better for sure.
    """
    if not groups:
        return ""
    if sum(len(group) for group in groups) > 2 * _LISTED:
        return _counted(groups, better)
    parts = [_inside(group, better) for group in groups if len(group) > 1]
    if len(groups) == 1:
        return parts[0] + "." if parts else ""
    names = [_together(group) for group in groups]
    if len(groups) == 2 and len(groups[0]) == 1:
        chain = f"{names[0]} is better than {names[1]}"
    elif len(groups) == 2 and len(groups[1]) == 1 and parts:
        whole = "both" if len(groups[0]) == 2 else "all of them"
        return f"{parts[0]}; {whole} are better than {names[1]}."
    else:
        chain = "better to worse: " + ", then ".join(names)
    return "; ".join([chain, *parts]) + "."


def _inside(group: Sequence[str], better: Order) -> str:
    """Say what is known inside a group."""
    pairs = list(combinations(group, 2))
    beaten: dict[tuple[str, ...], list[str]] = {}
    for one in group:
        others = tuple(other for other in group if (one, other) in better)
        if others:
            beaten.setdefault(others, []).append(one)
    if not beaten:
        return f"{_together(group)} are not told apart"
    known = sum(len(worse) * len(winners) for worse, winners in beaten.items())
    if len(beaten) > _LISTED // 2:
        return f"of the pairs among {_together(group)}, {known} of {len(pairs)} are told apart"
    said = [
        f"{_together(winners)} {'is' if len(winners) == 1 else 'are'} better than {_together(worse)}"
        for worse, winners in beaten.items()
    ]
    rest = "the other pair is" if len(pairs) - known == 1 else "the other pairs are"
    return "; ".join([*said, f"{rest} not told apart"])


def _counted(groups: Sequence[Sequence[str]], better: Order) -> str:
    """Say it for many systems: who may be the best, and how many pairs are told apart."""
    systems = [system for group in groups for system in group]
    beaten = {worse for _, worse in better}
    best = [system for system in systems if system not in beaten]
    pairs = len(systems) * (len(systems) - 1) // 2
    told = sum((a, b) in better or (b, a) in better for a, b in combinations(systems, 2))
    if len(best) == 1:
        lead = f"{best[0]} is not beaten by any other system"
        if all((best[0], other) in better for other in systems[1:]):
            lead = f"{best[0]} is better than all others"
    elif len(best) <= _LISTED:
        lead = f"no system is better than {_together(best)}"
    else:
        lead = f"{len(best)} of {len(systems)} systems may be the best"
    return f"{lead}; {told} of {pairs} pairs are told apart."


def _together(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else f"{', '.join(group[:-1])} and {group[-1]}"
