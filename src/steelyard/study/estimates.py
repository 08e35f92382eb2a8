"""The estimates of a study, with what was left out of them."""

from collections.abc import Iterable, Sequence

import numpy as np

from steelyard.estimate import Estimate

__all__ = ["Estimates", "control_in_words"]

# Metrics that are named; the others are counted.
_NAMED = 5


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


def control_in_words(found: Sequence[Estimate]) -> str | None:
    """Return which metrics carry the control of these estimates; None where none was learned.

    Parameters
    ----------
    found : sequence of Estimate
        Estimates under one prompt, with the same metrics.
    """
    learned = [one for one in found if one.shares and one.metrics]
    if not learned:
        return None
    names = learned[0].metrics
    shares = np.sum([one.shares for one in learned], axis=0)
    if not shares.any():
        which = f"metrics {', '.join(names)}" if len(names) <= _NAMED else f"{len(names)} metrics"
        return f"no use is made of the {which}: judgments do not follow them"
    order = sorted(zip(shares / shares.sum(), names, strict=True), key=lambda pair: -pair[0])
    first = [f"{name} {share:.0%}" for share, name in order[:_NAMED] if share >= 0.005]
    more = f" and {len(names) - len(first)} more" if len(names) > len(first) else ""
    return f"control learned from {', '.join(first)}{more}"
