"""Where each prompt, system and metric stands between rater noise and a perfect metric (figure 3)."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from steelyard.paper.release import PaperTask
from steelyard.paper.released_tables import converted
from steelyard.single.efficiency import Efficiency, metric_efficiencies

__all__ = ["SystemStanding", "standings"]


@dataclass(frozen=True)
class SystemStanding:
    """What each metric saves of one system's judgments under a prompt.

    Attributes
    ----------
    system, prompt : str
        Whose judgments; system ``*`` is all of them, within each, and without the references.
    metrics : dict of str to Efficiency
        Each metric alone, the most useful first; components are crossed with raters.
    """

    system: str
    prompt: str
    metrics: dict[str, Efficiency]


def standings(task: PaperTask, *, seed: int, resamples: int = 1000) -> list[SystemStanding]:
    """Return the standing of each system, and of all together, under each prompt."""
    tables, names = converted(task.name, task.lines, task.texts), list(task.metrics)
    outputs = tables.outputs
    rows = tables.judgments.join(outputs, on=["item", "system"], maintain_order="left")
    rows = rows.filter(pl.col("system").is_in(task.systems))
    every = []
    for prompt, system in product(task.prompts, (*task.systems, "*")):
        asked, pool, items = rows.filter(prompt=prompt), None, pl.struct("item", "system")
        if system == "*":
            asked = _distinct(asked)
        else:
            asked, pool = asked.filter(system=system), outputs.filter(system=system)
        each = metric_efficiencies(
            asked["score"].to_numpy(),
            asked.select(names).to_numpy(),
            None if pool is None else pool.select(names).to_numpy(),
            items=asked.select(items.rank("dense")).to_series().to_numpy(),
            raters=asked["rater"].to_numpy(),
            systems=asked["system"].to_numpy() if system == "*" else None,
            resamples=resamples,
            rng=np.random.default_rng(seed),
        )
        best_first = sorted(
            zip(names, each, strict=True), key=lambda pair: -pair[1].data_efficiency.value
        )
        every.append(SystemStanding(system, prompt, dict(best_first)))
    return every


def _distinct(rows: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with each once that is listed under several systems, which gave one answer."""
    if "text_id" not in rows.columns:
        return rows
    number = pl.int_range(pl.len()).over("item", "system", "rater", "score")
    return rows.filter(pl.struct("text_id", "rater", "score", number).is_first_distinct())
