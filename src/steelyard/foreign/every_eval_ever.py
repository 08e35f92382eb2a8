"""Instance files of Every Eval Ever: ``<uuid>_samples.jsonl``."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import Document
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, objects

__all__ = ["FORMAT"]


def _recognises(document: Document) -> bool:
    return document.kind in ("lines", "json") and document.has(
        "model_id", "sample_id", "evaluation"
    )


def _read(gathered: Gathered, documents: Sequence[Document]) -> None:
    options = gathered.options
    records = [
        (one, options.of_file(document)) for document in documents for one in document.records
    ]
    names = {str(one.get("evaluation_name")) for one, _ in records}
    for record, mine in records:
        found = identifier(options.value(record, "item", "sample_id"))
        item = f"{record.get('evaluation_name')}/{found}" if len(names) > 1 and found else found
        gathered.output(
            item,
            mine.value(record, "system", "model_id"),
            options.value(record, "output") or _output(gathered, record),
            input=options.value(record, "input", "input.raw"),
            reference=at(record, "input.reference"),
            metrics={
                f"evaluation.{name}": at(record, f"evaluation.{name}")
                for name in ("score", "is_correct")
                if at(record, f"evaluation.{name}") is not None
            },
        )


def _output(gathered: Gathered, record: Mapping[str, Any]) -> Any:
    """Return the first text; of a talk, the last thing that the system said."""
    raw = at(record, "output.raw")
    if isinstance(raw, list):
        if len(raw) > 1:
            gathered.drop("further texts of an output: the first one was kept", len(raw) - 1)
        return raw[0] if raw else None
    if raw is not None:
        return raw
    said = [one for one in objects(record.get("messages")) if one.get("role") == "assistant"]
    return said[-1].get("content") if said else None


FORMAT = Format(
    name="every-eval-ever",
    title="Every Eval Ever instance files (.jsonl)",
    expects="lines with `model_id`, `sample_id` and `evaluation`",
    recognises=_recognises,
    read=_read,
    way_out="name the items with --column item=sample_hash",
    columns=("item", "system", "output", "input"),
)
