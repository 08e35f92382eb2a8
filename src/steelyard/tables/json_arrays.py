"""JSON files that hold one array of records."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.python_rows import frame_of_rows
from steelyard.tables.text import decoded

__all__ = ["read_array"]


def read_array(path: Path) -> pl.DataFrame | None:
    """Read an array of objects; None where the file holds JSON Lines after all.

    Raises
    ------
    InvalidDataError
        If it is no JSON, or JSON of another shape.
    """
    try:
        found = json.loads(decoded(path))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.doc.lstrip().startswith("{"):
            return None
        raise InvalidDataError(
            f"{path}, line {error.lineno}: expected an array of JSON objects, got malformed JSON "
            f"({error.msg} at character {error.colno})"
        ) from error
    except RecursionError:
        raise InvalidDataError(f"{path}: the JSON is nested too deeply") from None
    if isinstance(found, dict) and not any(
        isinstance(value, dict | list) for value in found.values()
    ):
        found = [found]
    if isinstance(found, dict):
        inside = _lists_of_objects(found)
        found = inside[0] if len(inside) == 1 else found
    if not isinstance(found, list):
        kind = "one object" if isinstance(found, dict) else type(found).__name__
        raise InvalidDataError(
            f"{path}: expected an array of JSON objects, got {kind}: if another tool wrote it, try "
            "steelyard convert --from auto"
        )
    if not found:
        raise InvalidDataError(f"{path}: holds no rows: at least one is needed")
    return frame_of_rows(found, name=str(path), place="record")


def _lists_of_objects(value: Any, depth: int = 3) -> list[list[Any]]:
    """Return the lists of objects inside an object; not those inside such lists."""
    if isinstance(value, list):
        return [value] if value and all(isinstance(one, dict) for one in value) else []
    if not isinstance(value, dict) or not depth:
        return []
    return [found for inner in value.values() for found in _lists_of_objects(inner, depth - 1)]
