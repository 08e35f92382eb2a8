"""A unit: what is put before a rater once, and the outputs for which it stands."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

__all__ = ["Target", "Unit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An output of the draw: what a judgment of its unit counts for.

    Attributes
    ----------
    item, system : str
        Which output.
    side : int
        In a pair, 1 for the system whose output is `first` in the content and 2 for the other's;
        on a screen, the number of its text; 1 otherwise.
    cluster : str or None
        The document that it is a segment of.
    probability, stratum, stratum_size, share, draw, design, seed, signature, place
        What the draw recorded, as in `steelyard.sampling.sample.Sample`.
    """

    item: str
    system: str
    side: int = 1
    cluster: str | None = None
    probability: float | None = None
    stratum: str | None = None
    stratum_size: int | None = None
    share: float | None = None
    draw: int
    design: str | None = None
    seed: int | None = None
    signature: str | None = None
    place: float | None = None


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What is put before a rater once.

    Attributes
    ----------
    item : str
        The item.
    content : mapping
        All that reaches the page; in a pair, with `first` and `second`; of a screen, with the texts under
        letters.
    wanted : int
        Judgments wanted, each by another rater; 0 for gold.
    targets : tuple of Target
        The outputs it stands for; none for gold.
    pair : bool
        Whether `first` and `second` change places at random before raters.
    gold : mapping or None
        Accepted answers by widget, if they are known.
    document : str or None
        Equal for the segments that one rater gets in order; None for a unit that stands alone.
    place : int or None
        The place of a segment in it, from 1.
    """

    item: str
    content: Mapping[str, Any]
    wanted: int
    targets: tuple[Target, ...] = ()
    pair: bool = False
    gold: Mapping[str, Any] | None = None
    document: str | None = None
    place: int | None = None

    @cached_property
    def digest(self) -> str:
        """Equal for units of the same item and content.

        Examples
        --------
        >>> one = Unit(item="7", content={"output": "Yes."}, wanted=1)
        >>> two = Unit(item="7", content={"output": "Yes."}, wanted=1)
        >>> one.digest == two.digest
        True
        """
        kind = "gold" if self.gold is not None else "pair" if self.pair else "single"
        facts: list[Any] = [kind, self.item, self.content]
        if self.document is not None:
            facts += [self.document, self.place]
        parts = json.dumps(facts, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(parts.encode()).hexdigest()

    def standing_for(self, *targets: Target) -> "Unit":
        """Return the unit, standing for further outputs."""
        return replace(self, targets=(*self.targets, *targets))
