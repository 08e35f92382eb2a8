"""``steelyard sample``."""

from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.campaign.versions import campaign_files, with_anchors
from steelyard.cli.options import column_mapping, column_option, two_systems
from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import print_tables
from steelyard.errors import InvalidArgumentError
from steelyard.questions.next_sample import NextSample
from steelyard.records import ALSO_BY
from steelyard.sampling.sample import Sample
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs, write_table

__all__ = ["sample"]

_EXAMPLE = """\b
Examples:
  steelyard sample outputs.jsonl -n 200 --seed 1 -o sample.jsonl
  steelyard sample outputs.jsonl -n 50 --after judgments.jsonl --seed 2 -o next.jsonl
  steelyard sample outputs.jsonl -n 100 --pair new old --seed 1 -o sample.jsonl
  steelyard sample outputs.jsonl -n 200 --strata rouge-l:4 --seed 1 -o sample.jsonl
  steelyard sample outputs.jsonl -n 300 --extend sample.jsonl --seed 2 -o larger.jsonl
"""


@click.command(epilog=_EXAMPLE)
@click.argument("outputs", type=InputPath())
@click.option("-n", "n", type=int, required=True, help="Outputs of each system, items or clusters.")
@click.option("--system", "systems", multiple=True, help="System to draw from; all by default.")
@click.option(
    "--pair", nargs=2, callback=two_systems, metavar="A B", help="Only items on which they differ."
)
@click.option(
    "--strata", metavar="COLUMN", help="Within strata: a column, or METRIC:K for K quantiles."
)
@click.option("--clusters", metavar="COLUMN", help="Whole clusters, such as documents.")
@click.option(
    "--same-items/--independent", default=True, show_default=True, help="Items of all systems."
)
@click.option(
    "--extend", type=InputPath(), help="Sample that the new one contains; -n counts it in."
)
@click.option(
    "--after",
    type=InputPath(),
    metavar="JUDGMENTS",
    help="Judgments so far: draw what to judge next.",
)
@click.option(
    "--earlier", multiple=True, type=InputPath(), metavar="FOLDER", help="With --anchors: of whom."
)
@click.option(
    "--anchors",
    type=int,
    help="Add so many outputs of earlier versions, to see whether their judgments still hold.",
)
@click.option("--prompt", help="With --after: the prompt, where there are several.")
@column_option
@click.option("--seed", type=int, required=True, help="Seed of the draw, which is recorded.")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    required=True,
    help="File to write the sample to: .jsonl, .csv or .parquet.",
)
def sample(
    outputs: Path,
    *,
    n: int,
    systems: tuple[str, ...],
    pair: tuple[str, str] | None,
    strata: str | None,
    clusters: str | None,
    same_items: bool,
    extend: Path | None,
    after: Path | None,
    earlier: tuple[Path, ...],
    anchors: int | None,
    prompt: str | None,
    columns: tuple[str, ...],
    seed: int,
    output: Path,
) -> None:
    """Draw outputs to judge, and record with what probability.

    OUTPUTS is the pool. The sample holds its rows in the order in which to judge them, with what the draw
    records, so that an estimate needs nothing else. All systems get the same items. A text that several
    systems wrote is there once: `also_by` names the others, and its judgments count for all of them.
    """
    study = Study.read(
        outputs,
        after,
        columns=column_mapping(columns),
    )
    found: Sample | NextSample
    if after is None:
        if prompt is not None:
            raise InvalidArgumentError("`--prompt` needs `--after`")
        found = study.sample(
            n,
            strata=strata,
            clusters=clusters,
            extend=None if extend is None else read_outputs(extend).rows(),
            systems=systems or None,
            pair=pair,
            same_items=same_items,
            seed=seed,
        )
    else:
        if any((strata, clusters, extend)) or not same_items:
            raise InvalidArgumentError(
                "`--after` draws simply, the same items for all: leave out what draws in another way"
            )
        found = study.next_sample(n, prompt=prompt, systems=systems or None, pair=pair, seed=seed)
    if (anchors is None) == bool(earlier):
        raise InvalidArgumentError("`--anchors` and `--earlier` go together: give both or neither")
    frame = found.frame
    if anchors is not None:
        old = [
            (name, read_outputs(pool), read_judgments(judged))
            for folder in earlier
            for name, pool, judged in campaign_files(folder)
        ]
        frame = with_anchors(frame, old, anchors, seed=seed)
    write_table(frame, output)
    if isinstance(found, Sample):
        print_tables(_tables(found, output), None)
    else:
        said = f"{found.frame.height} outputs to judge next, in {output}"
        print_tables([said, *found.rules], None)


def _tables(found: Sample, output: Path) -> list[RenderableType]:
    table = Table(title=f"Outputs to judge, in {output}", title_justify="left")
    table.add_column("system")
    table.add_column("stratum")
    table.add_column("drawn", justify="right")
    table.add_column("of", justify="right")
    table.add_column("probability", justify="right")
    for name, draw in found.draws.items():
        for label, drawn, size in draw.by_stratum:
            table.add_row(name, label, str(drawn), str(size), f"{drawn / size:.3f}")
        if not draw.by_stratum:
            least, greatest = draw.probability.min(), draw.probability.max()
            shown = f"{least:.3f}" if least == greatest else f"{least:.3f} to {greatest:.3f}"
            there = draw.pool_size if draw.differing is None else draw.differing
            table.add_row(name, "", str(draw.n), str(there), shown)
    return [table, *_remarks(found), *(one.signature for one in found.draws.values())]


def _remarks(found: Sample) -> list[str]:
    """Say whether systems share items, and which items a pair needs no judgment of."""
    if len(found.draws) > 1:
        return ["each system is drawn on its own: differences are known better on the same items"]
    [draw] = found.draws.values()
    if draw.differing is not None:
        identical = f"{draw.pool_size - draw.differing} of {draw.pool_size}"
        return [
            f"the same items for both; {identical} items have identical outputs and need no judgment"
        ]
    shared = found.frame[ALSO_BY].drop_nulls().len() if ALSO_BY in found.frame.columns else 0
    once = f"; {shared} of {found.frame.height} texts were written by several systems: judge each once,"
    once += f" it counts for all of them; keep the column {ALSO_BY} with the judgments"
    same = f"the same items for all systems{once if shared else ''}"
    return [same] if draw.systems > 1 else []
