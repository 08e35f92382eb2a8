"""How many n-grams an output shares with its references, for a whole batch at once."""

import numpy as np
from numpy.typing import NDArray

from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokens import Tokens, spans

__all__ = ["clipped_matches", "pair_matches", "sorted_runs"]

Integers = NDArray[np.int64]

_WORD = 63


def pair_matches(tokens: Tokens, pairs: Pairs, *, order: int) -> Integers:
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


def clipped_matches(tokens: Tokens, text: Integers, group: Integers, *, order: int) -> Integers:
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
    All n-grams of the batch are sorted at once. An (n+1)-gram can only be shared when the two
    n-grams in it are, so each order looks only at what the order before it left over, and names
    an (n+1)-gram by the names of those two.
    """
    n_groups = int(group[-1]) + 1 if len(group) else 0
    matches = np.zeros((order, n_groups), dtype=np.int64)
    length = tokens.length[text]
    side = np.repeat(np.arange(len(text)), length)
    first = np.concatenate([[True], group[1:] != group[:-1]])
    place = np.arange(len(side))
    key = group[side] * tokens.size + tokens.ids[spans(tokens.start[text], length)]
    name = np.empty(len(side) + 1, dtype=np.int64)
    for n in range(order):
        if len(key) == 0:
            break
        key, place, new = sorted_runs(key, place)
        output, others = _counts(new, side[place], first)
        shared = np.minimum(output, others)
        matches[n] = np.bincount(group[side[place[new]]], weights=shared, minlength=n_groups)
        # places whose n-gram is shared get its number, all the others -1
        name.fill(-1)
        name[place] = np.repeat(
            np.where(shared > 0, np.arange(len(new)), -1), np.diff(new, append=len(key))
        )
        place = np.flatnonzero((name[:-1] >= 0) & (name[1:] >= 0))
        place = place[side[place] == side[place + 1]]
        key = name[place] * len(new) + name[place + 1]
    return matches


def sorted_runs(key: Integers, place: Integers) -> tuple[Integers, Integers, Integers]:
    """Sort places by their keys.

    Parameters
    ----------
    key : (n,) array of int
        Keys, not negative; at least one.
    place : (n,) array of int
        Places, increasing.

    Returns
    -------
    key, place : (n,) arrays of int
        Sorted by key, then by place.
    start : array of int
        Where each run of equal keys begins.

    Examples
    --------
    >>> sorted_runs(np.array([7, 3, 7]), np.array([0, 1, 2]))
    (array([3, 7, 7]), array([1, 0, 2]), array([0, 1]))
    """
    bits = int(place[-1]).bit_length()
    if int(key.max()).bit_length() + bits <= _WORD:
        # one plain sort of (key, place) packed into a word is several times faster than argsort
        packed = np.sort((key << bits) | place)
        key, place = packed >> bits, packed & ((1 << bits) - 1)
    else:
        order = np.argsort(key, kind="stable")
        key, place = key[order], place[order]
    return key, place, np.flatnonzero(_changes(key))


def _changes(values: Integers) -> NDArray[np.bool_]:
    changed = np.empty(len(values), dtype=np.bool_)
    changed[0] = True
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _counts(new: Integers, side: Integers, first: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Occurrences of each distinct n-gram in the first text, and at most in another one.

    `side` is the side of each sorted n-gram, `new` where a distinct n-gram begins.
    """
    change = _changes(side)
    change[new] = True
    run = np.flatnonzero(change)
    count = np.diff(run, append=len(side))
    in_first = first[side[run]]
    begin = np.searchsorted(run, new)
    return (
        np.add.reduceat(np.where(in_first, count, 0), begin),
        np.maximum.reduceat(np.where(in_first, 0, count), begin),
    )
