"""Directories of mt-metrics-eval: texts line by line, scores of metrics and of people."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.mqm import USUAL_WEIGHTS, error_weight
from steelyard.foreign.values import is_missing, number, objects

__all__ = ["FORMAT"]

_OUTPUTS = re.compile(r"system-outputs/([^/]+)/(.+)\.txt")

# Human scores that count edits, of which fewer are better.
_COUNT_EDITS = ("hter", "ter")


def _recognises(document: ToolFile) -> bool:
    return document.kind == "folder" and any(map(_OUTPUTS.fullmatch, document.columns))


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    for document in documents:
        pair = _pair(document, options)
        segments = _add_texts(gathered, document.path, pair, document.columns)
        _add_metrics(gathered, document, pair, segments)
        _add_judgments(gathered, document, pair, segments)


def _pair(document: ToolFile, options: Options) -> str:
    pairs = sorted({found[1] for name in document.columns if (found := _OUTPUTS.fullmatch(name))})
    chosen = options.only.get("pair", pairs[0] if len(pairs) == 1 else None)
    if chosen not in pairs:
        raise InvalidDataError(
            f"{document.path}: the language pairs are {', '.join(pairs)}: choose one with "
            f"--only pair={pairs[0]}"
        )
    return str(chosen)


def _lines(path: Path) -> list[str]:
    try:
        return (
            path.read_text(encoding="utf-8").removesuffix("\n").split("\n") if path.exists() else []
        )
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def _add_texts(gathered: Gathered, folder: Path, pair: str, names: Sequence[str]) -> dict[str, int]:
    """Add the outputs; return how many segments each system has."""
    sources = _lines(folder / "sources" / f"{pair}.txt")
    documents = [line.split() for line in _lines(folder / "documents" / f"{pair}.docs")]
    references = {
        path.name.removeprefix(f"{pair}.").removesuffix(".txt"): _lines(path)
        for path in sorted((folder / "references").glob(f"{pair}.*.txt"))
    }
    segments = {}
    for name in names:
        found = _OUTPUTS.fullmatch(name)
        if found is None or found[1] != pair:
            continue
        if found[2] in references:
            gathered.drop(f"references that appear as a system ({found[2]})")
            continue
        texts = _lines(folder / name)
        if sources and len(texts) != len(sources):
            raise InvalidDataError(
                f"{folder / name}: {len(texts):,} lines, but {len(sources):,} sources"
            )
        segments[found[2]] = len(texts)
        for position, output in enumerate(texts):
            where = documents[position] if position < len(documents) else []
            gathered.output(
                position + 1,
                found[2],
                output,
                input=sources[position] if sources else None,
                reference=[
                    lines[position] for lines in references.values() if position < len(lines)
                ],
                cluster=where[-1] if where else None,
                slices={"domain": where[0]} if len(where) > 1 else None,
            )
    return segments


def _scores(path: Path, segments: dict[str, int]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield segment, system and the cells after it; a system's lines stand in order."""
    counted: dict[str, int] = {}
    for row, line in enumerate(_lines(path), start=1):
        parts = line.split("\t") if "\t" in line else line.split(None, 1)
        if len(parts) < 2:
            raise InvalidDataError(f"{path}, line {row}: expected a system and a score")
        system, *cells = parts
        counted[system] = counted.get(system, 0) + 1
        if counted[system] > segments.get(system, counted[system]):
            raise InvalidDataError(f"{path}, line {row}: more scores than segments of {system!r}")
        if system in segments:
            yield counted[system], system, cells


def _add_metrics(
    gathered: Gathered, document: ToolFile, pair: str, segments: dict[str, int]
) -> None:
    for path in sorted((document.path / "metric-scores" / pair).glob("*.seg.score")):
        for segment, system, cells in _scores(path, segments):
            gathered.metric(segment, system, path.name.removesuffix(".seg.score"), cells[0])


def _add_judgments(
    gathered: Gathered, document: ToolFile, pair: str, segments: dict[str, int]
) -> None:
    folder = document.path / "human-scores"
    rated: dict[str, dict[tuple[int, str], list[float]]] = {}
    for path in sorted(folder.glob(f"{pair}.*.seg.rating")):
        name = path.name.removeprefix(f"{pair}.").removesuffix(".seg.rating")
        # mqm.rater1 holds one rater's ratings of the prompt mqm
        prompt = name.split(".")[0]
        own = rated.setdefault(prompt, {})
        for segment, system, cells in _scores(path, segments):
            rater = cells[1] if len(cells) > 1 and not is_missing(cells[1]) else name
            score = _rating(gathered, cells[0])
            gathered.judgment(segment, system, rater, prompt, score)
            if isinstance(score, float):
                own.setdefault((segment, system), []).append(score)
    for path in sorted(folder.glob(f"{pair}.*.seg.score")):
        name = path.name.removeprefix(f"{pair}.").removesuffix(".seg.score")
        if name in rated:
            _compare(gathered, path, segments, rated[name])
            continue
        gathered.remark(
            f"{path.name} has one score per output and no raters: the rater is {name!r}"
        )
        if name.casefold() in _COUNT_EDITS:
            gathered.lower_is_better(name)
        for segment, system, cells in _scores(path, segments):
            gathered.judgment(segment, system, name, name, cells[0])


def _compare(
    gathered: Gathered,
    path: Path,
    segments: dict[str, int],
    rated: dict[tuple[int, str], list[float]],
) -> None:
    """Say where the mean of the ratings is not the score that the folder has for the segment."""
    both, unlike = 0, 0
    for segment, system, cells in _scores(path, segments):
        own, known = rated.get((segment, system)), number(cells[0])
        if own and known is not None:
            both += 1
            unlike += not math.isclose(sum(own) / len(own), known, rel_tol=1e-4, abs_tol=1e-4)
    if unlike:
        gathered.remark(
            f"on {unlike:,} of {both:,} segments the mean of the ratings is not the score in "
            f"{path.name}: the judgments are the ratings"
        )


def _rating(gathered: Gathered, cell: str) -> Any:
    """Return minus the points of the errors in a rating: those of the file, where it has them."""
    if is_missing(cell):
        return None
    try:
        rating = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    if not isinstance(rating, dict):
        return rating
    lost = 0.0
    for one in objects(rating.get("errors")):
        points = number(one.get("score"))
        if points is None:
            points = error_weight(str(one.get("severity")), str(one.get("category")))
            gathered.remark(f"errors without a score count as in WMT MQM: {USUAL_WEIGHTS}")
        lost += abs(points)
    return -lost or 0.0


FORMAT = Format(
    name="mt-metrics-eval",
    title="mt-metrics-eval directories",
    expects="a folder with `system-outputs/PAIR/SYSTEM.txt`",
    recognises=_recognises,
    read=_read,
    way_out="convert one folder at a time",
    only=("pair",),
)
