"""Which command prints which form, and its schema."""

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from steelyard.schemas.campaigns import PlanForm
from steelyard.schemas.comparisons import CompareForm
from steelyard.schemas.diagnoses import DiagnoseForm
from steelyard.schemas.estimates import EstimateForm
from steelyard.schemas.files import CheckForm, JudgeForm, ScoreForm
from steelyard.schemas.looks import MonitorForm, ReplayForm

__all__ = ["COMMANDS", "schema", "schema_id"]

# The number goes up whenever a key or a type changes: readers may refuse what they do not know.
_FORMS: dict[str, tuple[Any, int]] = {
    "check": (CheckForm, 1),
    "plan": (PlanForm, 3),
    "score": (ScoreForm, 1),
    "judge": (JudgeForm, 3),
    "monitor": (MonitorForm, 4),
    "estimate": (EstimateForm, 3),
    "compare": (CompareForm, 3),
    "diagnose": (DiagnoseForm, 2),
    "replay": (ReplayForm, 1),
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
