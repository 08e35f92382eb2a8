"""Annotations of Label Studio: JSON, JSON_MIN and CSV exports."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, objects

__all__ = ["FORMAT"]

# What a control answers, by its type; the others, such as text areas, are no scores.
_ANSWERS = {"rating": "rating", "number": "number", "choices": "choices"}


def _recognises(document: ToolFile) -> bool:
    if document.kind not in ("json", "lines", "table"):
        return False
    is_full = document.has("data") and (document.has("annotations") or document.has("completions"))
    return is_full or document.has("annotation_id", "lead_time")


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    for document in documents:
        for task in document.records:
            if isinstance(task.get("data"), dict):
                _add_task(gathered, document, task)
            else:
                _add_row(gathered, document, task)


def _key(
    gathered: Gathered, document: ToolFile, data: Mapping[str, Any], task: Any
) -> tuple[Any, Any]:
    options = gathered.options.of_file(document)
    item = options.value(data, "item", "item", "item_id")
    if item is None and "item" not in options.columns:
        gathered.remark("the item is the id of the task; another key with --column item=KEY")
        item = task
    system = options.value(data, "system", "system", "model")
    if system is None and not {"left", "right"} <= options.columns.keys():
        raise InvalidDataError(
            f"{document.path}: Label Studio knows no systems: name the key that holds them with "
            f"--column system=KEY, or the only one with --system; keys are {', '.join(data)}"
        )
    return item, system


def _add_task(gathered: Gathered, document: ToolFile, task: Mapping[str, Any]) -> None:
    data = task["data"]
    key = _key(gathered, document, data, task.get("id"))
    if key[1] is not None:
        gathered.output(
            *key,
            **gathered.texts(data),
        )
    for annotation in objects(task.get("annotations")) or objects(task.get("completions")):
        if annotation.get("was_cancelled"):
            gathered.drop("annotations that were skipped by their rater")
            continue
        rater = at(annotation, "completed_by.id") or at(annotation, "completed_by.email")
        rater = rater or annotation.get("completed_by")
        for answer in objects(annotation.get("result")):
            known = {"rater": identifier(rater) or "unknown", **_times(annotation)}
            if answer.get("type") == "pairwise":
                _add_pair(gathered, identifier(key[0]) or "unknown", answer, data, known)
            else:
                _add_answer(gathered, key, answer, known)


def _times(annotation: Mapping[str, Any]) -> dict[str, Any]:
    return {"seconds": annotation.get("lead_time"), "time": annotation.get("created_at")}


def _add_pair(
    gathered: Gathered,
    item: str,
    answer: Mapping[str, Any],
    data: Mapping[str, Any],
    known: dict[str, Any],
) -> None:
    left, right = (identifier(gathered.options.value(data, side)) for side in ("left", "right"))
    value = at(answer, "value.selected")
    if left is None or right is None or value not in ("left", "right"):
        return gathered.drop(
            "comparisons of unnamed systems (name them with --column left=KEY and right=KEY)"
        )
    prompt = str(answer.get("from_name"))
    return gathered.preference(item, (left, right), float(value == "left"), prompt=prompt, **known)


def _add_answer(
    gathered: Gathered, key: tuple[Any, Any], answer: Mapping[str, Any], known: dict[str, Any]
) -> None:
    kind = str(answer.get("type"))
    if kind not in _ANSWERS:
        return gathered.drop(f"answers of type {kind[:30]}, which are no scores")
    value = at(answer, f"value.{_ANSWERS[kind]}")
    if isinstance(value, list):
        if len(value) > 1:
            return gathered.drop("answers with several choices")
        value = value[0] if value else None
    return gathered.judgment(*key, prompt=answer.get("from_name"), score=value, **known)


def _add_row(gathered: Gathered, document: ToolFile, row: Mapping[str, Any]) -> None:
    """Add a row of JSON_MIN or CSV: the task's data, and one column per question."""
    options = gathered.options
    key = _key(gathered, document, row, row.get("id"))
    gathered.output(
        *key,
        **gathered.texts(row),
        again=True,
    )
    for name, cell in row.items():
        answer = _answer(cell)
        if isinstance(answer, dict) and "choices" in answer:
            gathered.drop("answers with several choices")
        elif answer is not cell or name == options.columns.get("score"):
            options.found.update({"score"} if name == options.columns.get("score") else ())
            gathered.judgment(
                *key,
                row.get("annotator"),
                name,
                answer,
                seconds=row.get("lead_time"),
                time=row.get("created_at"),
            )
    if "score" not in options.columns:
        gathered.remark(
            "ratings and numbers were taken; a question of choices with --column score=NAME"
        )


def _answer(cell: Any) -> Any:
    """Return the rating or number in a list of values, or several choices; else the cell itself."""
    value = cell
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            value = json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    if isinstance(value, dict) and "choices" in value:
        return value
    numbers = (at(value, f"0.{kind}") for kind in ("rating", "number"))
    return next((one for one in numbers if one is not None), cell)


FORMAT = Format(
    name="label-studio",
    title="Label Studio exports (JSON, JSON_MIN, CSV)",
    expects="tasks with `data` and `annotations`, or rows with `annotation_id` and `lead_time`",
    recognises=_recognises,
    read=_read,
    way_out="name item and system with --column item=KEY and --column system=KEY",
    columns=("item", "system", "output", "input", "reference", "score", "left", "right"),
)
