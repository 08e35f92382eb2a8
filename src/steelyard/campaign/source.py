"""The two tables, and what of them is used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from steelyard.campaign.balance import balance_notes
from steelyard.campaign.coverage import rater_notes
from steelyard.campaign.draw_order import gap_notes
from steelyard.campaign.drawn_groups import drawn_groups
from steelyard.campaign.draws import is_designed, recorded, with_writers
from steelyard.tables import Judgments, Outputs

__all__ = ["Source"]


@dataclass(frozen=True, eq=False)
class Source:
    """The two tables, and what of them is used.

    Attributes
    ----------
    outputs, judgments
        The pool of every system, and all judgments.
    metrics : tuple of str
        Metrics to use.
    sample : polars.DataFrame or None
        The drawn sample, when the judgments do not carry what the draw recorded.
    bounds : (float, float) or None
        Least and greatest possible score.
    whole : Source or None
        Where systems here are slices of systems: the tables that were cut.
    parts : mapping of str to str
        The system that each slice is a part of.
    """

    outputs: Outputs
    judgments: Judgments
    metrics: tuple[str, ...] = ()
    sample: pl.DataFrame | None = None
    bounds: tuple[float, float] | None = None
    whole: "Source | None" = None
    parts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems that were judged, and those whose texts a draw took from others."""
        named = with_writers(recorded(self.judgments, self.sample), self.outputs)
        return tuple(dict.fromkeys([*self.judgments.systems, *named]))

    @cached_property
    def warnings(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """What must be said, by prompt and system, of outputs that were not judged as they were drawn."""
        if self.whole is not None:
            said = self.whole.warnings
            return {
                (prompt, part): notes
                for part, system in self.parts.items()
                for (prompt, one), notes in said.items()
                if one == system
            }
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        unlike = {} if self._designed else balance_notes(self.outputs, self.judgments)
        for notes in (unlike, gap_notes(self.judgments, self.sample)):
            for key, note in notes.items():
                found[key] = (*found.get(key, ()), note)
        return found

    @cached_property
    def coverage(self) -> dict[str, tuple[str, ...]]:
        """What must be said, by prompt, where systems were judged by other raters."""
        return rater_notes(self.judgments) if self.whole is None else self.whole.coverage

    @cached_property
    def drawn_whole(self) -> tuple[str, ...]:
        """What must be said where whole groups of items seem to have been drawn."""
        if self.whole is not None:
            return self.whole.drawn_whole
        if self._designed:
            return ()
        groups = drawn_groups(self.outputs, self.judgments)
        return () if groups is None else (groups.note,)

    @cached_property
    def _designed(self) -> bool:
        return is_designed(self.judgments, self.sample)
