"""The released data: judgments, texts and the authors' own results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidDataError
from steelyard.foreign.format import Conversion
from steelyard.paper.names import TASKS, TaskNames, ordered
from steelyard.paper.packaged import packaged_lines
from steelyard.paper.released_lines import (
    REFERENCE,
    ReleasedOutput,
    ReleasedText,
    read_released,
    read_texts,
)
from steelyard.paper.released_tables import converted

__all__ = ["Lines", "PaperTask", "Release", "read_release"]


_TEXTS, _TEXTS_OF, _RESULTS = "msmarco_texts.jsonl", "msmarco", "published.json"
_WITHOUT_RESULTS = (
    f"{_RESULTS} is not there: what the authors released beside the paper (variance components of "
    "each system, correlations, bias study, data efficiencies) is left out"
)


@dataclass(frozen=True, eq=False)
class Lines:
    """Some lines of the release under one prompt, as arrays.

    Attributes
    ----------
    human : (M,) array
        Judgments.
    line : (M,) array of int
        Position of the line, from 0 to n - 1, that each judgment is of.
    gold : (n,) array
        Mean judgment of each line as released.
    mean : (n,) array
        Mean of the judgments that each line lists.
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
        found = (line.system for line in self.lines if line.system != REFERENCE)
        return ordered(found, self.names.systems)

    @cached_property
    def prompts(self) -> tuple[str, ...]:
        """Prompts in the paper's order."""
        return ordered(self.lines[0].human, self.names.prompts)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics, in the order of the release."""
        return tuple(self.lines[0].metrics)

    @cached_property
    def conversion(self) -> Conversion:
        """The task as outputs and judgments, an output judged twice over being one."""
        return converted(self.name, self.lines, self.texts)

    def released(self, *keys: str) -> Any:
        """Return an entry of the authors' results, None if it is not there."""
        found: Any = self.published
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def under(self, prompt: str, system: str | None = None) -> Lines:
        """Return the lines of a system under a prompt; of all, references included, if None."""
        chosen = [line for line in self.lines if system is None or line.system == system]
        return arrays(chosen, prompt)


@dataclass(frozen=True, eq=False)
class Release:
    """What a directory holds of the release.

    Attributes
    ----------
    directory : Path or None
        Where it lies; None for the scores in the package.
    tasks : tuple of PaperTask
        Those whose judgments are there.
    missing : tuple of str
        What is not there, and what therefore is left out.
    """

    directory: Path | None
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
        return Release(None, tasks, (_without_texts(TASKS[_TEXTS_OF]), _WITHOUT_RESULTS))
    if not directory.is_dir():
        raise InvalidDataError(
            f"{directory}: no such directory: name the one that holds "
            f"{' and '.join(names.file for names in TASKS.values())}, or none for the scores in the "
            "package"
        )
    published = _published(directory / _RESULTS)
    found, missing = [], []
    for name, names in TASKS.items():
        if not (directory / names.file).exists():
            missing.append(f"{names.file} is not there: all about {names.title} is left out")
            continue
        texts: tuple[ReleasedText, ...] = ()
        if name == _TEXTS_OF and (directory / _TEXTS).exists():
            texts = read_texts(directory / _TEXTS)
        elif name == _TEXTS_OF:
            missing.append(_without_texts(names))
        found.append(_task(directory / names.file, name, texts, published))
    if not found:
        raise InvalidDataError(
            f"{directory}: expected {' or '.join(names.file for names in TASKS.values())} of the "
            "released data, found neither: name the directory that holds them, or none for the "
            "scores in the package"
        )
    if published is None:
        missing.append(_WITHOUT_RESULTS)
    return Release(directory, tuple(found), tuple(missing))


def _task(
    path: Path, name: str, texts: tuple[ReleasedText, ...], published: Mapping[str, Any] | None
) -> PaperTask:
    lines = read_released(path)
    if not lines:
        raise InvalidDataError(f"{path}: expected one output a line, got an empty file")
    return PaperTask(name, lines, texts, published and published.get(name))


def _without_texts(names: TaskNames) -> str:
    return (
        f"{_TEXTS} is not there: table 1 of {names.title}, which counts distinct answers, "
        "and its examples are left out"
    )


def arrays(lines: Sequence[ReleasedOutput], prompt: str) -> Lines:
    """Return lines under a prompt as arrays."""
    count = np.array([len(line.raters) for line in lines])
    human = np.concatenate([line.human[prompt] for line in lines])
    line = np.repeat(np.arange(len(lines)), count)
    return Lines(
        human=human,
        line=line,
        gold=np.array([one.gold[prompt] for one in lines]),
        mean=np.bincount(line, weights=human) / count,
        count=count,
        metrics={name: np.array([one.metrics[name] for one in lines]) for name in lines[0].metrics},
    )


def _published(path: Path) -> Mapping[str, Any] | None:
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidDataError(f"{path}: expected an object with a key for each task")
    return found
