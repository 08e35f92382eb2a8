"""Samples that lm-evaluation-harness writes with ``--log_samples``."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile, open_document
from steelyard.foreign.format import Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, text

__all__ = ["FORMAT"]

_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d{2}-\d{2}T[^_]*)?\.jsonl")
# In files from before `metrics` was written, every other number is a metric.
_NOT_METRICS = (
    "doc_id doc doc_hash target target_hash prompt_hash arguments resps filtered_resps filter "
    "metrics task_hash"
)


def _recognises(document: ToolFile) -> bool:
    if document.kind == "folder":
        return any(_NAME.fullmatch(Path(name).name) for name in document.columns)
    return document.kind in ("lines", "json") and document.has("doc_id", "resps")


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    for document in _files(documents):
        matched = _NAME.fullmatch(document.path.name)
        task = matched["task"] if matched else None
        named = options.of_file(document)
        model = None if options.names("system") else _model(document.path, gathered)
        chosen = _filter(document, options)
        for record in document.records:
            if chosen is not None and record.get("filter") != chosen:
                gathered.drop("rows of other filters")
                continue
            _add(gathered, record, task, model or named.value(record, "system"))


def _files(documents: Sequence[ToolFile]) -> list[ToolFile]:
    found = []
    for document in documents:
        if document.kind != "folder":
            found.append(document)
            continue
        names = [name for name in document.columns if _NAME.fullmatch(Path(name).name)]
        found += [open_document(document.path / name) for name in names]
    return found


def _model(path: Path, gathered: Gathered) -> str:
    """Return the model: no row names it, but a file of results beside it, or the folder, does."""
    for results in sorted(path.parent.glob("results_*.json")):
        try:
            named = at(json.loads(results.read_text(encoding="utf-8")), "model_name")
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(named, str) and named:
            return named
    if not path.parent.name:
        raise InvalidDataError(
            f"{path}: samples do not name their model, and no results_*.json stands beside them: "
            "name it with --system"
        )
    gathered.remark(f"the system of {path.name} is the name of its folder, {path.parent.name!r}")
    return path.parent.name


def _filter(document: ToolFile, options: Options) -> str | None:
    """Return the filter to take; None if there is no choice."""
    filters = list(
        dict.fromkeys(str(one["filter"]) for one in document.records if one.get("filter"))
    )
    if len(filters) < 2:
        return None
    chosen = options.only.get("filter")
    if chosen not in filters:
        raise InvalidDataError(
            f"{document.path}: each output is there once per filter ({', '.join(filters)}): choose "
            f"one with --only filter={filters[0]}"
        )
    return chosen


def _add(gathered: Gathered, record: Mapping[str, Any], task: str | None, system: Any) -> None:
    found = identifier(gathered.options.value(record, "item", "doc_id"))
    several = record.get("filtered_resps")
    # a filter that keeps all repeats gives a list of texts
    several = (
        several[0] if isinstance(several, list) and isinstance(at(several, "0"), list) else several
    )
    output = at(several, "0")
    if _is_likelihood(record):
        output = None
        gathered.remark(
            "choices among given answers have no texts: their outputs have metrics only"
        )
    elif isinstance(several, list) and len(several) > 1:
        gathered.drop("repeats of an answer: the first one was kept", len(several) - 1)
    names = record.get("metrics")
    known = (
        names
        if isinstance(names, list)
        else [key for key in record if key not in _NOT_METRICS.split()]
    )
    gathered.output(
        f"{task}/{found}" if task and found else found,
        system,
        gathered.options.value(record, "output") or output,
        input=gathered.options.value(
            record, "input", "arguments.gen_args_0.arg_0", "arguments.0.0"
        ),
        reference=text(gathered.options.value(record, "reference", "target")),
        metrics={str(name): record.get(str(name)) for name in known},
    )


def _is_likelihood(record: Mapping[str, Any]) -> bool:
    """Whether answers are pairs such as ``["-3.2", "False"]``."""
    answer = at(record, "resps.0.0")
    if isinstance(answer, list) and len(answer) == 2:
        return True
    first = at(record, "filtered_resps.0")
    return isinstance(first, list) and len(first) == 2 and str(first[1]) in ("True", "False")


FORMAT = Format(
    name="lm-eval",
    title="lm-evaluation-harness samples (--log_samples)",
    expects="lines with `doc_id` and `resps`",
    recognises=_recognises,
    read=_read,
    way_out="name one file of each task and model",
    columns=("item", "system", "output", "input", "reference"),
    only=("filter",),
)
