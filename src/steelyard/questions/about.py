"""What an interval is about: which outputs, and which raters."""

from dataclasses import dataclass
from typing import Literal

from steelyard.model.fit import About as View

__all__ = ["About", "Raters", "Target", "View", "view_of"]

Target = Literal["pool", "superpopulation"]
Raters = Literal["random", "fixed"]


@dataclass(frozen=True)
class About:
    """What an interval is about.

    Attributes
    ----------
    outputs, raters : str
        In words: "these 300 outputs" or "new outputs like these"; "raters like these" or "exactly these
        raters".
    """

    outputs: str
    raters: str

    def __str__(self) -> str:
        return f"{self.outputs}, by {self.raters}"

    @classmethod
    def of(
        cls,
        target: Target,
        raters: Raters,
        *,
        pool_size: int | None = None,
        part: str | None = None,
    ) -> "About":
        """Return what an interval is about.

        Parameters
        ----------
        target, raters
            The outputs and raters that are meant.
        pool_size : int, optional
            Number of outputs of the pool.
        part : str, optional
            The slice of the pool that is meant.
        """
        these = "these outputs" if pool_size is None else f"these {pool_size:,} outputs"
        outputs = "new outputs like these" if target == "superpopulation" else these
        who = "exactly these raters" if raters == "fixed" else "raters like these"
        return cls(outputs if part is None else f"{outputs} ({part})", who)


def view_of(target: Target, raters: Raters) -> View:
    """Return the name by which the model knows what an interval is about."""
    if target == "superpopulation":
        return "new outputs"
    return "these raters" if raters == "fixed" else "pool"
