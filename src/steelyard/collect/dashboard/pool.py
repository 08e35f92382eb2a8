"""The pool that the live estimates speak about, read once and kept in memory."""

from dataclasses import dataclass

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.config.parts import Sample
from steelyard.collect.dashboard.preference_pool import preference_pool
from steelyard.collect.rankings import is_only_ranked, ranked_prompts, ranking_pool
from steelyard.tables import Outputs, read_outputs

__all__ = ["LivePool", "read_pool"]


@dataclass(frozen=True, eq=False)
class LivePool:
    """What was drawn from.

    Attributes
    ----------
    outputs : Outputs
        The outputs with their metrics; for pairs, of the items on which the two systems differ,
        with differences of metrics, and for orders, where nothing else is asked, likewise.
    systems : tuple of str
        The systems that are judged.
    ranked : Outputs or None
        Where outputs are put in order: all of them, as `steelyard compare` reads them.
    """

    outputs: Outputs
    systems: tuple[str, ...]
    ranked: Outputs | None = None


def read_pool(campaign: Campaign) -> LivePool:
    """Return the pool of a campaign.

    Raises
    ------
    InvalidDataError
        If the outputs cannot be read, or lack a metric.
    """
    outputs = read_outputs(campaign.outputs, metrics=list(campaign.metrics))
    systems = _systems(campaign, outputs)
    if campaign.task.pair:
        first, second = systems
        pool = preference_pool(outputs, (first, second), differing=_is_of_differing(campaign))
        return LivePool(pool, systems)
    rows = outputs.rows(columns=["item", "system", "output", *campaign.metrics])
    kept = read_outputs(rows, metrics=list(campaign.metrics))
    if is_only_ranked(campaign):
        return LivePool(ranking_pool(campaign, kept, systems=systems), systems, kept)
    return LivePool(kept, systems, kept if ranked_prompts(campaign) else None)


def _systems(campaign: Campaign, outputs: Outputs) -> tuple[str, ...]:
    if isinstance(campaign.sample, Sample):
        return campaign.sample.systems or outputs.systems
    drawn = read_outputs(campaign.sample, metrics=[]).systems
    return tuple(system for system in outputs.systems if system in drawn)


def _is_of_differing(campaign: Campaign) -> bool:
    """Whether only items on which two systems differ were drawn from."""
    if isinstance(campaign.sample, Sample):
        return True
    drawn = read_outputs(campaign.sample, metrics=[])
    return "design" in drawn.columns and "paired" in drawn.rows(columns=["design"])["design"]
