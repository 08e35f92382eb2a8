"""Screens: the outputs of all systems for an item, to be judged side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.collect.rankings import is_only_ranked
from steelyard.collect.sampling.contents import Content, Contents
from steelyard.collect.sampling.unit import Target
from steelyard.collect.tasks.screen import LETTERS

__all__ = ["screens"]


def screens(
    contents: Contents, targets: Sequence[Target]
) -> Iterator[tuple[Content, tuple[Target, ...]]]:
    """Yield the outputs of all systems for each item, and what they stand for.

    Parameters
    ----------
    contents : Contents
        Of the campaign.
    targets : sequence of Target
        The draw.

    Raises
    ------
    InvalidDataError
        If there are too many systems for a screen, or an item lacks one of them.
    """
    campaign = contents.campaign
    systems = sorted({target.system for target in targets})
    if not 2 <= len(systems) <= len(LETTERS):
        raise campaign.error(
            ("sample",),
            f"must hold 2 to {len(LETTERS)} systems, because the task {campaign.task.name} shows them side "
            f"by side; it holds {len(systems)}: name those to show in `systems`, or leave `side_by_side` "
            "out of the task",
        )
    items: dict[str, dict[str, Target]] = {}
    for target in targets:
        items.setdefault(target.item, {})[target.system] = target
    for item, drawn in items.items():
        lacking = [system for system in systems if system not in drawn]
        if lacking:
            raise campaign.error(
                ("sample",),
                f"lacks item {item!r} of system {lacking[0]!r}, and the task {campaign.task.name} shows "
                "systems side by side: draw the same items of all (`steelyard sample --same-items`)",
            )
        content, numbers = contents.screen(item, systems)
        if is_only_ranked(campaign) and len(set(numbers)) == 1:
            raise campaign.error(
                ("sample",),
                f"holds item {item!r}, for which all systems wrote the same, and the task {campaign.task.name} "
                "asks for an order: leave such items out of the sample",
            )
        yield (
            content,
            tuple(
                replace(drawn[system], side=number)
                for system, number in zip(systems, numbers, strict=True)
            ),
        )
