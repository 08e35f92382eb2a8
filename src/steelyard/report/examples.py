"""Outputs on which the metric and people agree, and outputs on which they do not, with texts."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from steelyard.markdown import is_markdown, markdown_tree, tree_html
from steelyard.numbers import count, number
from steelyard.report.findings import PromptFindings
from steelyard.study import Study

__all__ = ["Example", "ExampleGroup", "examples"]

# Of each kind; a reader wants to see, not to count.
_EACH = 2
# Standard deviations from the mean below which nothing is high or low.
_CLEAR = 0.25
# Characters of a text that are shown.
_SHOWN = 600
_KEY = ["item", "system"]
_KINDS = (
    ("Both high", 1, 1),
    ("Both low", -1, -1),
    ("People high, metric low", 1, -1),
    ("People low, metric high", -1, 1),
)


@dataclass(frozen=True)
class Example:
    """One judged output.

    Attributes
    ----------
    system, item : str
        Whose output for what.
    judged, metric : str
        Its mean judgment, with how many, and its metric.
    text : str
        The output, of a long one the beginning.
    rest : int
        Characters that are not shown.
    input : str or None
        The input, where it is known.
    """

    system: str
    item: str
    judged: str
    metric: str
    text: str
    rest: int
    input: str | None

    @property
    def text_html(self) -> str:
        """The text as a page shows it: laid out if it looks like markdown, as raters see it."""
        return _html(self.text)

    @property
    def input_html(self) -> str:
        """The input in the same way; empty where it is not known."""
        return _html(self.input or "")


@dataclass(frozen=True)
class ExampleGroup:
    """Outputs of one kind: both high, both low, or one against the other."""

    title: str
    examples: tuple[Example, ...]


def examples(study: Study, findings: PromptFindings) -> list[ExampleGroup]:
    """Return the clearest cases of agreement and of disagreement with the most useful metric.

    High and low are meant within a system and in standard deviations. A case counts by the weaker of
    its two sides. A metric that falls when judgments rise is turned around.

    Parameters
    ----------
    study : Study
        The campaign.
    findings : PromptFindings
        What was found under the prompt.

    Returns
    -------
    list of ExampleGroup
        Kinds without a case are left out; nothing where texts are not known or there is no metric.
    """
    metric = findings.metric
    if metric is None or not study.outputs.has_texts:
        return []
    judged = _standardised(_judged(study, metric), metric, findings)
    if judged.is_empty():
        return []
    chosen = [
        (title, judged.filter(side > _CLEAR).top_k(_EACH, by=side).sort(side, descending=True))
        for title, side in ((title, _weaker(people, sign)) for title, people, sign in _KINDS)
    ]
    texts = _texts(study, pl.concat([rows for _, rows in chosen]))
    return [
        ExampleGroup(title, tuple(_examples(rows, texts)))
        for title, rows in chosen
        if not rows.is_empty()
    ]


def _judged(study: Study, metric: str) -> pl.DataFrame:
    """Return all judgments, each with a metric of its output, which may be missing."""
    known = study.outputs.rows_of(study.judgments, columns=[metric])
    rows = study.judgments.frame.select(*_KEY, "prompt", "score")
    return rows.join(known.select(*_KEY, metric), on=_KEY, how="left", maintain_order="left")


def _standardised(rows: pl.DataFrame, metric: str, findings: PromptFindings) -> pl.DataFrame:
    """Return each judged output with score and metric as distances from its system's means."""
    systems = [one.system for one in findings.systems]
    each = (
        rows.filter((pl.col("prompt") == findings.prompt) & pl.col("system").is_in(systems))
        .filter(pl.col(metric).is_finite())
        .group_by(_KEY, maintain_order=True)
        .agg(score=pl.col("score").mean(), n=pl.len(), metric=pl.col(metric).first())
        .with_columns(
            people=pl.col("score") - pl.col("score").mean().over("system"),
            machine=pl.col("metric") - pl.col("metric").mean().over("system"),
        )
    )
    spread = each.select(pl.col("people", "machine").std())
    if each.height < 2 or not all(value and value > 1e-12 for value in spread.row(0)):
        return each.clear()
    same = each.select((pl.col("people") * pl.col("machine")).sum()).item() >= 0
    return each.with_columns(
        people=pl.col("people") / spread["people"][0],
        machine=pl.col("machine") / spread["machine"][0] * (1 if same else -1),
    )


def _weaker(people: int, machine: int) -> pl.Expr:
    """Return the smaller of the two distances, in the directions that are asked for."""
    return pl.min_horizontal(people * pl.col("people"), machine * pl.col("machine"))


def _texts(study: Study, rows: pl.DataFrame) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Return output and input of these outputs alone: a pool may be large."""
    keys = pl.struct(_KEY).is_in(rows.select(pl.struct(_KEY)).to_series().implode())
    judgments = study.judgments.filter(keys)
    columns = [name for name in ("output", "input") if name in study.outputs.columns]
    found = study.outputs.rows_of(judgments, columns=columns)
    return {
        (row["item"], row["system"]): (str(row["output"]), _known(row.get("input")))
        for row in found.to_dicts()
    }


def _html(text: str) -> str:
    return tree_html(markdown_tree(text) if is_markdown([text]) else [text])


def _known(text: object) -> str | None:
    return None if text is None or not str(text).strip() else _cut(str(text))[0]


def _examples(
    rows: pl.DataFrame, texts: dict[tuple[str, str], tuple[str, str | None]]
) -> Iterator[Example]:
    for row in rows.to_dicts():
        output, given = texts[row["item"], row["system"]]
        text, rest = _cut(output)
        yield Example(
            system=row["system"],
            item=str(row["item"]),
            judged=f"{number(row['score'])} in {count(row['n'], 'judgment')}",
            metric=f"{row['metric']:.3g}".replace("-", "\N{MINUS SIGN}"),
            text=text,
            rest=rest,
            input=given,
        )


def _cut(text: str) -> tuple[str, int]:
    """Return the beginning of a long text, up to a space, and how much is left out."""
    if len(text) <= _SHOWN:
        return text, 0
    head = text[:_SHOWN].rsplit(None, 1)[0] or text[:_SHOWN]
    return f"{head} …", len(text) - len(head)
