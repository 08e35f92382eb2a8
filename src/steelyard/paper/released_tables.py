"""Convert the data released with The price of debiasing automatic metrics (Chaganty et al. 2018)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Conversion, Format, Options
from steelyard.paper.release import (
    REFERENCE,
    ReleasedOutput,
    ReleasedText,
    holds_texts,
    read_released,
    read_texts,
)

__all__ = ["FORMAT", "convert", "converted"]


def convert(paths: Sequence[Path]) -> list[Conversion]:
    """Convert released judgments, and the texts that belong to them, to our form.

    Parameters
    ----------
    paths : sequence of Path
        Files of judgments, each a campaign of its own, and files of texts.

    Returns
    -------
    list of Conversion
        One for each file of judgments, under its name without the extension.

    Raises
    ------
    InvalidDataError
        If a file is not of the released form, or texts belong to none of the judgments.

    Notes
    -----
    - Two lines of the same item and system with the same metrics and no rater in common are one
      output that was judged twice over: their judgments are put together. Any other such line
      becomes an output of its own, with a number after the item.
    - Identical answers of several systems stay one row a system and share their ``text_id``. The
      release repeats their judgments under each system, and so does the conversion.
    - ``gold`` is not taken over: it is made of the judgments, and must not pass for a metric.
    """
    texts = {path: read_texts(path) for path in paths if holds_texts(path)}
    campaigns = {path: read_released(path) for path in paths if path not in texts}
    used: set[Path] = set()
    found = []
    for path, lines in campaigns.items():
        keys = {(line.item, line.system) for line in lines}
        mine = [
            source
            for source, answers in texts.items()
            if keys >= {(one.item, system) for one in answers for system in one.systems}
        ]
        used.update(mine)
        found.append(converted(path.stem, lines, [one for source in mine for one in texts[source]]))
    for path in texts.keys() - used:
        raise InvalidDataError(
            f"{path}: these texts are of outputs that are in none of the other files: "
            "name the file of their judgments too"
        )
    return found


def converted(
    name: str, lines: Sequence[ReleasedOutput], texts: Sequence[ReleasedText]
) -> Conversion:
    """Convert lines that were read, with the texts of all their outputs, or none.

    Raises
    ------
    InvalidDataError
        If there are texts, but not of every output.
    """
    named, remarks = _named(lines)
    answers = {
        (one.item, system): (one, place) for one, place in _placed(texts) for system in one.systems
    }
    references = {one.item: one.answer for one in texts if REFERENCE in one.systems}
    outputs: dict[tuple[str, str], dict[str, Any]] = {}
    judgments: list[dict[str, Any]] = []
    for item, line in named:
        key = (item, line.system)
        row: dict[str, Any] = {"item": item, "system": line.system}
        if answers:
            text, place = _answer(answers, line)
            row |= {
                "output": text.answer,
                "input": text.query,
                "reference": references.get(line.item),
                "text_id": f"{line.item}#{place}",
            }
        outputs.setdefault(key, row | dict(line.metrics))
        judgments.extend(
            {"item": item, "system": line.system, "rater": rater, "prompt": prompt, "score": score}
            for prompt, scores in line.human.items()
            for rater, score in zip(line.raters, scores, strict=True)
        )
    remarks += _text_remarks(outputs.values(), lines) + _gold_remarks(lines)
    return Conversion(
        name,
        pl.DataFrame(list(outputs.values()), infer_schema_length=None),
        pl.DataFrame(judgments, infer_schema_length=None),
        tuple(remarks),
    )


def _answer(
    answers: Mapping[tuple[str, str], tuple[ReleasedText, int]], line: ReleasedOutput
) -> tuple[ReleasedText, int]:
    if (line.item, line.system) not in answers:
        raise InvalidDataError(
            f"the output of item {line.item!r} by {line.system!r} has judgments (line {line.line}) "
            "but no text: leave the file of texts out, or complete it"
        )
    return answers[line.item, line.system]


def _named(
    lines: Sequence[ReleasedOutput],
) -> tuple[list[tuple[str, ReleasedOutput]], list[str]]:
    """Return each line with the item it goes under, and what was done about repeated ones."""
    first: dict[tuple[str, str], list[ReleasedOutput]] = {}
    named, remarks = [], []
    for line in lines:
        same = first.setdefault((line.item, line.system), [])
        item = line.item
        if same and not _is_same_output(same, line):
            item = f"{line.item} ({len(same) + 1})"
            remarks.append(
                f"line {line.line} is of item {line.item} and system {line.system} like line "
                f"{same[0].line}, but of another output: it is item {item!r} here"
            )
        elif same:
            remarks.append(
                f"lines {same[0].line} and {line.line} are the same output of {line.system} for "
                f"item {line.item}, judged twice over: their judgments are put together"
            )
        same.append(line)
        named.append((item, line))
    return named, remarks + _coverage_remarks(lines)


def _is_same_output(same: Sequence[ReleasedOutput], line: ReleasedOutput) -> bool:
    earlier = {rater for one in same for rater in one.raters}
    return same[0].metrics == line.metrics and earlier.isdisjoint(line.raters)


def _coverage_remarks(lines: Sequence[ReleasedOutput]) -> list[str]:
    """Say which items lack some systems."""
    everyone = sorted({line.system for line in lines})
    systems: dict[str, set[str]] = {}
    for line in lines:
        systems.setdefault(line.item, set()).add(line.system)
    partial = Counter(
        tuple(sorted(found)) for found in systems.values() if len(found) < len(everyone)
    )
    return [
        f"{count:,} of {len(systems):,} items have an output of {' and '.join(found)} alone"
        for found, count in partial.most_common()
    ]


def _placed(texts: Sequence[ReleasedText]) -> Iterator[tuple[ReleasedText, int]]:
    """Number the distinct answers of each item."""
    seen: Counter[str] = Counter()
    for text in texts:
        seen[text.item] += 1
        yield text, seen[text.item]


def _text_remarks(
    outputs: Iterable[Mapping[str, Any]], lines: Sequence[ReleasedOutput]
) -> list[str]:
    rows = list(outputs)
    if "text_id" not in rows[0]:
        return ["no texts: outputs have metrics only, and identical outputs are not recognised"]
    per_text = Counter(row["text_id"] for row in rows)
    first = {row["text_id"]: (row["item"], row["system"]) for row in reversed(rows)}
    listed = sum(len(line.raters) for line in lines)
    given = sum(
        len(line.raters) for line in lines if (line.item, line.system) in set(first.values())
    )
    shared = sum(systems > 1 for systems in per_text.values())
    distinct = (
        f"{len(per_text):,} distinct outputs stand for {len(rows):,}: {shared:,} were given by several "
        "systems and share their `text_id`"
    )
    repeated = (
        f"judgments of a shared output are listed under each of its systems: raters gave {given:,} "
        f"a prompt, {listed:,} are listed"
    )
    return [distinct, repeated]


def _gold_remarks(lines: Sequence[ReleasedOutput]) -> list[str]:
    differing = sum(
        any(
            not math.isclose(math.fsum(scores) / len(scores), line.gold[prompt], abs_tol=1e-9)
            for prompt, scores in line.human.items()
        )
        for line in lines
    )
    if not differing:
        return ["the released means (`gold`) are those of the judgments, and are not taken over"]
    remark = (
        f"the released means (`gold`) are not taken over; on {differing:,} lines they are of fewer "
        "judgments than are listed, and leave out some that are listed as 0"
    )
    return [remark]


def _recognises(document: ToolFile) -> bool:
    is_judgments = document.has("annotators", "prompts")
    return document.kind in ("lines", "json") and (
        is_judgments or document.has("systems", "answer")
    )


def _convert(documents: Sequence[ToolFile], options: Options) -> list[Conversion]:
    if options != Options():
        raise InvalidArgumentError(
            "the files of the release need no options: leave out all but `--from` and `--output`"
        )
    return convert([document.path for document in documents])


FORMAT = Format(
    name="price-of-debiasing",
    title="Data released with The price of debiasing automatic metrics",
    expects="lines with `annotators` and `prompts`, or with `systems` and `answer`",
    recognises=_recognises,
    convert=_convert,
)
