"""Record logs of OpenAI evals."""

from collections.abc import Sequence
from typing import Any

from steelyard.foreign.documents import Document
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, number

__all__ = ["FORMAT"]


def _recognises(document: Document) -> bool:
    return document.kind == "lines" and at(document.first, "spec.completion_fns") is not None


def _read(gathered: Gathered, documents: Sequence[Document]) -> None:
    options = gathered.options
    names = {str(at(document.first, "spec.base_eval")) for document in documents}
    for document in documents:
        system = options.of_file(document).value(document.first, "system", "spec.completion_fns.0")
        prefix = f"{at(document.first, 'spec.base_eval')}/" if len(names) > 1 else ""
        samples: dict[str, dict[str, Any]] = {}
        for event in document.records:
            if isinstance(event.get("sample_id"), str):
                _note(gathered, samples.setdefault(event["sample_id"], {"metrics": {}}), event)
        for sample, found in samples.items():
            gathered.output(
                prefix + sample,
                system,
                found.get("output"),
                input=found.get("input"),
                reference=found.get("reference"),
                metrics=found["metrics"],
            )


def _note(gathered: Gathered, sample: dict[str, Any], event: dict[str, Any]) -> None:
    kind, data = event.get("type"), event.get("data")
    if not isinstance(data, dict):
        return
    if kind == "sampling":
        if "output" in sample:
            gathered.drop(
                "later samplings of an item, such as a grading model's: the first one was kept"
            )
            return
        sampled = data.get("sampled")
        several = sampled if isinstance(sampled, list) else [sampled]
        if len(several) > 1:
            gathered.drop("further texts of a sampling: the first one was kept", len(several) - 1)
        sample |= {"output": several[0] if several else None, "input": data.get("prompt")}
    elif kind == "match":
        sample["metrics"]["correct"] = data.get("correct")
        sample.setdefault("reference", data.get("expected"))
        if data.get("sampled") is not None:
            sample.setdefault("output", data["sampled"])
    elif kind == "metrics":
        numbers = {name: value for name, value in data.items() if number(value) is not None}
        sample["metrics"] |= numbers
    elif kind == "error":
        gathered.drop("errors")
    else:
        gathered.drop(f"events of type {str(kind)[:30]}")


FORMAT = Format(
    name="openai-evals",
    title="OpenAI evals record logs (.jsonl)",
    expects="a first line with `spec.completion_fns`, then events with `sample_id`",
    recognises=_recognises,
    read=_read,
    way_out="name each log's system with --system",
    columns=("system",),
)
