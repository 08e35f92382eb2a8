"""``steelyard schema``."""

from pathlib import Path

import click

from steelyard.cli.printing import print_json
from steelyard.schemas import COMMANDS, schema_id
from steelyard.schemas import schema as schema_of

__all__ = ["schema"]

_EXAMPLE = """\b
Examples:
  steelyard schema
  steelyard schema estimate --output estimate.schema.json
"""


@click.command(epilog=_EXAMPLE)
@click.argument("command", metavar="[COMMAND]", type=click.Choice(COMMANDS), required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file instead of the terminal.",
)
def schema(command: str | None, output: Path | None) -> None:
    """Print the JSON schema of what COMMAND prints with --json; without COMMAND, list them all.

    The number at the end of a schema's $id goes up whenever a key or a type changes.
    """
    if command is not None:
        print_json(schema_of(command), output)
    elif output is not None:
        raise click.UsageError("'--output' needs COMMAND: whose schema is to be written?")
    else:
        click.echo("\n".join(f"{name:<12}{schema_id(name)}" for name in COMMANDS))
