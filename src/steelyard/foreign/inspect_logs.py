"""Logs of Inspect AI: ``.json``, and ``.eval`` archives."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, objects

__all__ = ["FORMAT"]

# What Inspect itself makes of the letters that its scorers give.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "no": 0.0}
_ATTACHMENT = "attachment://"
_HEADERS = ("header.json", "_journal/start.json")
_ZSTANDARD = 93


def _recognises(document: ToolFile) -> bool:
    if document.kind == "zip":
        return any(name in document.columns for name in _HEADERS)
    return isinstance(document.value, dict) and isinstance(at(document.value, "eval.task"), str)


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    logs = [(document, _log(document)) for document in documents]
    tasks = {at(log, "eval.task") for _, log in logs}
    epochs = {str(at(one, "epoch")) for _, log in logs for one in objects(log.get("samples"))}
    several = len(epochs) > 1 and "epoch" not in options.only
    if several:
        gathered.remark(
            f"{len(epochs)} epochs: the item is ID#EPOCH and `cluster` is the id; one alone with "
            "--only epoch=1"
        )
    for document, log in logs:
        if log.get("status") not in ("success", None):
            gathered.remark(f"{document.path}: the run's status is {log['status']!r}")
        if log.get("invalidated"):
            gathered.remark(f"{document.path}: the run is marked as invalidated")
        for sample in objects(log.get("samples")):
            if options.only.get("epoch", str(sample.get("epoch"))) != str(sample.get("epoch")):
                gathered.drop("samples of other epochs")
                continue
            sample_id = identifier(options.value(sample, "item", "id"))
            item = f"{at(log, 'eval.task')}/{sample_id}" if len(tasks) > 1 else sample_id
            cluster = item if several else None
            item = f"{item}#{sample.get('epoch')}" if several and item else item
            system = options.of_file(document).value(log, "system", "eval.model")
            _add(gathered, (item if sample_id else None, system, cluster), sample)


def _add(gathered: Gathered, key: tuple[Any, Any, Any], sample: Mapping[str, Any]) -> None:
    item, system, cluster = key
    output = at(sample, "output.completion") or at(sample, "output.choices.0.message.content")
    if sample.get("error") is not None and not output:
        return gathered.drop("samples that ended in an error")
    for cause in ("error", "limit"):
        if sample.get(cause) is not None:
            gathered.remark(f"some samples ended with {cause}: their texts are kept as they are")
    attached = sample.get("attachments")
    scores = sample.get("scores")
    scores = scores if isinstance(scores, dict) else {}
    gathered.output(
        item,
        system,
        _resolved(output if output is not None else at(sample, "output.completion"), attached),
        input=_resolved(sample.get("input"), attached),
        reference=sample.get("target"),
        cluster=cluster,
        metrics={
            name: value
            for scorer, score in scores.items()
            for name, value in _named(scorer, _automatic(score)).items()
        },
        slices=sample["metadata"] if isinstance(sample.get("metadata"), dict) else {},
    )
    for scorer, score in scores.items():
        for edit in objects(at(score, "history")):
            author = at(edit, "provenance.author")
            if author is not None and edit.get("value") != "UNCHANGED":
                gathered.judgment(
                    item,
                    system,
                    author,
                    scorer,
                    _number(edit.get("value")),
                    time=at(edit, "provenance.timestamp"),
                )
    return None


def _automatic(score: Any) -> Any:
    """Return the scorer's value: an edit by a person takes its place in the log."""
    history = objects(at(score, "history"))
    made = [one.get("value") for one in history if at(one, "provenance.author") is None]
    if history:
        return made[0] if made else None
    return at(score, "value")


def _named(scorer: str, value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {f"{scorer}.{part}": _number(one) for part, one in value.items()}
    return {scorer: _number(value)}


def _number(value: Any) -> Any:
    """Return what Inspect makes of a letter or a word; other values as they are."""
    if not isinstance(value, str):
        return value
    return _LETTERS.get(value, _LETTERS.get(value.casefold(), value))


def _resolved(value: Any, attachments: Any) -> Any:
    """Put in the texts that a log keeps apart because they are long or repeated."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT) and isinstance(attachments, dict):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]
    if isinstance(value, dict):
        return {key: _resolved(one, attachments) for key, one in value.items()}
    return value


def _log(document: ToolFile) -> dict[str, Any]:
    log = _archived(document) if document.kind == "zip" else document.value
    if not objects(log.get("samples")):
        raise InvalidDataError(
            f"{document.path}: the log has no samples, only results of the whole: "
            "run Inspect with samples logged (without --no-log-samples)"
        )
    return dict(log)


def _archived(document: ToolFile) -> dict[str, Any]:
    with zipfile.ZipFile(document.path) as archive:
        header = next(name for name in _HEADERS if name in document.columns)
        found = _member(document, archive, header)
        samples = [
            _member(document, archive, name)
            for name in document.columns
            if name.startswith("samples/") and name.endswith(".json")
        ]
    return {**(found if isinstance(found, dict) else {}), "samples": samples}


def _member(document: ToolFile, archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    try:
        if info.compress_type == _ZSTANDARD:
            return json.loads(_zstandard(archive, info))
        return json.loads(archive.read(name))
    except (ValueError, RecursionError, zipfile.BadZipFile, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidDataError(
            f"{document.path}: `{name}` in the archive cannot be read ({reason}): write the log "
            "again as JSON with `inspect log convert --to json`"
        ) from error


def _zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """Unpack a member that zipfile cannot: polars reads Zstandard."""
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset + 26)
    names = file.read(4)
    file.seek(sum(int.from_bytes(part, "little") for part in (names[:2], names[2:])), 1)
    packed = file.read(info.compress_size)
    return "\n".join(pl.scan_lines(packed).collect()["line"])


FORMAT = Format(
    name="inspect",
    title="Inspect AI logs (.json, .eval)",
    expects="a log with `eval` and `samples`",
    recognises=_recognises,
    read=_read,
    way_out="tell runs apart with --column system=eval.solver or eval.run_id",
    columns=("item", "system"),
    only=("epoch",),
)
