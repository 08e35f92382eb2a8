"""Annotations of Potato: the states of its users, or its tabular export."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.foreign.documents import ToolFile, open_document
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, is_missing, number

__all__ = ["FORMAT"]

_STATE, _LABELS = "user_state.json", "instance_id_to_label_to_value"
_NOT_ANSWERS = (
    *("instance_id", "user_id", "annotator_origin", "annotator_origin_detail"),
    *("engine_request", "engine_purpose"),
)
# Likert labels are called after their place on the scale. Their values are not always: older
# versions stored the tenth place as 0.
_PLACE = re.compile(r"(?:scale_)?(\d+)")
_ORIGIN = "annotator_origin"


def _recognises(document: ToolFile) -> bool:
    if document.kind == "folder":
        return any(Path(name).name == _STATE for name in document.columns)
    if document.kind == "table":
        return document.has("instance_id", "user_id")
    return document.has(_LABELS) or (
        document.kind == "lines" and document.has("instance_id", "user_id")
    )


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    annotated = [one for one in documents if _recognises(one)]
    texts = _texts([one for one in documents if not _recognises(one)])
    judged: set[str] = set()
    for instance, user, schema, value in _answers(gathered, annotated):
        data = texts.get(instance, {})
        key = (
            options.value(data, "item", "item", "item_id") or instance,
            options.value(data, "system", "system", "model"),
        )
        gathered.judgment(*key, user, schema, value)
        judged.add(instance)
    for instance, data in texts.items():
        gathered.output(
            options.value(data, "item", "item", "item_id") or instance,
            options.value(data, "system", "system", "model"),
            options.value(data, "output", "output", "text"),
            input=options.value(data, "input", "input"),
            reference=options.value(data, "reference", "reference"),
        )
    if not texts:
        gathered.remark(
            "the texts stand in Potato's data file: name it too, for outputs and systems"
        )
    elif judged - texts.keys():
        gathered.remark(f"{len(judged - texts.keys()):,} judged instances are not in the data file")


def _texts(documents: Sequence[ToolFile]) -> dict[str, dict[str, Any]]:
    """Return the instances of Potato's own data files by their id."""
    found = {}
    for document in documents:
        for record in document.records:
            instance = record.get("id", record.get("instance_id"))
            if instance is not None:
                found[str(instance)] = record
    return found


def _answers(
    gathered: Gathered, documents: Sequence[ToolFile]
) -> Iterator[tuple[str, Any, str, Any]]:
    for document in documents:
        if document.kind == "folder":
            names = [name for name in document.columns if Path(name).name == _STATE]
            yield from _answers(gathered, [open_document(document.path / name) for name in names])
        elif document.has(_LABELS):
            yield from _state_answers(gathered, document.first)
        else:
            for row in document.records:
                yield from _row_answers(gathered, row)


def _state_answers(
    gathered: Gathered, state: Mapping[str, Any]
) -> Iterator[tuple[str, Any, str, Any]]:
    if state.get("origin"):
        gathered.drop("annotators that are machines")
        return
    labels = state.get(_LABELS)
    for instance, pairs in labels.items() if isinstance(labels, dict) else ():
        for pair in pairs if isinstance(pairs, list) else ():
            schema, name, value = at(pair, "0.schema"), at(pair, "0.name"), at(pair, "1")
            if schema is not None:
                yield str(instance), state.get("user_id"), str(schema), _score(name, value)


def _row_answers(gathered: Gathered, row: Mapping[str, Any]) -> Iterator[tuple[str, Any, str, Any]]:
    if row.get(_ORIGIN) not in (None, "", "human"):
        gathered.drop("rows of machines")
        return
    for column, value in row.items():
        schema, _, label = column.rpartition(".")
        if column in _NOT_ANSWERS or label.startswith("_") or is_missing(value):
            continue
        if not schema:
            yield str(row["instance_id"]), row["user_id"], column, _score(value, value)
        # several labels of one choice: the column of the schema has the final one
        elif is_missing(row.get(schema)) and str(value).casefold() != "false":
            yield str(row["instance_id"]), row["user_id"], schema, _score(label, value)


def _score(name: Any, value: Any) -> Any:
    """Return the place of a label on its scale, the number of a slider, or the label itself."""
    matched = _PLACE.fullmatch(str(name))
    if matched:
        return matched[1]
    return name if number(value) is None or str(value).casefold() == "true" else value


FORMAT = Format(
    name="potato",
    title="Potato annotations (user_state.json, export) and data files",
    expects=f"`{_LABELS}`, or columns `instance_id` and `user_id`",
    recognises=_recognises,
    read=_read,
    way_out="name item and system in the data file with --column item=KEY and --column system=KEY",
    columns=("item", "system", "output", "input", "reference"),
    companions=True,
    joins_files=True,
)
