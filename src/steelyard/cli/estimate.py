"""``steelyard estimate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.answers import below, metrics_used, named, table_of, titled
from steelyard.cli.gates import finish
from steelyard.cli.options import (
    StudyChoice,
    earlier_option,
    form_options,
    level_option,
    more_option,
    output_options,
    price_option,
    study_arguments,
)
from steelyard.cli.printing import note_lines, print_result
from steelyard.numbers import decimals_for, interval, number
from steelyard.questions.estimates import Estimate, Estimates
from steelyard.questions.least import least_answer
from steelyard.questions.worth import worth
from steelyard.study.answer import Answer, judgments_of, prompt_answers

__all__ = ["estimate"]

_EXAMPLE = """\b
Examples:
  steelyard estimate outputs.jsonl judgments.jsonl --prompt overall
  steelyard estimate outputs.jsonl judgments.jsonl --by topic
  steelyard estimate outputs.jsonl judgments.jsonl --at-least 3.5 -o gate.md
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@earlier_option
@form_options
@level_option
@click.option(
    "--at-least",
    type=float,
    metavar="X",
    help="Gate: exit 0 if all means are for sure, 3 if one is not for sure, 4 if undecided.",
)
@price_option
@more_option
@output_options
def estimate(
    choice: StudyChoice,
    *,
    form: dict[str, Any],
    level: float,
    at_least: float | None,
    judgment_price: float | None,
    more: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Estimate the mean human score of each system, with its rank.

    OUTPUTS is the pool, with metrics on every output; JUDGMENTS are of a random sample of it.
    """
    study = choice.read(told=False)
    options = {"level": level, **form}
    found = study.estimate(
        choice.metrics, prompts=choice.prompts, systems=choice.systems, **options
    )
    lower = study.judgments.lower_is_better
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        if as_json:
            break
        answers = prompt_answers(study, prompt, found, choice.metrics, **options)
        own = [one for one in found if one.prompt == prompt]
        used = judgments_of(study, prompt, [one.system for one in own])
        sign = 1 if prompt in lower else -1
        own.sort(key=lambda one: (str(one.slice or ""), sign * one.estimate))
        saved = worth(own, used)
        cost = None if saved is None else saved.priced(judgment_price)
        parts += _of_prompt(prompt, own, answers, found, cost=cost, more=more or output is not None)
    for note in found.notes if as_json else ():
        click.echo(f"note: {note}", err=True)
    if at_least is not None:
        answer = least_answer(found, at_least, lower_is_better=lower)
        finish(answer, found.to_dict(), parts, as_json=as_json, output=output)
    print_result(found.to_dict(), parts, as_json=as_json, output=output)


def _of_prompt(
    prompt: str,
    own: Sequence[Estimate],
    answers: dict[str | None, Answer],
    found: Estimates,
    *,
    cost: str | None,
    more: bool,
) -> list[RenderableType]:
    """Return the answer, the table and the notes under one prompt."""
    parts: list[RenderableType] = [
        titled(prompt if name is None else f"{prompt}, {name}", answer.sentence)
        for name, answer in answers.items()
    ]
    parts.append(_table(own, more=more))
    # Slices, and pools of several sizes, are named in the table.
    same = len({one.about for one in own}) == 1
    about = own[0].about if same else f"the outputs named, by {own[0].about.raters}"
    parts.append(f"about {about}{metrics_used(own[0].metrics)}")
    parts += [] if cost is None else [cost]
    places = ((one.system, one.slice or "", note) for one in own for note in one.notes)
    unmarked = [line.removeprefix("note: ") for line in note_lines(places)]
    return [*parts, *below([*found.notes, *unmarked], more=more)]


def _table(own: Sequence[Estimate], *, more: bool) -> Table:
    cut = any(one.slice is not None for one in own)
    ranked = any(one.rank_low is not None for one in own)
    wider = more and any(one.new_outputs is not None for one in own)
    table = table_of(
        [
            *([("slice", False)] if cut else []),
            *([("rank", True)] if ranked else []),
            ("system", False),
            ("mean", True),
            (f"{own[0].level:.0%} interval", False),
            *([("for new outputs", False)] if wider else []),
            *([("plain mean", True), ("data efficiency", True)] if more else []),
            ("judgments", True),
            ("outputs", True),
        ]
    )
    places = decimals_for(one.half_width for one in own)
    names = named([one.system for one in own], more=more)
    for one in own:
        new = one.new_outputs
        table.add_row(
            *([str(one.slice)] if cut else []),
            *([_rank(one)] if ranked else []),
            names[one.system],
            number(one.estimate, places),
            interval(one.low, one.high, places),
            *(["" if new is None else interval(new.low, new.high, places)] if wider else []),
            *(
                [number(one.baseline.estimate, places), f"{one.data_efficiency:.2f}"]
                if more
                else []
            ),
            str(one.n_judgments),
            f"{one.n_outputs} of {one.pool_size}",
        )
    return table


def _rank(one: Estimate) -> str:
    if one.rank_low is None:
        return ""
    same = one.rank_low == one.rank_high
    return str(one.rank_low) if same else f"{one.rank_low} to {one.rank_high}"
