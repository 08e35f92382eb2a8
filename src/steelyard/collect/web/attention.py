"""Attention checks: gold items that say what was missed, once the answer is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.tasks import GoldItem, Task, grade_gold, read_gold
from steelyard.collect.tasks.gold import unordered

__all__ = ["AttentionChecks"]


@dataclass(frozen=True)
class AttentionChecks:
    """The gold items of a campaign that have feedback.

    Attributes
    ----------
    task : Task
        What is asked.
    items : mapping of str to GoldItem
        By their content: that is all a submission is known by before it is stored.
    """

    task: Task
    items: Mapping[str, GoldItem] = field(default_factory=dict)

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """Return the checks of a campaign."""
        gold = [] if campaign.gold is None else read_gold(campaign.gold.file, campaign.task)
        return cls(campaign.task, {unordered(one.content): one for one in gold if one.feedback})

    def feedback(self, content: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
        """Return what a rater who answered wrongly is told; None if there is nothing to tell."""
        found = self.items.get(unordered(content)) if self.items else None
        if found is None or grade_gold(self.task, content, found.accepted, answer):
            return None
        return found.feedback
