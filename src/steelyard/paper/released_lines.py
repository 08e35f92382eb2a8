"""Lines of the data released with The price of debiasing automatic metrics (Chaganty et al. 2018).

One JSON object a line. A line of judgments is one output::

    {"id": …, "system": …, "annotators": [rater, …],
     "prompts": {prompt: {"human": [judgment, …], "gold": mean, metric: score, …}, …}}

A line of texts is one distinct answer: ``{"id", "systems", "query", "answer"}``.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InvalidDataError

__all__ = [
    "REFERENCE",
    "ReleasedOutput",
    "ReleasedText",
    "holds_texts",
    "read_released",
    "read_texts",
]

# The system under which reference texts were judged.
REFERENCE = "reference"
# Under a prompt, every other key is a metric.
_NOT_METRICS = ("human", "gold")


@dataclass(frozen=True)
class ReleasedOutput:
    """A line of judgments: a system's output for an item, with all its judgments.

    Attributes
    ----------
    line : int
        Where it stands in its file, from 1.
    item, system : str
        Which output.
    raters : tuple of str
        Who judged it.
    human : mapping
        Judgments under each prompt, in the order of `raters`.
    gold : mapping
        Mean judgment under each prompt, as released.
    metrics : mapping
        Automatic scores.
    """

    line: int
    item: str
    system: str
    raters: tuple[str, ...]
    human: Mapping[str, tuple[float, ...]]
    gold: Mapping[str, float]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class ReleasedText:
    """A line of texts: a distinct answer to a question, and the systems that gave it."""

    item: str
    systems: tuple[str, ...]
    query: str
    answer: str


def read_released(path: Path) -> tuple[ReleasedOutput, ...]:
    """Read a file of released judgments.

    Parameters
    ----------
    path : Path
        ``msmarco.jsonl`` or ``cnndm.jsonl``.

    Returns
    -------
    tuple of ReleasedOutput
        Lines in their order.

    Raises
    ------
    InvalidDataError
        If a line is not of the released form; the message names file, line and key.
    """
    return tuple(_output(path, number, line) for number, line in _objects(path))


def read_texts(path: Path) -> tuple[ReleasedText, ...]:
    """Read a file of released texts.

    Parameters
    ----------
    path : Path
        ``msmarco_texts.jsonl``.

    Raises
    ------
    InvalidDataError
        If a line is not of the released form.
    """
    return tuple(
        ReleasedText(
            item=str(_value(path, number, line, "id", str | int)),
            systems=tuple(_value(path, number, line, "systems", list)),
            query=_value(path, number, line, "query", str),
            answer=_value(path, number, line, "answer", str),
        )
        for number, line in _objects(path)
    )


def holds_texts(path: Path) -> bool:
    """Tell by its first line whether a file holds texts, or else judgments.

    Raises
    ------
    InvalidDataError
        If it holds neither.
    """
    _, first = next(_objects(path), (0, {}))
    if "answer" not in first and "prompts" not in first:
        raise InvalidDataError(
            f"{path}, line 1: expected an object with `prompts` (judgments) or with `answer` (texts): "
            "name msmarco.jsonl, cnndm.jsonl or msmarco_texts.jsonl of the release"
        )
    return "answer" in first


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines with their numbers, from 1."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    found = json.loads(line)
                    if not isinstance(found, dict):
                        raise InvalidDataError(f"{path}, line {number}: expected a JSON object")
                    yield number, found
    except FileNotFoundError:
        raise InvalidDataError(f"{path}: no such file") from None
    except (IsADirectoryError, PermissionError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InvalidDataError(f"{path}, line {number}: not JSON: {error.msg}") from None


def _output(path: Path, number: int, line: Mapping[str, Any]) -> ReleasedOutput:
    prompts = _value(path, number, line, "prompts", dict)
    raters = tuple(map(str, _value(path, number, line, "annotators", list)))
    human, gold = {}, {}
    metrics: dict[str, float] | None = None
    for prompt, found in prompts.items():
        scores = tuple(_number(path, number, f"{prompt}.human", v) for v in found.get("human", ()))
        if len(scores) != len(raters):
            raise InvalidDataError(
                f"{path}, line {number}, key {prompt}.human: expected one judgment for each of "
                f"{len(raters)} annotators, got {len(scores)}"
            )
        human[prompt] = scores
        gold[prompt] = _number(path, number, f"{prompt}.gold", found.get("gold"))
        here = {
            name: _number(path, number, f"{prompt}.{name}", score)
            for name, score in found.items()
            if name not in _NOT_METRICS
        }
        if metrics is not None and here != metrics:
            raise InvalidDataError(
                f"{path}, line {number}: the metrics of an output differ between its prompts"
            )
        metrics = here
    return ReleasedOutput(
        number,
        item=str(_value(path, number, line, "id", str | int)),
        system=_value(path, number, line, "system", str),
        raters=raters,
        human=human,
        gold=gold,
        metrics=metrics or {},
    )


def _value(path: Path, number: int, line: Mapping[str, Any], key: str, kind: Any) -> Any:
    found = line.get(key)
    if not isinstance(found, kind) or found in ([], {}):
        raise InvalidDataError(
            f"{path}, line {number}, key {key}: expected the released form, got {found!r:.60}"
        )
    return found


def _number(path: Path, line: int, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidDataError(
            f"{path}, line {line}, key {key}: expected a finite number, got {value!r:.60}"
        )
    return float(value)
