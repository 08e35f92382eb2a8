"""The rows to score, in batches: what is done at a time, and kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.metrics import score
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.rules import references, text, text_list
from steelyard.tables.tables import ROW, Table, shown
from steelyard.version import __version__

__all__ = ["TextBatch", "Texts", "scored"]

# A batch of long texts has fewer rows, so that it stays in memory.
_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Some neighbouring rows.

    Attributes
    ----------
    index : int
        Its place among the batches, from 0.
    outputs : list of (str or None)
        Texts; None in rows that cannot be scored.
    references : list of lists of str
        What each is compared with.
    """

    index: int
    outputs: list[str | None]
    references: list[list[str]]


class Texts:
    """Outputs and references of a file.

    Parameters
    ----------
    path : Path
        The file.
    columns : mapping
        The names that ``output`` and ``reference`` have in it.
    metrics : sequence of str
        What they are needed for.

    Raises
    ------
    InvalidDataError
        If the file cannot be read or lacks a column.
    """

    def __init__(self, path: Path, columns: Mapping[str, str], metrics: Sequence[str]) -> None:
        self.columns = columns
        self.table = self.opened(path)
        for name, why in (("output", "the texts to score"), ("reference", _needed(metrics))):
            self._require(name, why)
        # Only a sheet and CSV may mean the empty text by an empty cell.
        self._output = text(self.table, "output", required=self.table.has_blank_cells).value
        cell = pl.col("reference")
        if isinstance(self.table.schema["reference"], pl.List | pl.Array):
            self._reference = references(self.table, "reference").value
            is_empty = self._reference.list.len() == 0
        else:
            self._reference = text(self.table, "reference", required=False).value
            is_empty = cell.is_null() | self._reference.str.contains(r"^\[\s*\]$")
        self._is_bad = self._output.is_null() | is_empty

    def opened(self, path: Path) -> Table:
        """Open a file with these columns."""
        return open_table(path, label="outputs", contract=OUTPUT_COLUMNS, columns=self.columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.table.collect(self.table.rows.select(pl.len())).item())

    def bad_rows(self) -> tuple[int, str | None]:
        """Return how many rows cannot be scored, and what is wrong with the first of them."""
        bad = self.table.collect(
            self.table.rows.select(ROW, "output", "reference").filter(self._is_bad).select(ROW)
        )[ROW]
        if bad.is_empty():
            return 0, None
        row = self.table.collect(
            self.table.rows.filter(pl.col(ROW) == bad[0]).select("output", "reference")
        )
        is_output = not self.table.has_blank_cells and row["output"][0] is None
        name = "output" if is_output else "reference"
        expected = "text" if is_output else "a text or a list of texts to compare with"
        place = f"{self.place(bad[0])}, column {self.table.column(name)}"
        return len(bad), f"{place}: expected {expected}, got {shown(row[name].to_list()[0])}"

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.table.name}, {self.table.where(row)[0]}"

    def batches(self, most_rows: int) -> Iterator[TextBatch]:
        """Cut the rows into batches, always in the same places."""
        query = self.table.rows.select(
            pl.when(~self._is_bad).then(self._output).alias("output"), self._reference
        )
        is_text = self.table.format is not None and self.table.format.kind != "parquet"
        index = size = 0
        outputs: list[str | None] = []
        others: list[list[str]] = []
        for part in self.table.batches(query):
            for output, cell in zip(
                part["output"].to_list(), part["reference"].to_list(), strict=True
            ):
                several = cell if isinstance(cell, list) else _listed(cell, is_text=is_text)
                outputs.append(output)
                others.append(several)
                size += len(output or "") + sum(map(len, several))
                if len(outputs) == most_rows or size >= _CHARACTERS:
                    yield TextBatch(index, outputs, others)
                    index, size = index + 1, 0
                    outputs, others = [], []
        if outputs:
            yield TextBatch(index, outputs, others)

    def _require(self, name: str, why: str) -> None:
        if name not in self.table.schema:
            theirs = self.columns.get(name, name)
            there = ", ".join(f"`{self.table.column(one)}`" for one in self.table.schema)
            raise InvalidDataError(
                f"{self.table.name}: no column `{theirs}`, {why}; the columns are {there}: say which one "
                f"it is with --column {name}=YOUR_COLUMN"
            )


def scored(metrics: Sequence[str], version: str, batch: TextBatch) -> tuple[int, dict[str, Floats]]:
    """Score a batch, in whichever process.

    Returns
    -------
    index : int
        That of the batch.
    columns : dict of str to array of float
        A value for each row; NaN in rows that cannot be scored.

    Raises
    ------
    InvalidArgumentError
        If this process runs another version of the package than the one that asked.
    """
    if version != __version__:
        raise InvalidArgumentError(
            f"`--cluster`: a worker runs steelyard {__version__}, and this is {version}: install the "
            "same version everywhere"
        )
    good = [row for row, output in enumerate(batch.outputs) if output is not None]
    texts: list[Any] = [batch.outputs[row] for row in good]
    values = score(texts, [batch.references[row] for row in good], metrics=metrics)
    columns = {}
    for name, known in values.items():
        columns[name] = np.full(len(batch.outputs), np.nan)
        columns[name][good] = np.where(np.isfinite(known), known, np.nan)
    return batch.index, columns


def _listed(cell: str | None, *, is_text: bool) -> list[str]:
    """Return the texts of a cell; in a text file it may hold a list as JSON."""
    return text_list(cell) if is_text or cell is None else [cell]


def _needed(metrics: Sequence[str]) -> str:
    return f"which {' and '.join(metrics)} compare{'s' * (len(metrics) == 1)} with"
