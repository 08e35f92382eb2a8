"""What a converter of another tool's files gives, and where each converter is found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidArgumentError

__all__ = ["CONVERTERS", "Conversion", "converter"]

# The name of a format, and the module whose `convert` reads it; loaded when it is asked for.
CONVERTERS = {"price-of-debiasing": "steelyard.data.price_of_debiasing"}


@dataclass(frozen=True, eq=False)
class Conversion:
    """One campaign in our form.

    Attributes
    ----------
    name : str
        Short name of the campaign, fit for the name of a file.
    outputs, judgments : polars.DataFrame
        Rows as `read_outputs` and `read_judgments` take them.
    remarks : tuple of str
        What a reader must know: what was merged, renamed or not taken over.
    """

    name: str
    outputs: pl.DataFrame
    judgments: pl.DataFrame
    remarks: tuple[str, ...] = ()


def converter(name: str) -> Callable[[Sequence[Path]], list[Conversion]]:
    """Return the function that converts files of a format.

    Parameters
    ----------
    name : str
        One of `CONVERTERS`.

    Raises
    ------
    InvalidArgumentError
        If there is no such format.

    Examples
    --------
    >>> converter("price-of-debiasing").__name__
    'convert'
    """
    if name not in CONVERTERS:
        raise InvalidArgumentError(f"`--from` must be one of {', '.join(CONVERTERS)}; got {name!r}")
    found: Callable[[Sequence[Path]], list[Conversion]] = import_module(CONVERTERS[name]).convert
    return found
