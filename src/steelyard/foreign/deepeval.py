"""Test runs of DeepEval."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, objects

__all__ = ["FORMAT"]


def _run(document: ToolFile) -> dict[str, Any]:
    inner = at(document.value, "testRunData")
    found = inner if isinstance(inner, dict) else document.value
    return found if isinstance(found, dict) else {}


def _recognises(document: ToolFile) -> bool:
    run = _run(document)
    return isinstance(run.get("testCases"), list) or "testRunLink" in run


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    for document in documents:
        run = _run(document)
        cases = objects(run.get("testCases"))
        if not cases:
            raise InvalidDataError(
                f"{document.path}: no test cases, as when the run went to the cloud or had only "
                "conversations: name .deepeval/.latest_run_full.json, or set DEEPEVAL_RESULTS_FOLDER"
            )
        system = options.of_file(document).value(
            run, "system", "identifier", "hyperparameters.model", "hyperparameters.Model"
        )
        gathered.drop("conversations", len(objects(run.get("conversationalTestCases"))))
        for case in cases:
            _add(gathered, case, system)


def _add(gathered: Gathered, case: Mapping[str, Any], system: Any) -> None:
    options = gathered.options
    metrics = {
        str(one.get("name")): one.get("score")
        for one in objects(case.get("metricsData"))
        if one.get("name") is not None
    }
    failed = sum(bool(one.get("error")) for one in objects(case.get("metricsData")))
    if failed:
        gathered.drop("scores of metrics that ended in an error", failed)
    gathered.output(
        options.value(case, "item", "name"),
        system,
        options.value(case, "output", "actualOutput"),
        input=options.value(case, "input", "input"),
        reference=options.value(case, "reference", "expectedOutput"),
        metrics=metrics,
    )


FORMAT = Format(
    name="deepeval",
    title="DeepEval test runs (.deepeval/.latest_run_full.json)",
    expects="a run with `testCases`",
    recognises=_recognises,
    read=_read,
    way_out="name each run's system, or the items with --column item=input",
    columns=("item", "system", "output", "input", "reference"),
)
