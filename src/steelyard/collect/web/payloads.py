"""What a JSON body may hold before anything else looks at it."""

from typing import Any

__all__ = ["plain_json"]

# As deep as any answer goes (a list of objects with lists of pairs), with room to spare.
_DEEPEST = 8
_GREATEST = 2**53


def plain_json(value: Any) -> Any:
    """Return `value` if every database and every reader can hold it.

    Raises
    ------
    ValueError
        If it is nested deeper than any answer, has a number that is not finite or not exact in
        double precision, or a text with half a surrogate pair or a null character.

    Examples
    --------
    >>> plain_json({"fluency": 2})
    {'fluency': 2}
    >>> plain_json({"fluency": float("nan")})
    Traceback (most recent call last):
    ValueError: a number must be finite and below 2**53 in size
    """
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        if isinstance(one, str):
            _check_text(one)
        elif isinstance(one, float | int):
            # an integer of any length compares with a float exactly
            if not -_GREATEST <= one <= _GREATEST:
                raise ValueError("a number must be finite and below 2**53 in size")
        elif isinstance(one, dict | list):
            if depth == _DEEPEST:
                raise ValueError("it is nested too deep")
            inner = [*one, *one.values()] if isinstance(one, dict) else one
            left.extend((part, depth + 1) for part in inner)
    return value


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("a text must not hold a null character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("a text must not hold half a surrogate pair") from None
