"""``steelyard compare``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.answers import below, named, table_of, titled
from steelyard.cli.gates import finish
from steelyard.cli.options import (
    StudyChoice,
    earlier_option,
    form_options,
    gate_option,
    level_option,
    more_option,
    output_options,
    pair_options,
    study_arguments,
)
from steelyard.cli.printing import print_result
from steelyard.errors import InvalidArgumentError
from steelyard.numbers import interval, number, p_value, signed
from steelyard.questions.answer import difference_decimals
from steelyard.questions.compare import gate_answer
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import Gate, PairDifference
from steelyard.questions.preferences import PreferenceComparison, PreferencePair

__all__ = ["compare"]

_EXAMPLE = """\b
Examples:
  steelyard compare outputs.jsonl judgments.jsonl --prompt overall
  steelyard compare outputs.jsonl judgments.jsonl --pair new old --gate not-worse --margin 0.05
"""
# More pairs than this are shown with --more.
_PAIRS = 15
_NAMES = 20


@click.command(epilog=_EXAMPLE)
@study_arguments
@earlier_option
@pair_options
@gate_option(*get_args(Gate))
@form_options
@level_option
@more_option
@output_options
def compare(
    choice: StudyChoice,
    *,
    form: dict[str, Any],
    pair: tuple[str, str] | None,
    baseline: str | None,
    margin: float | None,
    gate: Gate | None,
    level: float,
    more: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Compare systems: who is better, by how much, with the numbers of `steelyard estimate`.

    Verdicts hold for all pairs, and all slices, together. Judgments with a column other_system are
    preferences between two outputs.
    """
    if gate is not None and pair is None and baseline is None:
        raise InvalidArgumentError(
            "`--gate` needs `--pair` or `--baseline`: whose difference is it about?"
        )
    if gate in {"not-worse", "equivalent"} and margin is None:
        raise InvalidArgumentError(
            f"`--gate {gate}` needs `--margin`: what difference does not matter?"
        )
    found = choice.read(told=as_json).compare(
        choice.metrics,
        prompts=choice.prompts,
        systems=choice.systems,
        pair=pair,
        baseline=baseline,
        margin=margin,
        level=level,
        **form,
    )
    more = more or output is not None
    parts = [part for one in found for part in _of_prompt(one, found, more=more)]
    value = [one.to_dict() for one in found]
    if gate is not None:
        finish(gate_answer(found, gate, margin), value, parts, as_json=as_json, output=output)
    print_result(value, parts, as_json=as_json, output=output)


def _of_prompt(one: Comparison, found: Sequence[Comparison], *, more: bool) -> list[RenderableType]:
    """Return the answer, the table and the notes under one prompt."""
    parts: list[RenderableType] = [titled(one.place.removeprefix("prompt "), one.sentence)]
    if more:
        parts += _places(one)
    parts.append(_pairs(one, more=more))
    slices = sum(other.prompt == one.prompt for other in found)
    several = "all pairs" if slices == 1 else f"all pairs in all {slices} slices"
    together = f" for {several} together" if len(one.pairs) > 1 or slices > 1 else ""
    parts.append(f"about {one.about}; verdicts hold{together} at {one.level:.0%}")
    notes = list(one.notes)
    if isinstance(one, PreferenceComparison):
        parts.append(one.order_sentence)
    if len(one.pairs) > _PAIRS and not more:
        notes.insert(
            0, f"the {_PAIRS} clearest of {len(one.pairs)} pairs are shown; --more shows all"
        )
    return [*parts, *below(notes, more=more)]


def _places(one: Comparison) -> list[RenderableType]:
    """Return the table of ranks, or of strengths."""
    if isinstance(one, PreferenceComparison):
        table = table_of(
            [
                ("system", False),
                ("strength", True),
                (f"{one.level:.0%} interval, all together", False),
            ]
        )
        for system in one.strengths:
            table.add_row(
                system.system, signed(system.strength, 2), interval(system.low, system.high)
            )
        return [table] if one.strengths else []
    group = {system: number for number, names in enumerate(one.groups, 1) for system in names}
    places = difference_decimals(one.pairs)
    table = table_of([("rank", True), ("system", False), ("mean", True), ("group", True)])
    for rank in one.ranks:
        ranks = str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}"
        table.add_row(ranks, rank.system, number(rank.estimate, places), str(group[rank.system]))
    return [table] if one.ranks else []


def _pairs(one: Comparison, *, more: bool) -> Table:
    """Return the pairs, the clearest first."""
    preferred = isinstance(one, PreferenceComparison)
    several = len(one.pairs) > 1
    open_pairs = any(pair.more_judgments for pair in one.pairs)
    table = table_of(
        [
            ("a", False),
            ("", False),
            ("b", False),
            *([("wins", True), ("ties", True), ("losses", True)] if preferred else []),
            ("a - b", True),
            (f"{one.level:.0%} interval{', all pairs' if several else ''}", False),
            *([("pair alone", False)] if several and more else []),
            ("p", True),
            *([("more judgments", True)] if open_pairs else []),
            *([("items", True)] if more else []),
        ]
    )
    names = named(
        [name for pair in one.pairs for name in (pair.a, pair.b)], more=more, width=_NAMES
    )
    places = difference_decimals(one.pairs)
    clearest = sorted(one.pairs, key=lambda pair: (pair.p_value, -abs(pair.difference)))
    for pair in clearest if more else clearest[:_PAIRS]:
        table.add_row(
            names[pair.a],
            _verdict(pair),
            names[pair.b],
            *_shares(pair, more=more),
            signed(pair.difference, places),
            interval(pair.simultaneous_low, pair.simultaneous_high, places),
            *([interval(pair.low, pair.high, places)] if several and more else []),
            p_value(pair.p_value),
            *([_needed(pair)] if open_pairs else []),
            *([_items(pair)] if more else []),
        )
    return table


def _verdict(pair: PairDifference) -> str:
    if pair.verdict == "undecided":
        return "undecided"
    if pair.verdict == "equivalent":
        return "identical to" if pair.identical else "equivalent to"
    return "better than" if pair.verdict == "a" else "worse than"


def _needed(pair: PairDifference) -> str:
    if pair.verdict != "undecided":
        return ""
    return "?" if pair.more_judgments is None else f"about {pair.more_judgments:,}"


def _items(pair: PairDifference) -> str:
    identical = f" ({pair.identical_items} identical)" if pair.identical_items else ""
    return f"{pair.n_items}{identical}"


def _shares(pair: PairDifference, *, more: bool) -> list[str]:
    if not isinstance(pair, PreferencePair):
        return []
    return [
        f"{share.value:.0%}" + (f" [{share.low:.0%}, {share.high:.0%}]" if more else "")
        for share in (pair.win, pair.tie, pair.loss)
    ]
