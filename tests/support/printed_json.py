"""What commands print as JSON, compared with the published schemas by an independent validator."""

from functools import cache

from jsonschema_rs import Draft202012Validator

from steelyard.schemas import schema


def schema_errors(command, printed):
    """Return what in a printed value breaks the command's published schema."""
    found = _validator(command).iter_errors(printed)
    return [f"{list(one.instance_path)}: {one.message[:300]}" for one in found]


@cache
def _validator(command):
    return Draft202012Validator(schema(command))
