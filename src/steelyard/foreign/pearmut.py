"""Annotations of Pearmut: one line per document and user."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import identifier, number, objects

__all__ = ["FORMAT"]

_NOT_SCORES = ("error_spans", "textfield", "comment")


def _recognises(document: ToolFile) -> bool:
    return document.kind in ("lines", "json") and document.has("annotation", "item", "user_id")


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    last: dict[tuple[Any, str], tuple[str, Mapping[str, Any]]] = {}
    for document in documents:
        for record in document.records:
            place = str(record.get("item_i"))
            if not place.lstrip("-").isdecimal():
                gathered.drop("welcome, training and goodbye pages")
                continue
            key = (identifier(record.get("user_id")), f"{document.path}#{place}")
            if key in last:
                gathered.drop("earlier versions of a page that a rater revised")
            last[key] = (place, record)
    for place, page in last.values():
        _add(gathered, place, page)


def _add(gathered: Gathered, place: str, record: Mapping[str, Any]) -> None:
    texts, answers = objects(record.get("item")), objects(record.get("annotation"))
    times = [one.get("time") for one in objects(record.get("actions")) if number(one.get("time"))]
    for position, segment in enumerate(texts):
        item = (
            identifier(gathered.options.value(segment, "item", "item_id"))
            or f"{place}/{position + 1}"
        )
        outputs = segment.get("tgt")
        outputs = outputs if isinstance(outputs, dict) else {}
        for system, output in outputs.items():
            gathered.output(
                item,
                system,
                output,
                input=segment.get("src"),
                reference=segment.get("ref"),
                cluster=place if len(texts) > 1 else None,
                again=True,
            )
        given = answers[position] if position < len(answers) else {}
        for system, answer in given.items():
            for prompt, score in answer.items() if isinstance(answer, dict) else ():
                if prompt not in _NOT_SCORES and not isinstance(score, list | dict):
                    gathered.judgment(
                        item,
                        system,
                        record.get("user_id"),
                        prompt,
                        score,
                        time=times[-1] if times else None,
                    )


FORMAT = Format(
    name="pearmut",
    title="Pearmut annotations (.jsonl)",
    expects="lines with `user_id`, `item` and `annotation`",
    recognises=_recognises,
    read=_read,
    way_out="convert one campaign at a time",
    columns=("item",),
)
