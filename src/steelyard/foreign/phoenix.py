"""Annotations, spans and experiments of Phoenix."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, is_missing, objects

__all__ = ["FORMAT"]

_UNKNOWN = "unknown"


def _records(document: ToolFile) -> list[dict[str, Any]]:
    inner = objects(at(document.value, "data")) or objects(at(document.value, "task_runs"))
    return inner or document.records


def _is_annotation(one: Mapping[str, Any]) -> bool:
    return "annotator_kind" in one and "span_id" in one


def _is_span(one: Mapping[str, Any]) -> bool:
    return at(one, "context.span_id") is not None


def _is_run(one: Mapping[str, Any]) -> bool:
    return "output" in one and ("dataset_example_id" in one or "example_id" in one)


def _recognises(document: ToolFile) -> bool:
    if document.kind in ("zip", "folder"):
        return False
    first = document.first if document.kind == "table" else at(_records(document), "0")
    return first is not None and any(test(first) for test in (_is_annotation, _is_span, _is_run))


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    keys: dict[str, tuple[Any, Any]] = {}
    for document in documents:
        experiment = at(document.value, "experiment_id")
        for one in _records(document):
            if _is_span(one):
                _add_span(gathered, one, keys)
            elif _is_run(one):
                _add_run(gathered, one, options.of_file(document), experiment, keys)
    for document in documents:
        for one in _records(document):
            if _is_annotation(one):
                span = str(one["span_id"])
                _add(gathered, keys.get(span, (span, options.system)), one)
        for one in objects(at(document.value, "evaluation_runs")):
            key = keys.get(str(one.get("experiment_run_id")), (None, None))
            _add(gathered, key, {"annotator_kind": "LLM", **one})


def _add_span(gathered: Gathered, one: Mapping[str, Any], keys: dict[str, tuple[Any, Any]]) -> None:
    options = gathered.options
    span = at(one, "context.span_id")
    key = (
        options.value(one, "item") or span,
        options.value(one, "system", "attributes.llm.model_name", "attributes.metadata.model"),
    )
    keys[str(span)] = key
    gathered.output(
        *key,
        **gathered.texts(one, output="attributes.output.value", input="attributes.input.value"),
    )


def _add_run(
    gathered: Gathered,
    one: Mapping[str, Any],
    options: Options,
    experiment: Any,
    keys: dict[str, tuple[Any, Any]],
) -> None:
    repetition = str(one.get("repetition_number", 1))
    if options.only.get("repetition", repetition) != repetition:
        return gathered.drop("runs of other repetitions")
    if one.get("error"):
        return gathered.drop("runs that ended in an error")
    key = (
        options.value(one, "item", "dataset_example_id", "example_id"),
        options.value(one, "system", "experiment_id") or experiment,
    )
    keys[str(one.get("id"))] = key
    gathered.output(
        *key,
        **gathered.texts(one, reference="reference_output"),
    )
    for annotation in objects(one.get("annotations")):
        _add(gathered, key, annotation)
    return None


def _add(gathered: Gathered, key: tuple[Any, Any], one: Mapping[str, Any]) -> None:
    name = at(one, "annotation_name") or at(one, "name")
    score = at(one, "result.score") if at(one, "result.score") is not None else at(one, "score")
    if is_missing(score):
        score = at(one, "result.label") or at(one, "label")
    if one.get("annotator_kind") == "HUMAN":
        rater = at(one, "user_id") or at(one, "identifier")
        if not rater:
            gathered.remark(f"some annotations do not name their user: the rater is {_UNKNOWN!r}")
        return gathered.judgment(*key, rater or _UNKNOWN, name, score, time=at(one, "created_at"))
    if not gathered.metric(*key, str(name), score):
        gathered.drop("automatic annotations of spans that are not in these files")
    return None


FORMAT = Format(
    name="phoenix",
    title="Phoenix annotations, spans and experiments",
    expects="annotations with `span_id` and `annotator_kind`, spans, or runs of an experiment",
    recognises=_recognises,
    read=_read,
    way_out="take one repetition with --only repetition=1",
    columns=("item", "system", "output", "input", "reference"),
    only=("repetition",),
    joins_files=True,
)
