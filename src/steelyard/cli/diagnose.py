"""``steelyard diagnose``."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.gates import finish
from steelyard.cli.options import (
    StudyChoice,
    output_options,
    study_arguments,
)
from steelyard.cli.printing import headed, print_result
from steelyard.numbers import number, signed
from steelyard.questions.diagnosis import Diagnosis, JudgeDiagnosis, shown
from steelyard.questions.disagreements import Disagreement
from steelyard.questions.trust_gate import trust_answer

__all__ = ["diagnose"]

_EXAMPLE = """\b
Examples:
  steelyard diagnose outputs.jsonl judgments.jsonl --metric judge
  steelyard diagnose outputs.jsonl judgments.jsonl --disagreements 20 -o list.csv
  steelyard diagnose outputs.jsonl judgments.jsonl --metric judge --worth 0.2 --offset 0.1
"""
# More letters of a text than this are not shown in a terminal.
_TEXT = 60
# More raters than this are shown from both ends.
_RATERS = 10


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--against",
    multiple=True,
    metavar="COLUMN",
    help="Column of numbers that it may be biased towards, beside the number of words.",
)
@click.option("--own", multiple=True, metavar="SYSTEM", help="System of the judge's own family.")
@click.option(
    "--disagreements",
    type=click.IntRange(min=1),
    metavar="N",
    help="List the N outputs on which judge and people, and people among themselves, differ most.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 1),
    help="Gate: least share of judgments saved; exit 0 if it holds, 3 if it fails, 4 if undecided.",
)
@click.option(
    "--offset",
    type=click.FloatRange(min=0, min_open=True),
    help="Gate: by how much a system may be favoured at most.",
)
@output_options
def diagnose(
    choice: StudyChoice,
    *,
    against: tuple[str, ...],
    own: tuple[str, ...],
    disagreements: int | None,
    worth: float | None,
    offset: float | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Can I trust my judge? Where a metric or judge is biased, what it is worth, and how raters agree.

    Everything is measured on the judged outputs, with intervals, and corrected for raters' noise where
    some outputs have two judgments.
    """
    study = choice.read(all_metrics=True)
    if disagreements is not None:
        rows = study.disagreements(disagreements, metrics=choice.metrics, prompts=choice.prompts)
        print_result(
            [asdict(row) for row in rows], [_differing(rows)], as_json=as_json, output=output
        )
        return
    found = study.diagnose(
        choice.metrics,
        prompts=choice.prompts,
        systems=choice.systems,
        against=against,
        own=own,
    )
    parts = [part for one in found for part in _tables(one)]
    if worth is not None or offset is not None:
        answer = trust_answer(found, worth=worth, offset=offset)
        finish(answer, found.to_dict(), parts, as_json=as_json, output=output)
    print_result(found.to_dict(), parts, as_json=as_json, output=output)


def _tables(one: Diagnosis) -> list[RenderableType]:
    parts: list[RenderableType] = [
        headed(f"Prompt {one.prompt}:", judge.sentence) for judge in one.judges
    ]
    parts += [one.holds_back, ""]
    if one.judges:
        parts.append(_judges(one))
    for judge in one.judges:
        if any(each.offset is not None for each in judge.offsets):
            parts.append(_offsets(judge))
    parts += [_variances(one)]
    if one.raters:
        parts.append(_raters(one))
    parts.append(
        f"people agree with one another: alpha {shown(one.agreement)}; {one.n_judgments:,} judgments of "
        f"{one.n_outputs:,} outputs, {one.n_repeats:,} of them second ones; {one.level:.0%} intervals"
    )
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _judges(one: Diagnosis) -> Table:
    table = Table(title=f"Metrics beside people, prompt {one.prompt}", title_justify="left")
    table.add_column("metric")
    heads = ["correlation", "worth", "pairs ordered alike", "kappa", "1 point is"]
    columns = list(dict.fromkeys(each.column for judge in one.judges for each in judge.biases))
    heads += [f"more for {name}" for name in columns]
    verdicts = any(judge.pass_fail for judge in one.judges)
    heads += ["sensitivity", "specificity"] if verdicts else []
    family = any(judge.self_preference for judge in one.judges)
    heads += ["own family"] if family else []
    for head in heads:
        table.add_column(head, justify="right")
    for judge in one.judges:
        biases = {each.column: each.bias for each in judge.biases}
        cells = [
            shown(judge.correlation),
            shown(judge.worth, share=True),
            "-" if judge.ranks is None else shown(judge.ranks.alike, share=True),
            shown(judge.kappa),
            shown(judge.scale),
            *(shown(biases.get(name)) for name in columns),
        ]
        if verdicts:
            both = judge.pass_fail
            cells += [shown(both.sensitivity), shown(both.specificity)] if both else ["-", "-"]
        if family:
            cells.append(shown(judge.self_preference))
        table.add_row(judge.metric, *cells)
    return table


def _offsets(judge: JudgeDiagnosis) -> Table:
    title = f"Whom {judge.metric} favours, on the human scale"
    table = Table(title=title, title_justify="left")
    table.add_column("system")
    for head in ("metric", "on the human scale", "people", "favoured by"):
        table.add_column(head, justify="right")
    table.add_column("")
    for one in judge.offsets:
        words = ""
        if one.is_clear and one.offset is not None:
            words = "favoured" if one.offset.value > 0 else "judged too strictly"
        cells = (f"{one.metric:.3g}", f"{one.on_human_scale:.2f}", shown(one.human))
        table.add_row(one.system, *cells, shown(one.offset), words)
    return table


def _variances(one: Diagnosis) -> Table:
    table = Table(title=f"What judgments vary by, prompt {one.prompt}", title_justify="left")
    table.add_column("effect")
    table.add_column("share of the variance", justify="right")
    for each in one.variances:
        table.add_row(each.effect, shown(each.share, share=True))
    return table


def _raters(one: Diagnosis) -> Table:
    raters = one.raters
    title = f"Raters, prompt {one.prompt}, the most lenient first"
    if len(raters) > _RATERS:
        raters = (*raters[: _RATERS // 2], *raters[-_RATERS // 2 :])
        title += f" ({_RATERS} of {len(one.raters)})"
    table = Table(title=title, title_justify="left")
    table.add_column("rater")
    table.add_column("leniency", justify="right")
    table.add_column("judgments", justify="right")
    for each in raters:
        table.add_row(each.rater, shown(each.leniency), f"{each.n_judgments:,}")
    return table


def _differing(rows: Sequence[Disagreement]) -> Table:
    table = Table(title="Where judge and people, or people, differ most", title_justify="left")
    for head in ("prompt", "who", "item", "system"):
        table.add_column(head)
    for head in ("people", "metric says", "difference"):
        table.add_column(head, justify="right")
    table.add_column("scores")
    table.add_column("output")
    for row in rows:
        text = " ".join(str(row.output or "").split())
        table.add_row(
            *(row.prompt, row.who, row.item, row.system),
            number(row.human),
            number(row.metric_says),
            signed(row.difference, 2),
            row.scores,
            text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…",
        )
    return table
