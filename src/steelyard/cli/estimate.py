"""``steelyard estimate``."""

from collections.abc import Sequence
from pathlib import Path

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
)
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import note_lines, print_result
from steelyard.questions.estimates import Estimate, Estimates

__all__ = ["estimate"]

_EXAMPLE = """\b
Examples:
  steelyard estimate outputs.jsonl judgments.jsonl --prompt overall
  steelyard estimate outputs.jsonl judgments.jsonl --by topic
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@form_options
@level_option
@output_options
def estimate(
    choice: StudyChoice,
    form: FormOptions,
    *,
    level: float,
    as_json: bool,
    output: Path | None,
) -> None:
    """Estimate the mean human score of each system, with its rank.

    OUTPUTS is the pool, with metrics on every output; JUDGMENTS are of a random sample of it.
    Both are JSON Lines, CSV, TSV, JSON, Excel or Parquet files; `steelyard check` looks at them.
    """
    study = choice.read(form.metrics, told=False)
    found = study.estimate(
        form.chosen_metrics,
        prompts=choice.prompts,
        systems=choice.systems,
        level=level,
        **form.options,
    )
    print_result([one.to_dict() for one in found], _tables(found), as_json=as_json, output=output)
    for note in found.notes if as_json else ():
        click.echo(f"note: {note}", err=True)


def _tables(found: Estimates) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        own = [one for one in found if one.prompt == prompt]
        parts.append(_table(prompt, own))
        # Slices, and pools of several sizes, are named in the table.
        same = len({one.about for one in own}) == 1
        about = own[0].about if same else f"the outputs named, by {own[0].about.raters}"
        used = f"; metrics used: {', '.join(own[0].metrics)}" if own[0].metrics else ""
        parts.append(f"about {about}{used}")
    places = ((one.system, _place(one), note) for one in found for note in one.notes)
    parts.extend(note_lines(places))
    parts.extend(f"note: {note}" for note in found.notes)
    return parts


def _table(prompt: str, own: Sequence[Estimate]) -> Table:
    level = f"{own[0].level:.0%}"
    cut = any(one.slice is not None for one in own)
    ranked = any(one.rank_low is not None for one in own)
    wider = any(one.new_outputs is not None for one in own)
    table = Table(title=f"Mean human score, prompt {prompt}", title_justify="left")
    if cut:
        table.add_column("slice")
    table.add_column("system")
    if ranked:
        table.add_column("rank", justify="right")
    table.add_column("estimate", justify="right")
    table.add_column(f"{level} interval")
    if wider:
        table.add_column("for new outputs")
    table.add_column("plain mean", justify="right")
    table.add_column("data efficiency", justify="right")
    table.add_column("judgments", justify="right")
    table.add_column("outputs", justify="right")
    for one in own:
        cells = [str(one.slice)] if cut else []
        cells.append(one.system)
        if ranked:
            cells.append(_rank(one))
        cells += [f"{one.estimate:.3f}", shown(one.low, one.high)]
        if wider:
            new = one.new_outputs
            cells.append("" if new is None else shown(new.low, new.high))
        cells += [f"{one.baseline.estimate:.3f}", f"{one.data_efficiency:.2f}"]
        table.add_row(*cells, str(one.n_judgments), f"{one.n_outputs} of {one.pool_size}")
    return table


def _rank(one: Estimate) -> str:
    if one.rank_low is None:
        return ""
    same = one.rank_low == one.rank_high
    return str(one.rank_low) if same else f"{one.rank_low} to {one.rank_high}"


def _place(one: Estimate) -> str:
    return ", ".join(str(name) for name in (one.prompt, one.slice) if name is not None)
