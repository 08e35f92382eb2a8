"""Write docs/reference/cli.md from the commands' own ``--help``."""

import sys
from pathlib import Path

from steelyard.cli.main import steelyard

_WIDTH = 100
TARGET = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"


def reference() -> str:
    """Return the page."""
    parent = steelyard.make_context("steelyard", [], resilient_parsing=True, terminal_width=_WIDTH)
    parts = [
        "# Command line\n",
        "Generated from `--help`; errors exit with 2 for bad use or data.\n",
    ]
    parts.append(f"```text\n{steelyard.get_help(parent)}\n```\n")
    for name in steelyard.list_commands(parent):
        command = steelyard.get_command(parent, name)
        assert command is not None
        context = command.make_context(
            name, [], parent=parent, resilient_parsing=True, terminal_width=_WIDTH
        )
        parts.append(f"## steelyard {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET.name}\n")
