"""Weights on the command line: of prompts in an average, and of slices in a mix."""

import json
from pathlib import Path
from typing import Any

import click

from steelyard.cli.paths import InputPath
from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["Weights", "weights_from"]


class Weights(click.ParamType["dict[str, float]"]):
    """``NAME=NUMBER,NAME=NUMBER``, or a JSON file of names with numbers."""

    name = "weights"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """Return the weights; a file is noted as read, so that it is never written."""
        if isinstance(value, dict):
            return value
        if "=" not in value:
            InputPath().convert(value, param, ctx)
        option = "weights" if param is None else max(param.opts, key=len)
        return weights_from(option, str(value))


def weights_from(option: str, text: str) -> dict[str, float]:
    """Read weights: ``NAME=NUMBER,NAME=NUMBER``, or the name of a JSON file that maps names to numbers.

    Parameters
    ----------
    option : str
        The option that they were given with.
    text : str
        What was given.

    Examples
    --------
    >>> weights_from("--weights", "fluency=2, overall=1")
    {'fluency': 2.0, 'overall': 1.0}
    """
    if "=" not in text:
        return _weights_in(option, Path(text))
    found: dict[str, float] = {}
    for pair in text.split(","):
        name, separator, number = (part.strip() for part in pair.rpartition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = None
        if not separator or not name or weight is None:
            raise InvalidArgumentError(
                f"`{option}` must look like one=0.7,other=0.3, or name a JSON file; got {text!r}"
            )
        if name in found:
            raise InvalidArgumentError(f"`{option}` must name each once; got {name!r} twice")
        found[name] = weight
    return found


def _weights_in(option: str, path: Path) -> dict[str, float]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidArgumentError(
            f"`{option}` must look like one=0.7,other=0.3, or name a JSON file; {path} cannot be read: "
            f"{error.strerror}"
        ) from error
    except ValueError as error:
        raise InvalidDataError(f'{path}: expected JSON, such as {{"one": 0.7}}: {error}') from error
    numbers = isinstance(found, dict) and all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in found.values()
    )
    if not numbers:
        raise InvalidDataError(f'{path}: expected names with numbers, such as {{"one": 0.7}}')
    return {name: float(weight) for name, weight in found.items()}
