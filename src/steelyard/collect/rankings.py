"""Rankings: the items that can be ranked, and what an order says about each pair of systems."""

from collections.abc import Sequence

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.tables import Outputs, read_outputs

__all__ = ["as_preferences", "is_only_ranked", "rankable", "ranked_prompts", "ranking_pool"]


def ranked_prompts(campaign: Campaign) -> tuple[str, ...]:
    """Return the prompts whose scores are places in an order."""
    return tuple(score.prompt for score in campaign.task.scores if score.rule == "rank")


def is_only_ranked(campaign: Campaign) -> bool:
    """Whether outputs are put in order and nothing else is asked that makes a judgment."""
    return len(ranked_prompts(campaign)) == len(campaign.task.scores)


def rankable(
    campaign: Campaign, outputs: Outputs, *, systems: Sequence[str] | None = None
) -> Outputs:
    """Return the outputs of the judged systems for items on which these did not all write the same.

    On the others there is nothing to put in order, and all of them tie without a judgment.

    Raises
    ------
    InvalidDataError
        At the key `sample`, if there is no such item.
    """
    rows = outputs.rows(columns=["item", "system", "output", *outputs.metrics])
    if systems is not None:
        rows = rows.filter(pl.col("system").is_in(list(systems)))
    rows = rows.filter(pl.col("output").n_unique().over("item") > 1)
    if rows.is_empty():
        raise campaign.error(
            ("sample",), "has nothing to rank: the systems wrote the same for every item"
        )
    return read_outputs(rows, metrics=list(outputs.metrics))


def ranking_pool(campaign: Campaign, outputs: Outputs, *, systems: Sequence[str]) -> Outputs:
    r"""Return what can be ranked, with metrics as differences from the mean of the other systems.

    The score of an output is its place among those beside it, so what may explain it is
    :math:`g_{own} - \bar g_{others}`.
    """
    rows = rankable(campaign, outputs, systems=systems).rows(
        columns=["item", "system", "output", *outputs.metrics]
    )
    others = pl.len().over("item") - 1
    changed = [
        (pl.col(name) - (pl.col(name).sum().over("item") - pl.col(name)) / others).alias(name)
        for name in outputs.metrics
    ]
    return read_outputs(rows.with_columns(changed), metrics=list(outputs.metrics))


def as_preferences(rows: pl.DataFrame, prompts: Sequence[str]) -> pl.DataFrame:
    """Return judgments in which each order stands as what it says about every two systems.

    Parameters
    ----------
    rows : polars.DataFrame
        Judgments, of which those under `prompts` have the score that a system's place gives it: a higher
        one stands before a lower one.
    prompts : sequence of str
        Prompts that ask for an order.

    Returns
    -------
    polars.DataFrame
        The other rows as they are, and two for every two systems of an order, one for either: the score is 1
        if the row's system stands before `other_system`, 0 if behind it, 1/2 at the same place. Of systems
        with the same text, which raters saw once, there is none.
    """
    is_ranked = pl.col("prompt").is_in(list(prompts))
    same = ["submission", "prompt"]
    ranked = rows.filter(is_ranked).drop("other_system", "first_system")
    others = ranked.select(
        *same,
        pl.col("system").alias("other_system"),
        pl.col("score").alias("theirs"),
        pl.col("position").alias("their_position"),
    )
    own, theirs = pl.col("score"), pl.col("theirs")
    earlier = pl.col("position") < pl.col("their_position")
    pairs = (
        ranked.join(others, on=same, maintain_order="left_right")
        .filter(pl.col("position") != pl.col("their_position"))
        .with_columns(
            score=pl.when(own > theirs).then(1.0).when(own < theirs).then(0.0).otherwise(0.5),
            first_system=pl.when(earlier).then("system").otherwise("other_system"),
        )
    )
    return pl.concat([rows.filter(~is_ranked), pairs.select(rows.columns)]).sort(
        "submission", maintain_order=True
    )
