"""Results of promptfoo, as ``-o results.json`` or ``-o results.jsonl`` writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, number, objects, text

__all__ = ["FORMAT"]

_RATER = "promptfoo-user"
_STRIPPED = "[output stripped]"
_ERROR = 2
# Assertions whose value is a text that the output is compared with.
_COMPARED = ("equals", "similar", "factuality", "levenshtein", "rouge-n", "bleu", "meteor")


def _records(document: ToolFile) -> list[dict[str, Any]]:
    if document.kind == "lines":
        return document.records
    inner = at(document.value, "results.results")
    return objects(inner if inner is not None else at(document.value, "results"))


def _recognises(document: ToolFile) -> bool:
    if document.kind not in ("json", "lines"):
        return False
    found = _records(document)
    return bool(found) and "response" in found[0] and ("provider" in found[0] or "vars" in found[0])


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    cases: dict[str, str] = {}
    for document in documents:
        records = _records(document)
        prompts: dict[str, set[Any]] = {}
        for record in records:
            prompts.setdefault(_provider(record), set()).add(_prompt(record))
        for record in records:
            provider = _provider(record)
            # files of version 1 do not name the provider: the user must
            system: str | None = provider or None
            if system and len(prompts[provider]) > 1:
                system = f"{provider} / {_prompt(record)}"
            named = options.of_file(document).value(record, "system")
            _add(gathered, (_item(gathered, record, cases), named or system), record)


def _provider(record: Mapping[str, Any]) -> str:
    named = at(record, "provider.label") or at(record, "provider.id") or record.get("provider")
    return identifier(named) or ""


def _prompt(record: Mapping[str, Any]) -> str:
    """Return a short name of the prompt: its label is the whole text unless the user gave one."""
    label = at(record, "prompt.label")
    if isinstance(label, str) and 0 < len(label) <= 40 and "\n" not in label:
        return label
    number = at(record, "promptIdx")
    return f"prompt {number}" if number is not None else text(at(record, "prompt.raw")) or "prompt"


def _variables(record: Mapping[str, Any]) -> Any:
    return at(record, "vars") or at(record, "testCase.vars") or {}


def _item(gathered: Gathered, record: Mapping[str, Any], cases: dict[str, str]) -> Any:
    if "item" in gathered.options.columns:
        return gathered.options.value({**record, "vars": _variables(record)}, "item")
    if record.get("testIdx") is not None:
        return record["testIdx"]
    gathered.remark("no `testIdx`: items are numbered by their variables, in order of appearance")
    return cases.setdefault(text(_variables(record)) or "", str(len(cases)))


def _add(gathered: Gathered, key: tuple[Any, Any], record: Mapping[str, Any]) -> None:
    output = at(record, "response.output")
    if output == _STRIPPED:
        raise InvalidDataError(
            "promptfoo left the outputs out of this file: export again without "
            "PROMPTFOO_STRIP_RESPONSE_OUTPUT"
        )
    if record.get("failureReason") == _ERROR or (output is None and record.get("error")):
        return gathered.drop("outputs that ended in an error")
    if isinstance(output, dict | list):
        gathered.remark("outputs that are objects are written as JSON text")
    parts = objects(at(record, "gradingResult.componentResults"))
    graded = [one for one in parts if at(one, "assertion.type") == "human"]
    automatic = {name: record.get(name) for name in ("score", "success")}
    if graded:
        automatic = _recovered([one for one in parts if one not in graded])
    human = {at(one, "assertion.metric") for one in graded}
    named = record.get("namedScores")
    named = {k: v for k, v in named.items() if k not in human} if isinstance(named, dict) else {}
    variables = _variables(record)
    alone = (
        next(iter(variables.values()))
        if isinstance(variables, dict) and len(variables) == 1
        else None
    )
    gathered.output(
        *key,
        output,
        input=gathered.options.value(record, "input")
        or (variables if alone is None else alone)
        or None,
        reference=gathered.options.value(record, "reference") or _expected(record),
        metrics={**automatic, **named},
    )
    for one in graded:
        score = one.get("score") if one.get("score") is not None else one.get("pass")
        gathered.judgment(*key, _RATER, "human", score)
    if graded:
        gathered.remark(f"promptfoo does not record who judged: the rater is {_RATER!r}")
    return None


def _recovered(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the automatic score and verdict of which a person's took the place, from their parts.

    As promptfoo has them: the weighted mean of the parts' scores, and whether all parts passed.
    """
    scores = [number(one.get("score")) for one in parts]
    weights = [number(at(one, "assertion.weight")) for one in parts]
    known = [(one, 1.0 if of is None else of) for one, of in zip(scores, weights, strict=True)]
    total = sum(weight for _, weight in known)
    if not parts or None in scores or total <= 0:
        return {}
    mean = sum(score * weight for score, weight in known if score is not None) / total
    return {"score": mean, "success": all(one.get("pass") is True for one in parts)}


def _expected(record: Mapping[str, Any]) -> list[str] | None:
    found = [
        one["value"]
        for one in objects(at(record, "testCase.assert"))
        if one.get("type") in _COMPARED and isinstance(one.get("value"), str)
    ]
    return found or None


FORMAT = Format(
    name="promptfoo",
    title="promptfoo results (-o results.json or .jsonl)",
    expects="records with `provider`, `vars` and `response`, under `results` or on lines",
    recognises=_recognises,
    read=_read,
    way_out="name the items with --column item=vars.id",
    columns=("item", "system", "input", "reference"),
)
