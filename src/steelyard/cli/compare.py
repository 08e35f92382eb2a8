"""``steelyard compare``."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    FormOptions,
    StudyChoice,
    form_options,
    level_option,
    output_options,
    study_arguments,
    two_systems,
)
from steelyard.cli.preference_tables import preference_tables
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import print_result
from steelyard.errors import InvalidArgumentError
from steelyard.questions.compare import gate_answer
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import Gate, PairDifference
from steelyard.questions.preferences import PreferenceComparison

__all__ = ["compare"]

_EXAMPLE = """\b
Examples:
  steelyard compare outputs.jsonl judgments.jsonl --prompt overall
  steelyard compare outputs.jsonl judgments.jsonl --pair new old --gate not-worse --margin 0.05
"""
_EXIT = {"holds": 0, "fails": 3, "undecided": 4}


@click.command(epilog=_EXAMPLE)
@study_arguments
@form_options
@click.option(
    "--pair", nargs=2, callback=two_systems, metavar="A B", help="Compare these two systems only."
)
@click.option("--baseline", metavar="A", help="Compare every other system with this one only.")
@click.option("--margin", type=float, help="Differences within it count as equivalent.")
@click.option(
    "--gate",
    type=click.Choice(get_args(Gate)),
    help="For pipelines: exit 0 if it holds, 3 if it fails, 4 if it is undecided.",
)
@level_option
@output_options
def compare(
    choice: StudyChoice,
    form: FormOptions,
    *,
    pair: tuple[str, str] | None,
    baseline: str | None,
    margin: float | None,
    gate: Gate | None,
    level: float,
    as_json: bool,
    output: Path | None,
) -> None:
    """Compare systems: differences, ranks and groups, with the numbers of `steelyard estimate`.

    Differences are of the first system minus the second. Identical outputs count as exactly equal.
    Verdicts hold for all pairs, and all slices, together. With --gate the exit code is the answer.

    Judgments with a column other_system are preferences between two outputs: wins, ties, losses and
    strengths.
    """
    if gate is not None and pair is None and baseline is None:
        raise InvalidArgumentError(
            "`--gate` needs `--pair` or `--baseline`: whose difference is it about?"
        )
    if gate in {"not-worse", "equivalent"} and margin is None:
        raise InvalidArgumentError(
            f"`--gate {gate}` needs `--margin`: what difference does not matter?"
        )
    study = choice.read(form.metrics, told=as_json)
    found = study.compare(
        form.chosen_metrics,
        prompts=choice.prompts,
        systems=choice.systems,
        pair=pair,
        baseline=baseline,
        margin=margin,
        level=level,
        **form.options,
    )
    print_result(
        [one.to_dict() for one in found],
        [part for one in found for part in _tables(one, found)],
        as_json=as_json,
        output=output,
    )
    if gate is not None:
        answer, words = gate_answer(found, gate, margin)
        click.echo(words, err=as_json)
        raise SystemExit(_EXIT[answer])


def _tables(one: Comparison, found: Sequence[Comparison]) -> list[RenderableType]:
    if isinstance(one, PreferenceComparison):
        return preference_tables(one)
    parts: list[RenderableType] = []
    if one.ranks:
        parts.append(_ranks(one))
        parts.append(one.sentence)
    parts.append(_pairs(one))
    slices = sum(other.prompt == one.prompt for other in found)
    together = "all pairs" if slices == 1 else f"all pairs in all {slices} slices"
    parts.append(f"about {one.about}; verdicts hold for {together} together at {one.level:.0%}")
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _ranks(one: Comparison) -> Table:
    table = Table(title=f"Ranks, {one.place}", title_justify="left")
    table.add_column("system")
    table.add_column("estimate", justify="right")
    table.add_column("rank", justify="right")
    table.add_column("group", justify="right")
    group = {system: number for number, names in enumerate(one.groups, 1) for system in names}
    for rank in one.ranks:
        ranks = str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}"
        table.add_row(rank.system, f"{rank.estimate:.3f}", ranks, str(group[rank.system]))
    return table


def _pairs(one: Comparison) -> Table:
    level = f"{one.level:.0%}"
    table = Table(title=f"Differences, {one.place}", title_justify="left")
    table.add_column("a")
    table.add_column("b")
    table.add_column("a - b", justify="right")
    table.add_column(f"{level} interval")
    if len(one.pairs) > 1:
        table.add_column("all together")
    table.add_column("p" if len(one.pairs) == 1 else "p (all pairs)", justify="right")
    table.add_column("verdict")
    table.add_column("common items", justify="right")
    for pair in one.pairs:
        table.add_row(*_cells(pair, together=len(one.pairs) > 1))
    return table


def _cells(pair: PairDifference, *, together: bool) -> Sequence[str]:
    cells = [pair.a, pair.b, f"{pair.difference:+.3f}", shown(pair.low, pair.high)]
    if together:
        cells.append(shown(pair.simultaneous_low, pair.simultaneous_high))
    items = str(pair.n_items)
    if pair.identical_items:
        items += f" ({pair.identical_items} identical)"
    return [*cells, f"{pair.p_value:.2g}", pair.words, items]
