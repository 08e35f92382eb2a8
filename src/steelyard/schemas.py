"""JSON schemas of what commands print, derived from the records that they print."""

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from steelyard.judge.judged import JudgeSummary
from steelyard.judge.judging import Foreseen
from steelyard.questions.check import FileCheck
from steelyard.questions.comparison import Comparison
from steelyard.questions.diagnosis import Diagnosis
from steelyard.questions.disagreements import Disagreement
from steelyard.questions.estimates import Estimate
from steelyard.questions.monitored import Monitored
from steelyard.questions.planned import Plan
from steelyard.questions.preferences import PreferenceComparison
from steelyard.questions.replay import Replay
from steelyard.scoring.run import ScoreSummary

__all__ = ["COMMANDS", "schema", "schema_id"]

# The number goes up whenever a key or a type changes: readers may refuse what they do not know.
_FORMS: dict[str, tuple[Any, int]] = {
    "check": (FileCheck, 2),
    "plan": (Plan, 3),
    "score": (ScoreSummary, 1),
    "judge": (list[JudgeSummary] | list[Foreseen], 4),
    "monitor": (list[Monitored], 4),
    "estimate": (list[Estimate], 3),
    "compare": (list[PreferenceComparison | Comparison], 3),
    "diagnose": (list[Diagnosis] | list[Disagreement], 2),
    "replay": (list[Replay], 1),
}
COMMANDS = tuple(_FORMS)


class _Whole(GenerateJsonSchema):
    """Objects have all of their keys and no others; titles that only repeat the key are left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def dataclass_schema(self, schema: Any) -> Any:
        found = super().dataclass_schema(schema)
        names = list(found.get("properties", {}))
        return found | {"required": names, "additionalProperties": False}


def schema_id(command: str) -> str:
    """Return the name of a command's schema with its version.

    Examples
    --------
    >>> schema_id("estimate")
    'steelyard/estimate/3'
    """
    return f"steelyard/{command}/{_FORMS[command][1]}"


def schema(command: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what a command prints with ``--json``.

    Parameters
    ----------
    command : str
        One of `COMMANDS`.

    Examples
    --------
    >>> schema("estimate")["type"]
    'array'
    """
    form, _ = _FORMS[command]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id(command),
        "title": f"steelyard {command} --json",
    }
    return head | TypeAdapter(form).json_schema(schema_generator=_Whole) | head
