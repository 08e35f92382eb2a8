"""What a process may remember between a rater's requests, because it cannot change."""

from collections import OrderedDict

from steelyard.collect.store.given import Given

__all__ = ["Memory"]

_ASSIGNMENTS = 4_096


class Memory:
    """The last assignments given out.

    What one shows and to whom stays true for good, so that several processes may remember it
    apart; what is forgotten is looked up again.
    """

    def __init__(self) -> None:
        self._given: OrderedDict[str, Given] = OrderedDict()

    def keep(self, assignment: str, given: Given) -> None:
        """Remember what an assignment shows."""
        self._given[assignment] = given
        self._given.move_to_end(assignment)
        if len(self._given) > _ASSIGNMENTS:
            self._given.popitem(last=False)

    def given(self, assignment: str) -> Given | None:
        """Return what an assignment shows, if it is remembered."""
        return self._given.get(assignment)
