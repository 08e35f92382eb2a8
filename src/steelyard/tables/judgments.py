"""Judgments: who scored which output under which prompt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.names import known_names
from steelyard.records import Judgment, optional_columns, required_columns
from steelyard.tables.tables import ROW, Table

__all__ = ["JUDGMENT_COLUMNS", "Judgments"]

JUDGMENT_COLUMNS = (*required_columns(Judgment), *optional_columns(Judgment))


@dataclass(frozen=True, eq=False)
class Judgments:
    """Checked judgments in memory, each of which still knows its line.

    Made by `read_judgments`.

    Attributes
    ----------
    name : str
        The file they come from, or ``judgments``.
    notes : tuple of str
        What was taken for granted or left out while they were read.
    lower_is_better : frozenset of str
        Prompts whose lower scores are better.
    """

    name: str
    _rows: pl.DataFrame = field(repr=False)
    _table: Table = field(repr=False)
    notes: tuple[str, ...] = ()
    lower_is_better: frozenset[str] = frozenset()

    @classmethod
    def none(cls) -> "Judgments":
        """Return no judgments at all, as there are before a campaign.

        Examples
        --------
        >>> len(Judgments.none())
        0
        """
        texts = dict.fromkeys(Judgment.key, pl.String)
        rows = pl.DataFrame(schema={ROW: pl.UInt32, **texts, "score": pl.Float64})
        schema = rows.drop(ROW).schema
        return cls("judgments", rows, Table("judgments", rows.lazy(), schema, "judgments"))

    def __len__(self) -> int:
        return self._rows.height

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All columns: item, system, rater, prompt as text, score as float, and the others."""
        return self._rows.drop(ROW)

    @property
    def systems(self) -> tuple[str, ...]:
        """Judged systems, in order of first appearance; those that another was preferred to come last."""
        others = self._rows["other_system"] if "other_system" in self._rows.columns else ()
        return tuple(dict.fromkeys([*self._distinct("system"), *filter(None, others)]))

    @property
    def preference_prompts(self) -> tuple[str, ...]:
        """Prompts that ask which of two outputs is better, in order of first appearance."""
        if "other_system" not in self._rows.columns:
            return ()
        asked = self._rows.filter(pl.col("other_system").is_not_null())["prompt"]
        return tuple(asked.unique(maintain_order=True))

    @property
    def prompts(self) -> tuple[str, ...]:
        """Prompts, in order of first appearance."""
        return self._distinct("prompt")

    @property
    def raters(self) -> tuple[str, ...]:
        """Raters, in order of first appearance."""
        return self._distinct("rater")

    @property
    def left_out(self) -> tuple[str, ...]:
        """Systems that were there and left out, as asked."""
        return self._table.left_out

    @property
    def mapped(self) -> Mapping[str, str]:
        """The name in the file of each column that got another name."""
        return self._table.mapped

    def directed(self, lower_is_better: Iterable[str]) -> "Judgments":
        """Return the judgments with the prompts whose lower scores are better.

        Raises
        ------
        InvalidArgumentError
            If such a prompt has no judgments, or asks which of two outputs is better.
        """
        lower = frozenset(lower_is_better)
        for prompt in sorted(lower):
            if prompt not in self.prompts:
                raise InvalidArgumentError(
                    f"`lower_is_better` (--lower-is-better) names {prompt!r}, which has no judgments; "
                    f"{known_names(prompt, self.prompts)}"
                )
            if prompt in self.preference_prompts:
                raise InvalidArgumentError(
                    f"`lower_is_better` (--lower-is-better) names {prompt!r}, which asks for preferences: "
                    "they have no scores that could be lower"
                )
        return replace(self, lower_is_better=lower)

    def filter(self, predicate: pl.Expr) -> "Judgments":
        """Return the judgments for which `predicate` is true; they keep their lines.

        Examples
        --------
        >>> from steelyard.tables import read_judgments
        >>> frame = pl.DataFrame(
        ...     {"item": [1, 2], "system": "a", "rater": "r", "prompt": ["p", "q"], "score": 1}
        ... )
        >>> len(read_judgments(frame).filter(pl.col("prompt") == "p"))
        1
        """
        return replace(self, _rows=self._rows.filter(predicate))

    def derived(self, frame: pl.DataFrame) -> "Judgments":
        """Return judgments that were made of these; each keeps the line of one of them.

        Parameters
        ----------
        frame : polars.DataFrame
            The columns of `frame`, perhaps more, and ``#position``: the row of it whose line each keeps.
        """
        lines = self._rows[ROW].gather(frame["#position"])
        rows = frame.drop("#position").with_columns(lines.alias(ROW))
        rows = rows.select(*self._rows.columns, pl.exclude(self._rows.columns))
        return replace(self, _rows=rows, notes=())

    def place(self, position: int) -> str:
        """Say where the judgment in this row of `frame` (from 0) stands: ``pilot.csv, line 7``."""
        return f"{self.name}, {self._table.where(self._rows[ROW][position])[0]}"

    def _distinct(self, column: str) -> tuple[str, ...]:
        return tuple(self._rows[column].unique(maintain_order=True))
