"""How many n-grams an output shares with its references, for a whole batch at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Ints
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokens import Tokens, spans

__all__ = ["blocks", "clipped_matches", "pair_matches", "run_sums", "sorted_runs"]


# Tokens worked on at a time: the arrays of a block stay in the processor's cache
_BLOCK = 32_768


def pair_matches(tokens: Tokens, pairs: Pairs, *, order: int) -> Ints:
    """Count the n-grams that the two texts of each pair share.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the batch's texts.
    pairs : Pairs
        The batch.
    order : int
        The longest n-gram.

    Returns
    -------
    (order, n_pairs) array of int
        Size of the intersection of the two multisets of n-grams, for n = 1 to `order`.
    """
    text = np.stack([pairs.output, pairs.reference], axis=1).ravel()
    return clipped_matches(tokens, text, np.repeat(np.arange(len(pairs)), 2), order=order)


def clipped_matches(tokens: Tokens, text: Ints, group: Ints, *, order: int) -> Ints:
    r"""Count the n-grams of the first text of each group that the group's other texts have.

    An n-gram :math:`w` counts :math:`\min(c_1(w), \max_{k > 1} c_k(w))` times, where
    :math:`c_k(w)` is how often it occurs in the group's k-th text: with one other text this is
    the intersection of two multisets, with several it is BLEU's clipped count.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the texts.
    text : (n_sides,) array of int
        Which text each side is.
    group : (n_sides,) array of int
        Group of each side, non-decreasing from 0; every group has two sides or more.
    order : int
        The longest n-gram.

    Returns
    -------
    (order, n_groups) array of int

    Notes
    -----
    The n-grams of many groups are sorted at once; an n-gram's place tells its group. An (n+1)-gram can only be shared when the two
    n-grams in it are, so each order looks only at what the order before it left over, and names
    an (n+1)-gram by the names of those two.
    """
    n_groups = int(group[-1]) + 1 if len(group) else 0
    matches = np.zeros((order, n_groups), dtype=np.int64)
    head = np.flatnonzero(np.diff(group, prepend=-1, append=n_groups))
    for low, high in blocks(np.add.reduceat(tokens.length[text], head[:-1])):
        sides = slice(head[low], head[high])
        matches[:, low:high] = _block(tokens, text[sides], group[sides] - low, order=order)
    return matches


def blocks(length: Ints) -> Iterator[tuple[int, int]]:
    """Divide texts, or groups of texts, into runs of about as many tokens as a cache holds.

    Parameters
    ----------
    length : (n,) array of int
        Tokens of each.

    Yields
    ------
    low, high : int
        The first of a run, and one past its last.

    Examples
    --------
    >>> list(blocks(np.array([20_000, 12_000, 40_000, 1])))
    [(0, 2), (2, 3), (3, 4)]
    """
    end = np.cumsum(length)
    low = 0
    while low < len(end):
        before = end[low - 1] if low else 0
        high = max(int(np.searchsorted(end, before + _BLOCK, side="right")), low + 1)
        yield low, high
        low = high


def _block(tokens: Tokens, text: Ints, group: Ints, *, order: int) -> Ints:
    n_groups = int(group[-1]) + 1
    matches = np.zeros((order, n_groups), dtype=np.int64)
    side = np.repeat(np.arange(len(text)), tokens.length[text])
    # a place is where a token stands when the texts of all sides lie end to end
    place = np.arange(len(side))
    owner = group[side]
    first = np.diff(group, prepend=-1) > 0
    own = first[side]
    key = tokens.of(text)
    name = np.empty(len(side) + 1, dtype=np.int64)
    for n in range(order):
        if len(key) == 0:
            break
        place, start = sorted_runs(key, place, owner)
        count = np.diff(start, append=len(place))
        output = run_sums(own[place], start)
        others = count - output if len(text) == 2 * n_groups else _most(start, side[place], first)
        shared = np.minimum(output, others)
        matches[n] = np.bincount(owner[place[start]], weights=shared, minlength=n_groups)
        if n + 1 == order:
            break
        # the places of shared n-grams get their numbers, all others -1
        found = np.flatnonzero(shared)
        name.fill(-1)
        name[place[spans(start[found], count[found])]] = np.repeat(
            np.arange(len(found)), count[found]
        )
        place = np.flatnonzero((name[:-1] >= 0) & (name[1:] >= 0))
        place = place[side[place] == side[place + 1]]
        key = name[place] * len(found) + name[place + 1]
    return matches


def _most(start: Ints, side: Ints, first: NDArray[np.bool_]) -> Ints:
    """How often each distinct n-gram occurs at most in one of the texts but the first.

    `side` is the side of each sorted n-gram, `start` where a distinct n-gram begins.
    """
    change = np.diff(side, prepend=-1) != 0
    change[start] = True
    run = np.flatnonzero(change)
    count = np.where(first[side[run]], 0, np.diff(run, append=len(side)))
    most: Ints = np.maximum.reduceat(count, np.searchsorted(run, start))
    return most


def sorted_runs(key: Ints, place: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """Bring the places of one owner that have the same key together.

    Parameters
    ----------
    key : (n,) array of int
        Keys, not negative; at least one.
    place : (n,) array of int
        Places, increasing.
    owner : array of int
        Owner of each place there is, non-decreasing.

    Returns
    -------
    place : (n,) array of int
        Places by key, those of one key in their order.
    start : array of int
        Where each run of places of one key and one owner begins.

    Examples
    --------
    >>> sorted_runs(np.array([7, 3, 7, 7]), np.arange(4), np.array([0, 0, 0, 1]))
    (array([1, 0, 2, 3]), array([0, 1, 3]))
    """
    # by digits of 16 bits, the last first: numpy sorts those in linear time
    order = np.argsort(key.astype(np.uint16), kind="stable")
    top = int(key.max())
    for shift in range(16, top.bit_length(), 16):
        digit = (key[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    key, place = key[order], place[order]
    of = owner[place]
    change = np.empty(len(key), dtype=np.bool_)
    change[0] = True
    np.not_equal(key[1:], key[:-1], out=change[1:])
    change[1:] |= of[1:] != of[:-1]
    return place, np.flatnonzero(change)


def run_sums(flags: NDArray[np.bool_], start: Ints) -> Ints:
    """How many flags are set in each run.

    Parameters
    ----------
    flags : (n,) array of bool
        Flags.
    start : array of int
        Where each run begins, the first at 0.

    Examples
    --------
    >>> run_sums(np.array([True, False, True, True]), np.array([0, 2]))
    array([1, 2])
    """
    total = np.concatenate([[0], np.cumsum(flags)])
    return np.diff(total[start], append=total[-1])
