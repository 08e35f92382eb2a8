"""What to say when a name is not known: the nearest, and those that there are."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["known_names"]

# More names than this are counted, not listed.
_LISTED = 20


def known_names(name: str, known: Iterable[str]) -> str:
    """Return the names that there are, the one that was meant first.

    Examples
    --------
    >>> known_names("rogue-l", ["bleu", "rouge-l"])
    "there are: bleu, rouge-l; did you mean 'rouge-l'?"
    >>> known_names("x", [])
    'there are none'
    """
    names = [str(one) for one in known]
    if not names:
        return "there are none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    folded = {one.strip().casefold(): one for one in reversed(names)}
    near = get_close_matches(name.strip().casefold(), list(folded), n=1)
    meant = f"; did you mean {folded[near[0]]!r}?" if near else ""
    return f"there are: {', '.join(names[:_LISTED])}{more}{meant}"
