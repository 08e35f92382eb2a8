"""Records of Argilla: nested (``to_json``) or flat (``to_list(flatten=True)``, ``to_datasets``)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, objects

__all__ = ["FORMAT"]

_FLAT = ".responses"


def _recognises(document: ToolFile) -> bool:
    if document.kind not in ("json", "lines", "table"):
        return False
    names = document.columns if document.kind == "table" else tuple(document.first)
    is_nested = document.has("fields") and document.has("responses")
    return is_nested or any(name.endswith(_FLAT) for name in names)


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    for document in documents:
        mine = options.of_file(document)
        for record in document.records:
            is_nested = isinstance(record.get("responses"), dict)
            facts = _facts(record) if is_nested else record
            key = (
                mine.value(facts, "item", "item", "item_id", "id"),
                mine.value(facts, "system", "system", "model"),
            )
            gathered.output(
                *key,
                mine.value(facts, "output", "output", "response"),
                input=mine.value(facts, "input", "input", "instruction", "prompt"),
                reference=mine.value(facts, "reference", "reference"),
                metrics=_suggestions(record, is_nested=is_nested),
            )
            if is_nested:
                _add_nested(gathered, key, record)
            else:
                _add_flat(gathered, key, record)


def _facts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields and metadata under their own names."""
    parts = [record.get("metadata"), record.get("fields")]
    return {
        **record,
        **{name: value for one in parts if isinstance(one, dict) for name, value in one.items()},
    }


def _suggestions(record: Mapping[str, Any], *, is_nested: bool) -> dict[str, Any]:
    """Return what models suggested: metrics, never judgments."""
    if is_nested:
        found = record.get("suggestions")
        found = found if isinstance(found, dict) else {}
        return {f"suggestion.{name}": at(one, "value") for name, one in found.items()}
    ending = ".suggestion"
    return {
        f"suggestion.{name.removesuffix(ending)}": value
        for name, value in record.items()
        if name.endswith(ending)
    }


def _add_nested(gathered: Gathered, key: tuple[Any, Any], record: Mapping[str, Any]) -> None:
    gathered.remark(
        "this export does not say which answers are drafts or were discarded, so all were taken; "
        "`to_list(flatten=True)` or `to_datasets()` in Argilla does say"
    )
    for question, answers in record["responses"].items():
        for answer in objects(answers):
            _judge(gathered, key, answer.get("user_id"), question, answer.get("value"))


def _add_flat(gathered: Gathered, key: tuple[Any, Any], record: Mapping[str, Any]) -> None:
    for name in [name for name in record if name.endswith(_FLAT)]:
        users, states = (_listed(record.get(f"{name}.{part}")) for part in ("users", "status"))
        for position, value in enumerate(_listed(record[name])):
            state = at(states, str(position))
            if state not in ("submitted", None):
                gathered.drop(f"answers that are {str(state)[:20]}")
                continue
            _judge(gathered, key, at(users, str(position)), name.removesuffix(_FLAT), value)


def _judge(gathered: Gathered, key: tuple[Any, Any], user: Any, question: str, value: Any) -> None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    gathered.judgment(*key, user, question, value)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return list(value) if isinstance(value, list) else []


FORMAT = Format(
    name="argilla",
    title="Argilla records (to_json, to_list, to_datasets)",
    expects="records with `fields` and `responses`, or columns `QUESTION.responses`",
    recognises=_recognises,
    read=_read,
    way_out="name item and system with --column item=KEY and --column system=KEY",
    columns=("item", "system", "output", "input", "reference"),
)
