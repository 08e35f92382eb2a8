"""Scores of Langfuse, with the traces and dataset run items that they belong to."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, objects

__all__ = ["FORMAT"]

_TRACE_KEYS = (
    "sessionId userId release version htmlPath latency observations projectId timestamp scores"
)
_UNKNOWN = "unknown"


def _records(document: ToolFile) -> list[dict[str, Any]]:
    """Return the records; an answer of the API holds them under ``data``."""
    inner = objects(at(document.value, "data"))
    return inner or document.records


def _is_score(one: Mapping[str, Any]) -> bool:
    return "source" in one and "name" in one and ("traceId" in one or "subject" in one)


def _is_run_item(one: Mapping[str, Any]) -> bool:
    return "datasetItemId" in one and "traceId" in one


def _is_trace(one: Mapping[str, Any]) -> bool:
    return {"id", "output"} <= one.keys() and not {*_TRACE_KEYS.split()}.isdisjoint(one)


def _recognises(document: ToolFile) -> bool:
    if document.kind in ("zip", "folder"):
        return False
    first = document.first if document.kind == "table" else at(_records(document), "0")
    return first is not None and any(test(first) for test in (_is_score, _is_run_item, _is_trace))


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    records = [one for document in documents for one in _records(document)]
    runs = {str(one["traceId"]): one for one in records if _is_run_item(one)}
    traces = [one for one in records if not _is_score(one) and not _is_run_item(one)]
    scores = [one for one in records if _is_score(one)]
    keys: dict[str, tuple[Any, Any]] = {}
    for trace in traces:
        run = runs.get(str(trace.get("id")), {})
        key = (
            options.value(trace, "item") or run.get("datasetItemId") or trace.get("id"),
            options.value(trace, "system") or run.get("datasetRunName") or run.get("runName"),
        )
        keys[str(trace.get("id"))] = key
        gathered.output(
            *key,
            options.value(trace, "output", "output"),
            input=options.value(trace, "input", "input"),
            reference=options.value(trace, "reference", "expectedOutput")
            or run.get("expectedOutput"),
        )
        scores += [{"traceId": trace.get("id"), **one} for one in objects(trace.get("scores"))]
    for score in scores:
        trace_id = str(
            score.get("traceId") or at(score, "subject.traceId") or at(score, "subject.id")
        )
        part = str(score.get("observationId") or at(score, "subject.id"))
        if at(score, "subject.kind") in ("session", "experiment"):
            gathered.drop("scores of whole sessions or experiments")
            continue
        unknown = (trace_id, options.system)
        _add(gathered, keys.get(part) or keys.get(trace_id) or unknown, score)


def _add(gathered: Gathered, key: tuple[Any, Any], score: Mapping[str, Any]) -> None:
    value, source = score.get("value"), score.get("source")
    if score.get("dataType") in ("TEXT", "CORRECTION"):
        return gathered.drop("scores that are texts or corrections")
    if score.get("dataType") == "CATEGORICAL" and score.get("stringValue") is not None:
        value = score["stringValue"]
    if source == "ANNOTATION":
        rater = score.get("authorUserId")
        if rater is None:
            gathered.remark(f"some annotations do not name their author: the rater is {_UNKNOWN!r}")
        return gathered.judgment(
            *key, rater or _UNKNOWN, score.get("name"), value, time=score.get("timestamp")
        )
    if source == "API":
        gathered.remark(
            "scores of source API are metrics here: Langfuse does not say who gave them"
        )
    if not gathered.metric(*key, str(score.get("name")), value):
        gathered.drop("automatic scores of traces that are not in these files")
    return None


FORMAT = Format(
    name="langfuse",
    title="Langfuse scores, traces and dataset run items",
    expects="scores with `name`, `source` and `traceId`, or traces with `id`, `input` and `output`",
    recognises=_recognises,
    read=_read,
    way_out="name the items with --column item=metadata.KEY",
    columns=("item", "system", "output", "input", "reference"),
    joins_files=True,
)
