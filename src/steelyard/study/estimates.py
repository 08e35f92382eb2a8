"""The estimates of a study, with what was left out of them."""

from collections.abc import Iterable

from steelyard.estimate import Estimate

__all__ = ["Estimates"]


class Estimates(list[Estimate]):
    """A list of estimates, one for each prompt and system.

    Attributes
    ----------
    left_out : dict
        Why there is no estimate, by prompt and system.
    """

    def __init__(
        self, found: Iterable[Estimate], left_out: dict[tuple[str, str], str] | None = None
    ) -> None:
        super().__init__(found)
        self.left_out = left_out or {}

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each system that was left out."""
        return tuple(
            f"{system}, {prompt}: left out: {reason}"
            for (prompt, system), reason in self.left_out.items()
        )
