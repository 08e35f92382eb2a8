"""Run folders of HELM: scenario states and statistics of each instance."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile, open_document
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, objects

__all__ = ["FORMAT"]

_STATE, _STATISTICS, _SPEC = "scenario_state.json", "per_instance_stats.json", "run_spec.json"


def _recognises(document: ToolFile) -> bool:
    if document.kind == "folder":
        return any(Path(name).name == _STATE for name in document.columns)
    return isinstance(document.value, dict) and "request_states" in document.value


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    mine = {
        folder: options.of_file(document) for document in documents for folder in _folders(document)
    }
    folders = list(mine)
    specs = {folder: _opened(folder / _SPEC) for folder in folders}
    scenarios = {folder: _scenario(specs[folder]) for folder in folders}
    for folder in folders:
        state, spec = _opened(folder / _STATE), specs[folder]
        run = {"run_spec": spec, **(spec if isinstance(spec, dict) else {})}
        system = mine[folder].value(run, "system", "adapter_spec.model") or at(
            state, "adapter_spec.model"
        )
        prefix = f"{scenarios[folder]}/" if len(set(scenarios.values())) > 1 else ""
        statistics = folder / _STATISTICS
        trial = _add_states(gathered, state, system=system, prefix=prefix)
        if statistics.exists():
            _add_statistics(
                gathered, _opened(statistics), system=system, prefix=prefix, trial=trial
            )
        else:
            gathered.remark(f"{folder} has no {_STATISTICS}: no metrics")


def _folders(document: ToolFile) -> list[Path]:
    if document.kind != "folder":
        return [document.path.parent]
    names = [Path(name) for name in document.columns if Path(name).name == _STATE]
    return [document.path / name.parent for name in names]


def _opened(path: Path) -> Any:
    if not path.exists():
        raise InvalidDataError(f"{path.parent}: no {path.name}: name the whole folder of the run")
    return open_document(path).value


def _scenario(spec: Any) -> str:
    """Return the run's name without its model: what is common to the runs of several models."""
    name = at(spec, "name")
    return re.sub(r"[,:]model=[^,]*", "", name) if isinstance(name, str) else ""


def _is_chosen(gathered: Gathered, one: Mapping[str, Any], trial: str, perturbation: Any) -> bool:
    if perturbation is not None:
        gathered.drop("requests on perturbed inputs")
        return False
    if str(one.get("train_trial_index", 0)) != trial:
        gathered.drop(
            f"requests of other trials than {trial}: another one with --only trial=NUMBER"
        )
        return False
    return True


def _add_states(gathered: Gathered, state: Any, *, system: Any, prefix: str) -> str:
    states = objects(at(state, "request_states"))
    trials = sorted({str(one.get("train_trial_index", 0)) for one in states})
    trial = gathered.options.only.get("trial", trials[0] if trials else "0")
    for one in states:
        if not _is_chosen(gathered, one, trial, at(one, "instance.perturbation")):
            continue
        found = identifier(gathered.options.value(one, "item", "instance.id"))
        # one request for each answer to choose from: its text is no output
        weighs_answer = one.get("reference_index") is not None
        if weighs_answer:
            gathered.remark("requests that weigh one answer each have no texts: metrics only")
        gathered.output(
            f"{prefix}{found}" if found else None,
            system,
            None if weighs_answer else at(one, "result.completions.0.text"),
            input=at(one, "instance.input.text"),
            reference=[
                at(reference, "output.text")
                for reference in objects(at(one, "instance.references"))
                if "correct" in _tags(reference)
            ],
            slices={"split": at(one, "instance.split"), "sub_split": at(one, "instance.sub_split")},
            again=weighs_answer,
        )
        more = at(one, "result.completions")
        if isinstance(more, list) and len(more) > 1:
            gathered.drop("further completions of a request: the first one was kept", len(more) - 1)
    return trial


def _tags(reference: Mapping[str, Any]) -> list[Any]:
    tags = reference.get("tags")
    return tags if isinstance(tags, list) else []


def _add_statistics(
    gathered: Gathered, statistics: Any, *, system: Any, prefix: str, trial: str
) -> None:
    for one in objects(statistics):
        if one.get("perturbation") is not None or str(one.get("train_trial_index", 0)) != trial:
            continue
        item = f"{prefix}{identifier(one.get('instance_id'))}"
        for statistic in objects(one.get("stats")):
            name = at(statistic, "name.name")
            if isinstance(name, str) and at(statistic, "name.perturbation") is None:
                gathered.metric(item, system, name, statistic.get("mean"))


FORMAT = Format(
    name="helm",
    title="HELM run folders",
    expects=f"a folder with {_STATE}, {_STATISTICS} and {_SPEC}",
    recognises=_recognises,
    read=_read,
    way_out="convert one run of each model at a time",
    columns=("item", "system"),
    only=("trial",),
)
