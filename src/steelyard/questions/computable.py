"""What can be computed from outputs and judgments, and what must be said of how they fit together."""

import polars as pl

from steelyard.campaign.coverage import coverage_notes
from steelyard.campaign.draws import is_designed
from steelyard.campaign.source import Source
from steelyard.campaign.texts import is_text
from steelyard.records import Output
from steelyard.tables import Judgments, Outputs
from steelyard.tables.problems import FileProblem, near_equal_names

__all__ = ["absent_outputs", "chosen_outputs", "computable", "is_about_pairs", "no_texts"]


def absent_outputs(outputs: Outputs, judgments: Judgments) -> list[FileProblem]:
    """Return what does not fit: judged outputs that are not in the pool, nearly equal systems."""
    pool = outputs.rows(columns=list(Output.key))
    keys = judgments.frame.select(Output.key).unique(maintain_order=True)
    absent = keys.join(pool, on=Output.key, how="anti", maintain_order="left")
    if not absent.height:
        return []
    item, system = absent.row(0)
    problem = FileProblem(
        f"judged outputs that are not in {outputs.name}",
        absent.height,
        keys.height,
        (f"item {item!r} of system {system!r}; an item there is {pool['item'][0]!r}",),
        way_out="add them to the outputs, or make items and systems agree",
        stops=True,
    )
    return [problem, *near_equal_names("system", [*outputs.systems, *judgments.systems])]


def no_texts(outputs: Outputs) -> list[FileProblem]:
    """Return how many outputs are no texts: blank, placeholders, or the name of their item."""
    if not outputs.has_texts:
        return []
    rows = outputs.rows(columns=["item", "system", "output"])
    none = rows.filter(~is_text(rows))
    if none.is_empty():
        return []
    item, system, output = none.row(0)
    return [
        FileProblem(
            "outputs that are no text (blank, a placeholder on many items, or the item's name)",
            none.height,
            rows.height,
            (f"item {item}, system {system}: {output[:30]!r}",),
            way_out="each counts as unlike any other",
        )
    ]


def is_about_pairs(judgments: Judgments) -> bool:
    """Whether every prompt asks which of two outputs is better."""
    return {*judgments.prompts} <= {*judgments.preference_prompts}


def chosen_outputs(outputs: Outputs, judgments: Judgments) -> list[FileProblem]:
    """Return what must be said of the outputs that were judged: by whom, and how they were chosen."""
    if is_about_pairs(judgments):
        return []
    source = Source(outputs, judgments, outputs.metrics)
    notes = [
        f"{system}, {prompt}: {note}"
        for (prompt, system), own in source.warnings.items()
        for note in own
    ]
    notes += [
        f"{prompt}: {note}" for prompt, own in coverage_notes(judgments).items() for note in own
    ]
    if not is_designed(judgments):
        notes += source.drawn_whole
    return [FileProblem(note, 0, 0) for note in notes]


def computable(outputs: Outputs, judgments: Judgments) -> list[str]:
    """Return what can be computed now, a sentence each."""
    preferred = judgments.preference_prompts
    asked = [f"compare: wins, ties and losses under {', '.join(preferred)}"] if preferred else []
    if is_about_pairs(judgments):
        return asked
    metrics = outputs.metrics
    used = "the plain mean, because there are no metrics"
    if metrics:
        used = f"corrected by {metrics[0] if len(metrics) == 1 else f'{len(metrics)} metrics'}"
    found = [*asked, f"estimate: the mean human score of each system, {used}"]
    if len(judgments.systems) > 1:
        found.append("compare: which system is better")
    key = [*Output.key, "prompt"]
    if judgments.frame.select(pl.struct(key).is_duplicated().any()).item():
        found.append("diagnose: what raters and metrics contribute; plan: how many more judgments")
    else:
        found.append(
            "diagnose: not yet, because no output has two judgments: rater noise is unknown"
        )
    if outputs.has_texts and not metrics:
        found.append(
            "score, judge: automatic metrics and LLM scores, which make intervals narrower"
        )
    unjudged = [name for name in outputs.systems if name not in judgments.systems]
    if unjudged:
        found.append(f"nothing for systems without judgments: {', '.join(unjudged)}")
    return found
