"""What is scored: an output and its references, from cells of any format."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidDataError
from steelyard.metrics import score
from steelyard.tables.tables import shown

__all__ = ["Example", "example", "reference_texts", "scored"]

Example = tuple[str, tuple[str, ...]]


def example(
    output: Any,
    reference: Any,
    *,
    columns: tuple[str, str],
    place: Callable[[], str],
    is_text: bool,
) -> Example:
    """Return an output and its references.

    Parameters
    ----------
    output : object
        Text; a number is taken as it is written.
    reference : object
        A text, or a list of texts. In a text file a cell may hold a list as JSON.
    columns : (str, str)
        Names of the two columns, for messages.
    place : callable
        Says where the row stands.
    is_text : bool
        Whether the row comes from a text file.

    Raises
    ------
    InvalidDataError
        If the output is no text, or there is no reference.

    Examples
    --------
    >>> example("a", '["b", "c"]', columns=("output", "reference"), place=str, is_text=True)
    ('a', ('b', 'c'))
    """
    text = _text(output)
    if text is None:
        raise InvalidDataError(
            f"{place()}, column {columns[0]}: expected text, got {shown(output)}"
        )
    references = reference_texts(reference, is_text=is_text)
    if not references:
        raise InvalidDataError(
            f"{place()}, column {columns[1]}: expected a text or a list of texts to compare "
            f"with, got {shown(reference)}"
        )
    return text, references


def scored(
    examples: Sequence[Example], *, metrics: Sequence[str], place: Callable[[int], str]
) -> tuple[dict[str, NDArray[np.float64]], int, dict[int, str]]:
    """Score examples.

    Returns
    -------
    columns : dict
        The values of each metric.
    distinct : int
        Number of different examples.
    problems : dict
        Why a metric has no finite value, by the position of the example; `place` says where that
        stands.
    """
    outputs, references = zip(*examples, strict=True) if examples else ((), ())
    columns = score(outputs, references, metrics=metrics)
    problems: dict[int, str] = {}
    for name, values in columns.items():
        for position in np.flatnonzero(~np.isfinite(values)).tolist():
            reason = f"{name} gives {values[position]} on this output"
            problems.setdefault(position, f"{place(position)}: {reason}")
    return columns, len(set(examples)), problems


def reference_texts(value: Any, *, is_text: bool) -> tuple[str, ...]:
    """Return the texts in a cell of references; none if it holds anything else.

    Examples
    --------
    >>> reference_texts('["b", "c"]', is_text=True)
    ('b', 'c')
    """
    if isinstance(value, list):
        texts = [_text(one) for one in value if one is not None]
        known = tuple(text for text in texts if text is not None)
        return known if len(known) == len(texts) else ()
    if is_text and isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            several = json.loads(value)
        except json.JSONDecodeError:
            return (value,)
        return tuple(several) if all(isinstance(one, str) for one in several) else (value,)
    text = _text(value)
    return () if text is None else (text,)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None
