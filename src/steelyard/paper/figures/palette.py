"""Colours of systems and prompts, apart from one another in every common colour blindness."""

from collections.abc import Sequence

__all__ = ["GREEN", "colours", "markers"]

# K. Ito and M. Okabe (2008), Color universal design; without the yellow, which white paper hides.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#1b2430")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
GREEN = "#009E73"


def colours(names: Sequence[str]) -> dict[str, str]:
    """Give each name a colour, in order; they repeat after seven.

    Examples
    --------
    >>> colours(["a", "b"])
    {'a': '#0072B2', 'b': '#D55E00'}
    """
    return {name: _COLOURS[k % len(_COLOURS)] for k, name in enumerate(names)}


def markers(names: Sequence[str]) -> dict[str, str]:
    """Give each name a shape of mark, in order, for those who see no colour.

    Examples
    --------
    >>> markers(["a", "b"])
    {'a': 'o', 'b': 's'}
    """
    return {name: _MARKERS[k % len(_MARKERS)] for k, name in enumerate(names)}
