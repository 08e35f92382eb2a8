"""Results and experiments of Ragas, as CSV or JSON Lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import number, text

__all__ = ["FORMAT"]

_NOT_METRICS = (
    "user_input response reference retrieved_contexts reference_contexts rubrics multi_responses "
    "persona_name query_style query_length synthesizer_name id item system model"
)


def _recognises(document: ToolFile) -> bool:
    return document.kind in ("table", "lines", "json") and document.has("user_input", "response")


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    numbers: dict[str, str] = {}
    for document in documents:
        metrics = _metrics(document, options)
        for record in document.records:
            question = options.value(record, "input", "user_input")
            item = options.value(record, "item", "item", "id")
            if item is None:
                gathered.remark("Ragas has no ids: items are numbered by their `user_input`")
                item = numbers.setdefault(text(question) or "", str(len(numbers) + 1))
            gathered.output(
                item,
                options.of_file(document).value(record, "system", "system", "model"),
                options.value(record, "output", "response"),
                input=question,
                reference=options.value(record, "reference", "reference"),
                metrics={name: record.get(name) for name in metrics},
            )


def _metrics(document: ToolFile, options: Options) -> list[str]:
    """Return the columns that hold a number, and nothing else but gaps."""
    others = {*_NOT_METRICS.split(), *options.columns.values()}
    names = dict.fromkeys(name for record in document.records for name in record)
    return [name for name in names if name not in others and _is_metric(document.records, name)]


def _is_metric(records: Sequence[Mapping[str, Any]], name: str) -> bool:
    cells = [record.get(name) for record in records]
    there = [cell for cell in cells if cell not in (None, "", "nan", "NaN") and cell == cell]  # noqa: PLR0124
    return all(number(cell) is not None for cell in there)


FORMAT = Format(
    name="ragas",
    title="Ragas results and experiments (.csv, .jsonl)",
    expects="columns `user_input` and `response`, and one for each metric",
    recognises=_recognises,
    read=_read,
    way_out="name the items with --column item=COLUMN",
    columns=("item", "system", "output", "input", "reference"),
    free_columns=True,
)
