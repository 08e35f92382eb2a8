"""The tables of ``steelyard simulate``."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table

from steelyard.study.ledger_words import ledger_in_words
from steelyard.study.mean_replay import ALL_SYSTEMS, MeanReplay
from steelyard.study.pair_replay import PairReplay
from steelyard.study.simulation import Replay

__all__ = ["mean_tables", "pair_tables", "rule_tables"]


def mean_tables(
    found: Sequence[MeanReplay], goal: float | None, level: float
) -> list[RenderableType]:
    """Return what fewer judgments would have shown of each mean, and how it was replayed."""
    first = found[0]
    table = Table(title=f"Fewer judgments, prompt {first.prompt}", title_justify="left")
    table.add_column("outputs of each", justify="right")
    for name in ("system", ""):
        table.add_column(name)
    reached = [] if goal is None else [f"reached {goal:g}"]
    for name in ("judgments", "error", "judgments for equal error", "half-width", *reached):
        table.add_column(name, justify="right")
    table.add_column("coverage", justify="right")
    for number, one in enumerate(found):
        if number and one.n_outputs != found[number - 1].n_outputs:
            table.add_section()
        table.add_row(
            str(one.n_outputs),
            "all systems" if one.system == ALL_SYSTEMS else one.system,
            one.rule + (", spread draw" if one.design == "spread" else ""),
            f"{one.judgments:.0f}",
            f"{one.error:.4f}",
            "" if one.relative_judgments is None else f"{one.relative_judgments:.2f}",
            f"{one.half_width:.4f}",
            *([] if one.reached is None else [f"{one.reached:.0%}"]),
            f"{one.coverage:.1%}",
        )
    singles = [one for one in found if one.system != ALL_SYSTEMS]
    least, most = (pick(one.pool_size for one in singles) for pick in (min, max))
    judged, pool = min(one.judged_outputs for one in singles), f"{least}"
    how = (
        f"{first.runs} replays of {judged} judged outputs, taken for a draw from {pool if least == most else f'{least} to {most}'}; error is "
        f"the root mean square about the mean of all of them, by these raters; coverage of {level:.0%} intervals; plain means are of "
        "systems drawn each on its own, and need 1 judgment for equal error"
    )
    told = [
        f"ledger, {one.n_outputs} outputs of each: {ledger_in_words(one.ledger, 'these intervals')}"
        for one in found
        if one.ledger is not None and (one.system == ALL_SYSTEMS or len(singles) == len(found))
    ]
    return [table, how, *told[-1:]]


def pair_tables(found: Sequence[PairReplay], level: float) -> list[RenderableType]:
    """Return what fewer judgments would have shown of two systems."""
    first = found[0]
    table = Table(title=f"{first.a} minus {first.b}, prompt {first.prompt}", title_justify="left")
    table.add_column("judgments", justify="right")
    table.add_column("")
    for name in (
        *("error", "judgments for equal error", "half-width", "coverage"),
        *(f"{first.a} better", f"{first.b} better", "equivalent", "undecided"),
    ):
        table.add_column(name, justify="right")
    for number, one in enumerate(found):
        if number and one.n_items != found[number - 1].n_items:
            table.add_section()
        table.add_row(
            str(one.judgments),
            one.rule,
            f"{one.error:.4f}",
            "" if one.relative_judgments is None else f"{one.relative_judgments:.2f}",
            f"{one.half_width:.4f}",
            f"{one.coverage:.1%}",
            *(f"{part:.0%}" for part in (one.better_a, one.better_b)),
            *(f"{part:.0%}" for part in (one.equivalent, one.undecided)),
        )
    how = (
        f"{first.runs} replays about the difference of the whole campaign, {first.difference:+.4f}, on a pool "
        f"of {first.pool_size} items, {first.identical_items} of them with identical outputs; coverage of "
        f"{level:.0%} intervals; plain means are of independent items, and need 1 judgment for equal error"
    )
    told = [
        f"ledger, {one.judgments} judgments: {ledger_in_words(one.ledger, 'this difference')}"
        for one in found
        if one.ledger is not None
    ]
    return [table, how, *told[-1:]]


def rule_tables(found: list[Replay], half_width: float, level: float) -> list[RenderableType]:
    """Return what each rule came to."""
    table = Table(
        title=f"Judgments until the half-width is {half_width:g}, prompt {found[0].prompt}",
        title_justify="left",
    )
    for name in ("system", "rule", "metric"):
        table.add_column(name)
    for name in ("judgments", "longest tenth", "reached", "half-width", "error", "coverage"):
        table.add_column(name, justify="right")
    for number, one in enumerate(found):
        if number and one.system != found[number - 1].system:
            table.add_section()
        table.add_row(
            one.system,
            one.rule
            + (f", {one.strata} strata" if one.strata > 1 else "")
            + (f", by {one.size}" if one.size else ""),
            ", ".join(one.metrics) or "none",
            f"{one.judgments:.0f} of {one.pool_size}",
            f"{one.most_judgments:.0f}",
            f"{one.reached:.0%}",
            f"{one.half_width:.4f}",
            f"{one.error:.4f}",
            f"{one.coverage:.1%}",
        )
    how = (
        f"{found[0].runs} replays; coverage of {level:.0%} intervals, for sequences at all looks; "
        "error is the root mean square: of a plan about the mean human score, of a sequence about "
        "the judgments drawn"
    )
    return [table, how]
