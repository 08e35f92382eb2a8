"""Batch results of Amazon Mechanical Turk."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import objects
from steelyard.records import UNKNOWN_RATER

__all__ = ["FORMAT"]

_ANSWER, _TASK_ANSWERS = "Answer.", "Answer.taskAnswers"


def _recognises(document: ToolFile) -> bool:
    return document.kind == "table" and document.has("HITId", "AssignmentStatus")


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    for document in documents:
        mine = options.of_file(document)
        for row in document.rows:
            if str(row["AssignmentStatus"]).casefold() == "rejected":
                gathered.drop("assignments that were rejected")
                continue
            item = mine.value(row, "item", "Input.item", "Input.item_id", "Input.id")
            if item is None and "item" not in mine.columns:
                gathered.remark(
                    "the item is the HITId; another column with --column item=Input.NAME"
                )
                item = row["HITId"]
            key = item, mine.value(row, "system", "Input.system", "Input.model")
            gathered.output(
                *key,
                **gathered.texts(
                    row, output="Input.output", input="Input.input", reference="Input.reference"
                ),
                again=True,
            )
            if not row.get("WorkerId"):
                gathered.remark("some rows have no WorkerId: their raters are unknown")
            for prompt, score in _answers(row):
                gathered.judgment(
                    *key,
                    row.get("WorkerId") or UNKNOWN_RATER,
                    prompt,
                    score,
                    seconds=row.get("WorkTimeInSeconds"),
                    time=row.get("SubmitTime"),
                )


def _answers(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield prompts and scores, however the form of the task was written."""
    if row.get(_TASK_ANSWERS):
        yield from _task_answers(str(row[_TASK_ANSWERS]))
    names = [name for name in row if name.startswith(_ANSWER) and name != _TASK_ANSWERS]
    for name in names:
        prompt, _, option = name.removeprefix(_ANSWER).rpartition(".")
        cell = str(row[name]).strip()
        if not prompt:
            yield option, cell
        elif cell.casefold() == "true":
            # one column per button of a group: the one that was pressed is true
            yield prompt, option
        elif cell.casefold() not in ("false", ""):
            yield name.removeprefix(_ANSWER), cell


def _task_answers(cell: str) -> Iterator[tuple[str, Any]]:
    try:
        answers = objects(json.loads(cell))
    except (ValueError, RecursionError):
        return
    for name, value in (pair for answer in answers for pair in answer.items()):
        if isinstance(value, dict):
            yield from ((name, label) for label, is_on in value.items() if is_on is True)
        else:
            yield name, value


FORMAT = Format(
    name="mturk",
    title="Amazon Mechanical Turk batch results (.csv)",
    expects="columns `HITId`, `AssignmentStatus`, `WorkerId`, `Input.NAME` and `Answer.NAME`",
    recognises=_recognises,
    read=_read,
    way_out="name item and system with --column item=Input.NAME and --column system=Input.NAME",
    columns=("item", "system", "output", "input", "reference"),
)
