"""The released data: judgments, texts and the authors' own results.

Files hold one JSON object per line. A line of judgments is one output::

    {"id": …, "system": …, "annotators": [rater, …],
     "prompts": {prompt: {"human": [judgment, …], "gold": mean, metric: score, …}, …}}

A line of texts is one distinct answer: ``{"id", "systems", "query", "answer"}``. The package holds the
judgments and metrics as ``released.parquet``, one row per line, with pseudonyms for raters and no texts;
``scripts/package_release.py`` writes it from the authors' files. Source: A. Chaganty, S. Mussmann and
P. Liang (2018), *The price of debiasing automatic metrics in natural language evaluation*, ACL.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidDataError
from steelyard.paper.names import TASKS, TaskNames, ordered

__all__ = [
    "REFERENCE",
    "PaperTask",
    "Release",
    "ReleasedOutput",
    "ReleasedText",
    "holds_texts",
    "packaged_lines",
    "read_release",
    "read_released",
    "read_texts",
]

# The system under which reference texts were judged.
REFERENCE = "reference"
# Under a prompt, every other key is a metric.
_NOT_METRICS = ("human", "gold")
_TEXTS, _TEXTS_OF, _RESULTS = "msmarco_texts.jsonl", "msmarco", "published.json"
_WITHOUT_RESULTS = (
    f"{_RESULTS} is not there: what the authors released beside the paper (variance components of "
    "each system, correlations, bias study, data efficiencies) is left out"
)


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


@dataclass(frozen=True, eq=False)
class Lines:
    """Some lines of the release under one prompt, as arrays.

    Attributes
    ----------
    human : (M,) array
        Judgments.
    line : (M,) array of int
        Position of the line, from 0 to n - 1, that each judgment is of.
    gold, mean : (n,) array
        Mean judgment of each line as released, and of the judgments that it lists.
    count : (n,) array of int
        Judgments of each line.
    metrics : mapping of str to (n,) array
        Each metric.
    """

    human: Floats
    line: Ints
    gold: Floats
    mean: Floats
    count: Ints
    metrics: Mapping[str, Floats]

    @property
    def metric_table(self) -> Floats:
        """All metrics of the line that each judgment is of: (M, p)."""
        return np.column_stack(list(self.metrics.values()))[self.line]


@dataclass(frozen=True, eq=False)
class PaperTask:
    """One task of the paper.

    Attributes
    ----------
    name : str
        Its name in the release: ``msmarco`` or ``cnndm``.
    lines : tuple of ReleasedOutput
        One for each output, references included; a line of the file each.
    texts : tuple of ReleasedText
        Distinct answers; none if they were not released.
    published : mapping or None
        The authors' results for this task.
    """

    name: str
    lines: tuple[ReleasedOutput, ...]
    texts: tuple[ReleasedText, ...]
    published: Mapping[str, Any] | None

    @property
    def names(self) -> TaskNames:
        """What the paper calls things."""
        return TASKS[self.name]

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Systems without the reference, in the paper's order."""
        systems = (line.system for line in self.lines if line.system != REFERENCE)
        return ordered(systems, self.names.systems)

    @cached_property
    def prompts(self) -> tuple[str, ...]:
        """Prompts in the paper's order."""
        return ordered(self.lines[0].human, self.names.prompts)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics, in the order of the release."""
        return tuple(self.lines[0].metrics)

    @property
    def raters(self) -> set[str]:
        """Everyone who judged."""
        return {rater for line in self.lines for rater in line.raters}

    @property
    def n_judgments(self) -> int:
        """Judgments under each prompt, as the lines list them."""
        return sum(len(line.raters) for line in self.lines)

    def released(self, *keys: str) -> Any:
        """Return an entry of the authors' results, None if it is not there."""
        entry: Any = self.published
        for key in keys:
            entry = entry.get(key) if isinstance(entry, Mapping) else None
        return entry

    def under(self, prompt: str, system: str = "*") -> Lines:
        """Return the lines of a system under a prompt; of all, references included, for ``*``."""
        lines = [line for line in self.lines if system in ("*", line.system)]
        count = np.array([len(line.raters) for line in lines])
        human = np.concatenate([line.human[prompt] for line in lines])
        place = np.repeat(np.arange(len(lines)), count)
        return Lines(
            human=human,
            line=place,
            gold=np.array([line.gold[prompt] for line in lines]),
            mean=np.bincount(place, weights=human) / count,
            count=count,
            metrics={name: np.array([ln.metrics[name] for ln in lines]) for name in self.metrics},
        )


@dataclass(frozen=True, eq=False)
class Release:
    """The tasks whose judgments are there, and what is missing and therefore left out."""

    tasks: tuple[PaperTask, ...]
    missing: tuple[str, ...]

    def task(self, name: str) -> PaperTask | None:
        """Return a task by name, if it is there."""
        return next((task for task in self.tasks if task.name == name), None)


def read_release(directory: Path | None = None) -> Release:
    """Read the released data from a directory, or from the package.

    Parameters
    ----------
    directory : Path, optional
        Holds ``msmarco.jsonl``, ``cnndm.jsonl``, or both, and as far as they are there
        ``msmarco_texts.jsonl`` and ``published.json``. By default the scores in the package.

    Returns
    -------
    Release

    Raises
    ------
    InvalidDataError
        If there is no such directory, none of the judgments are in it, or a file is not of the
        released form.
    """
    if directory is None:
        lines = packaged_lines()
        tasks = tuple(PaperTask(name, lines[name], (), None) for name in TASKS)
        return Release(tasks, (_without_texts(TASKS[_TEXTS_OF]), _WITHOUT_RESULTS))
    known = [names.file for names in TASKS.values()]
    if not directory.is_dir():
        raise InvalidDataError(
            f"{directory}: no such directory: name the one that holds {' and '.join(known)}, or none "
            "for the scores in the package"
        )
    published = _published(directory / _RESULTS)
    there, missing = [], []
    for name, names in TASKS.items():
        path = directory / names.file
        if not path.exists():
            missing.append(f"{names.file} is not there: all about {names.title} is left out")
            continue
        texts: tuple[ReleasedText, ...] = ()
        if name == _TEXTS_OF and (directory / _TEXTS).exists():
            texts = read_texts(directory / _TEXTS)
        elif name == _TEXTS_OF:
            missing.append(_without_texts(names))
        outputs = read_released(path)
        if not outputs:
            raise InvalidDataError(f"{path}: expected one output a line, got an empty file")
        there.append(PaperTask(name, outputs, texts, published and published.get(name)))
    if not there:
        raise InvalidDataError(
            f"{directory}: expected {' or '.join(known)} of the released data, found neither: name the "
            "directory that holds them, or none for the scores in the package"
        )
    if published is None:
        missing.append(_WITHOUT_RESULTS)
    return Release(tuple(there), tuple(missing))


def _without_texts(names: TaskNames) -> str:
    return (
        f"{_TEXTS} is not there: table 1 of {names.title}, which counts distinct answers, "
        "and its examples are left out"
    )


def _published(path: Path) -> Mapping[str, Any] | None:
    if not path.exists():
        return None
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: not JSON: {error}") from None
    if not isinstance(results, dict):
        raise InvalidDataError(f"{path}: expected an object with a key for each task")
    return results


def packaged_lines() -> dict[str, tuple[ReleasedOutput, ...]]:
    """Return the lines of each task in the package, in their order."""
    with as_file(files("steelyard.paper") / "released.parquet") as path:
        table = pl.read_parquet(path)
    return {
        str(task): tuple(_packaged_line(row) for row in rows.iter_rows(named=True))
        for (task,), rows in table.partition_by("task", as_dict=True, maintain_order=True).items()
    }


def _packaged_line(row: Mapping[str, Any]) -> ReleasedOutput:
    def under(prefix: str) -> dict[str, Any]:
        named = ((name, value) for name, value in row.items() if name.startswith(prefix))
        return {name.removeprefix(prefix): value for name, value in named if value is not None}

    return ReleasedOutput(
        line=row["line"],
        item=row["item"],
        system=row["system"],
        raters=tuple(row["raters"]),
        human={prompt: tuple(scores) for prompt, scores in under("human.").items()},
        gold=under("gold."),
        metrics=under("metric."),
    )


def read_released(path: Path) -> tuple[ReleasedOutput, ...]:
    """Read a file of released judgments; a line of another form is an error with file, line and key."""
    return tuple(_output(f"{path}, line {number}", number, line) for number, line in _objects(path))


def read_texts(path: Path) -> tuple[ReleasedText, ...]:
    """Read a file of released texts; a line of another form is an error."""
    return tuple(
        ReleasedText(
            item=str(_value(f"{path}, line {number}", line, "id", str | int)),
            systems=tuple(_value(f"{path}, line {number}", line, "systems", list)),
            query=_value(f"{path}, line {number}", line, "query", str),
            answer=_value(f"{path}, line {number}", line, "answer", str),
        )
        for number, line in _objects(path)
    )


def holds_texts(path: Path) -> bool:
    """Return by its first line whether a file holds texts, or else judgments; neither is an error."""
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
            for number, text in enumerate(lines, start=1):
                if text.strip():
                    line = json.loads(text)
                    if not isinstance(line, dict):
                        raise InvalidDataError(f"{path}, line {number}: expected a JSON object")
                    yield number, line
    except FileNotFoundError:
        raise InvalidDataError(f"{path}: no such file") from None
    except (IsADirectoryError, PermissionError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise InvalidDataError(f"{path}, line {number}: not JSON: {error.msg}") from None


def _output(where: str, number: int, line: Mapping[str, Any]) -> ReleasedOutput:
    raters = tuple(map(str, _value(where, line, "annotators", list)))
    human, gold = {}, {}
    metrics: dict[str, float] | None = None
    for prompt, entry in _value(where, line, "prompts", dict).items():
        scores = tuple(_number(where, f"{prompt}.human", v) for v in entry.get("human", ()))
        if len(scores) != len(raters):
            raise InvalidDataError(
                f"{where}, key {prompt}.human: expected one judgment for each of "
                f"{len(raters)} annotators, got {len(scores)}"
            )
        human[prompt] = scores
        gold[prompt] = _number(where, f"{prompt}.gold", entry.get("gold"))
        here = {
            name: _number(where, f"{prompt}.{name}", score)
            for name, score in entry.items()
            if name not in _NOT_METRICS
        }
        if metrics is not None and here != metrics:
            raise InvalidDataError(f"{where}: the metrics of an output differ between its prompts")
        metrics = here
    return ReleasedOutput(
        number,
        item=str(_value(where, line, "id", str | int)),
        system=_value(where, line, "system", str),
        raters=raters,
        human=human,
        gold=gold,
        metrics=metrics or {},
    )


def _value(where: str, line: Mapping[str, Any], key: str, kind: Any) -> Any:
    value = line.get(key)
    if not isinstance(value, kind) or value in ([], {}):
        raise InvalidDataError(f"{where}, key {key}: expected the released form, got {value!r:.60}")
    return value


def _number(where: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidDataError(f"{where}, key {key}: expected a finite number, got {value!r:.60}")
    return float(value)
