"""The published form of what each command prints with ``--json``."""

from steelyard.schemas.registry import COMMANDS, schema, schema_id

__all__ = ["COMMANDS", "schema", "schema_id"]
