"""``steelyard paper``."""

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import click
from rich.console import RenderableType
from rich.progress import track
from rich.table import Table

from steelyard.cli.paths import InputPath, check_not_inputs
from steelyard.cli.printing import plain_console, print_tables
from steelyard.errors import InvalidArgumentError
from steelyard.paper import read_release, reproduce, write_page
from steelyard.paper.claims import claims

__all__ = ["paper"]

Item = TypeVar("Item")

_EXAMPLE = """\b
Example:
  steelyard paper --output steelyard-paper
"""

_COLUMNS = ("where", "what", "printed", "reproduced", "corrected", "verdict")


@click.command(epilog=_EXAMPLE)
@click.argument("directory", type=InputPath(), required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("steelyard-paper"),
    show_default=True,
    help="Folder to write to; made if it is not there.",
)
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap draws.")
def paper(directory: Path | None, *, output: Path, draws: int) -> None:
    """Reproduce The price of debiasing automatic metrics from its released data.

    The released scores stand in the package. DIRECTORY, if given, is read instead: it holds
    msmarco.jsonl, cnndm.jsonl, or both, and as far as they are there msmarco_texts.jsonl and
    published.json, which the page then compares with too. Writes paper.html, which shows every number and figure of
    the paper beside what the authors printed and released, figures/ (PDF, PNG) and tables/ (CSV).
    """
    if draws < 100:
        raise InvalidArgumentError(f"`--draws` must be at least 100; got {draws}: 1000 is usual")
    release = read_release(directory)
    there = [output / "paper.html", *output.glob("figures/*"), *output.glob("tables/*")]
    check_not_inputs("--output", there, [] if directory is None else directory.glob("*.json*"))
    # Now, not after all the work, is the time to find out that nothing can be written.
    output.mkdir(parents=True, exist_ok=True)
    found = reproduce(release, draws=draws, seed=0, tracked=_tracked)
    command = shlex.join(["steelyard", *sys.argv[1:]])
    page = write_page(found, output, command=command, tracked=_tracked)
    table = Table(title="The paper's numbers", title_justify="left")
    for name in _COLUMNS:
        table.add_column(name)
    for claim in claims(found):
        table.add_row(*(getattr(claim, name) for name in _COLUMNS))
    parts: list[RenderableType] = [table, *(f"{one}." for one in release.missing)]
    parts.append(f"Page:    {page}\nFigures: {output / 'figures'}\nTables:  {output / 'tables'}")
    print_tables(parts, None)


def _tracked(items: Iterable[Item], /, *, what: str, total: int) -> Iterable[Item]:
    """Show a bar on standard error, if it is a terminal."""
    console = plain_console(stderr=True)
    if not console.is_terminal:
        return items
    return track(items, description=what, total=total, console=console, transient=True)
