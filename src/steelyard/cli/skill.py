"""``steelyard skill``."""

from importlib.resources import files

import click

__all__ = ["skill"]


_EXAMPLE = """\b
Example:
  steelyard skill > STEELYARD.md
"""


@click.command(epilog=_EXAMPLE)
def skill() -> None:
    """Print a page for coding assistants: the commands, the contract of files and JSON, the traps."""
    click.echo((files("steelyard.cli") / "templates" / "skill.md").read_text("utf-8"), nl=False)
