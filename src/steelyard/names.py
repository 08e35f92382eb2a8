"""Names of people's systems, metrics and prompts: how they are shown, and the nearest to one that is not known."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["known_names", "printable", "shown_names"]

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


def shown_names(names: Sequence[str], width: int = 22) -> list[str]:
    """Return names short enough for a figure or a table, all still different.

    What all that are too long begin or end with is left out first.

    Parameters
    ----------
    names : sequence of str
        Names, all different.
    width : int
        Greatest number of characters.

    Returns
    -------
    list of str
        The names; of one that is still long, its two ends, since versions differ at either.

    Examples
    --------
    >>> shown_names(["short", "a-rather-long-name-v1", "a-rather-long-name-v2"], width=12)
    ['short', '…v1', '…v2']
    >>> shown_names(["maker/model-one-instruct", "maker/model-two-instruct"], width=12)
    ['…one…', '…two…']
    >>> shown_names(["short", "a-rather-long-name-v1"], width=12)
    ['short', 'a-rathe…e-v1']
    """
    shown: list[str] = []
    texts = [printable(name) for name in names]
    long = [text for text in texts if len(text) > width]
    cut = dict(zip(long, _without_shared_ends(long), strict=True))
    texts = [cut.get(text, text) for text in texts]
    tail = (width - 1) // 3 + 1
    for whole in texts:
        is_long = len(whole) > width
        text = f"{whole[: width - 1 - tail]}…{whole[-tail:]}" if is_long else whole
        number = 2
        unique = text
        while unique in shown:
            unique = f"{text[: width - 4]} ({number})"
            number += 1
        shown.append(unique)
    return shown


def _without_shared_ends(texts: Sequence[str]) -> list[str]:
    """Return the texts without the words that all of them begin and end with."""
    start = _shared(texts)
    end = _shared([text[start:][::-1] for text in texts])
    return [
        f"{'…' if start else ''}{text[start : len(text) - end]}{'…' if end else ''}"
        for text in texts
    ]


def _shared(texts: Sequence[str]) -> int:
    """Return how many characters all texts have in common at the start, up to the end of a word."""
    if len(texts) < 2:
        return 0
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    while same and first[same - 1].isalnum():
        same -= 1
    # A character or two are not worth the sign that they are missing.
    return same if same > 2 else 0


def printable(name: str) -> str:
    """Return a name without control characters: they have no picture, and XML forbids most."""
    return "".join(c if c.isprintable() else " " for c in name)
