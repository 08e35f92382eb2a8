"""Print anew what the commands of the documentation's console blocks print, by running them on the demo's files.

python scripts/console_blocks.py
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from steelyard.cli.main import steelyard
from steelyard.demo import campaign
from steelyard.tables import write_table

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n\$ (steelyard [^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Rewrite the console blocks of all pages that speak of the demo's files."""
    os.environ["COLUMNS"] = "100"
    made = campaign()
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "steelyard-demo"
        demo.mkdir()
        write_table(pl.DataFrame(made.outputs, infer_schema_length=None), demo / "outputs.jsonl")
        write_table(
            pl.DataFrame(made.judgments, infer_schema_length=None), demo / "judgments.jsonl"
        )
        os.chdir(folder)
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            new = _BLOCK.sub(_printed, text)
            if new != text:
                page.write_text(new, encoding="utf-8")
                sys.stdout.write(f"{page.relative_to(ROOT)}\n")


def _printed(block: re.Match[str]) -> str:
    command = block[1]
    if "steelyard-demo/" not in command:
        return block[0]
    shown = CliRunner().invoke(steelyard, command.split()[1:])
    if shown.exit_code:
        raise SystemExit(f"{command}: {shown.output}")
    lines = "\n".join(line.rstrip() for line in shown.output.splitlines())
    return f"```console\n$ {command}\n{lines}\n```"


if __name__ == "__main__":
    main()
