"""What a process may remember between a rater's requests, because it cannot change."""

from collections import OrderedDict

from steelyard.collect.store.shown import ShownContent

__all__ = ["Memory"]

_ASSIGNMENTS = 4_096


class Memory:
    """The last assignments given out.

    What one shows and to whom stays true for good, so that several processes may remember it
    apart; what is forgotten is looked up again.
    """

    def __init__(self) -> None:
        self._contents: OrderedDict[str, ShownContent] = OrderedDict()

    def keep(self, assignment: str, content: ShownContent) -> None:
        """Remember what an assignment shows."""
        self._contents[assignment] = content
        self._contents.move_to_end(assignment)
        if len(self._contents) > _ASSIGNMENTS:
            self._contents.popitem(last=False)

    def content(self, assignment: str) -> ShownContent | None:
        """Return what an assignment shows, if it is remembered."""
        return self._contents.get(assignment)
