"""What raters see of an output: the fields that a task names, from the file of outputs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.collect.config.campaign import Campaign, check_metrics
from steelyard.collect.tasks.screen import LETTERS, asked_about, field_at
from steelyard.collect.tasks.spans import read_suggestions
from steelyard.collect.tasks.task import check_content
from steelyard.collect.web.media import MediaFolder, media_fields
from steelyard.errors import InvalidDataError
from steelyard.tables import Outputs, read_outputs
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.tables import ROW, Table, quoted

__all__ = ["Content", "Contents"]

Content = dict[str, Any]
_SIDES = ("first", "second")
_KEY = ("item", "system")


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a campaign's outputs.

    Attributes
    ----------
    campaign : Campaign
        The campaign.
    """

    campaign: Campaign

    @cached_property
    def outputs(self) -> Outputs:
        """The pool, which must have the campaign's metrics."""
        found = read_outputs(self.campaign.outputs)
        check_metrics(self.campaign, found.metrics)
        return found

    def single(self, item: str, system: str) -> Content:
        """Return what is shown of one output.

        Raises
        ------
        InvalidDataError
            If there is no such output, or it lacks a field; the message names file, line and
            column.
        """
        row = self._row(item, system)
        content = {name: row[name] for name in self.campaign.task.fields}
        self._check(content, row)
        return content

    def pair(self, item: str, systems: Sequence[str]) -> Content:
        """Return what is shown of two outputs of an item, in the order of `systems`.

        Raises
        ------
        InvalidDataError
            As in `single`, and if another field differs between the two outputs: it would tell
            them apart.
        """
        first, second = (self._row(item, system) for system in systems)
        content: Content = {}
        for name in self.campaign.task.fields:
            if name in _SIDES:
                content[name] = (first, second)[_SIDES.index(name)]["output"]
            else:
                content[name] = self._shared(name, item, systems, "a pair")
        self._check(content, first)
        return content

    def screen(self, item: str, systems: Sequence[str]) -> tuple[Content, tuple[int, ...]]:
        """Return what is shown of the outputs of an item, and which of the texts each system wrote.

        Texts come in the order of `systems`, one that several systems wrote once.

        Returns
        -------
        content : dict
            With the texts in the fields of their letters.
        numbers : tuple of int
            Of the text of each system, from 1.

        Raises
        ------
        InvalidDataError
            As in `pair`.
        """
        fields = [name for name in self.campaign.task.fields if name != "output"]
        content = {name: self._shared(name, item, systems, "a screen") for name in fields}
        written: list[Any] = []
        numbers = []
        for system in systems:
            row = self._row(item, system)
            if row["output"] not in written:
                written.append(row["output"])
                letter = LETTERS[len(written) - 1]
                self._check({**content, field_at(LETTERS[0]): row["output"]}, row)
                content[field_at(letter)] = row["output"]
            numbers.append(written.index(row["output"]) + 1)
        return content, tuple(numbers)

    def _shared(self, name: str, item: str, systems: Sequence[str], what: str) -> Any:
        """Return what all systems have in a field, which would else tell their outputs apart."""
        first, *others = (self._row(item, system) for system in systems)
        for other in others:
            if other[name] != first[name]:
                raise InvalidDataError(
                    f"{self._place(other)}, column {name}: expected what system {systems[0]!r} "
                    f"has for item {item!r}, because {what} shows it once: make them equal, or do "
                    "not show it"
                )
        return first[name]

    def document_rows(self, column: str, order: str | None) -> pl.DataFrame:
        """Return the document of each output (``cluster``) and its place in it, in the order of the file."""
        for key, name in (("column", column), ("order", order)):
            if name is not None and name not in self.outputs.columns:
                raise self.campaign.error(
                    ("documents", key),
                    f"{name!r} is no column of {self.outputs.name}; the columns are "
                    f"{quoted(self.outputs.columns)}",
                )
        keys = self.outputs.rows(columns=list(_KEY))
        raw = self._table.collect(self._table.rows.select(ROW, column, *([order] if order else [])))
        place = pl.col(ROW) if order is None else pl.col(order)
        found = raw.select(
            pl.col(column).cast(pl.String).alias("cluster"),
            place.cast(pl.Float64, strict=False).alias("place"),
        )
        return pl.concat([keys, found], how="horizontal")

    @cached_property
    def _columns(self) -> list[str]:
        fields = ["output" if name in _SIDES else name for name in self.campaign.task.fields]
        names = list(dict.fromkeys(fields))
        for name in names:
            if name not in self.outputs.columns:
                way_out = (
                    ": without suggested errors, leave `suggested` out of the task"
                    if name in self.campaign.task.suggested
                    else ""
                )
                raise InvalidDataError(
                    f"{self.outputs.name}: no column `{name}`, which the task "
                    f"{self.campaign.task.name} shows; the columns are "
                    f"{quoted(self.outputs.columns)}{way_out}"
                )
        return names

    @cached_property
    def _table(self) -> Table:
        return open_table(
            self.campaign.outputs, label="outputs", contract=OUTPUT_COLUMNS, columns=None
        )

    @cached_property
    def _rows(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        known = [name for name in self._columns if name in OUTPUT_COLUMNS]
        others = [name for name in self._columns if name not in OUTPUT_COLUMNS]
        # Both read the same file in its order. Other columns come as they stand there: a text of a
        # CSV file that looks like a number is a text.
        rows = self.outputs.rows(columns=[*_KEY, *(name for name in known if name not in _KEY)])
        raw = self._table.collect(self._table.rows.select(ROW, *others))
        both = pl.concat([rows, raw], how="horizontal")
        return {(row["item"], row["system"]): row for row in both.iter_rows(named=True)}

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The fields that may hold lists."""
        task = self.campaign.task
        return task.lists | task.dialogues | media_fields(task).keys()

    def _row(self, item: str, system: str) -> dict[str, Any]:
        found = self._rows.get((item, system))
        if found is None:
            raise InvalidDataError(
                f"the sample has item {item!r} of system {system!r}, which is not in "
                f"{self.outputs.name}: it must come from the same outputs"
            )
        task, listed = self.campaign.task, self._listed
        row = {name: _listed(value) if name in listed else value for name, value in found.items()}
        row |= {name: read_suggestions(row.get(name)) for name in task.suggested}
        return row | {
            name: [_turn(one) for one in row[name]]
            for name in task.dialogues
            if isinstance(row.get(name), list)
        }

    def check_files(self, content: Mapping[str, Any], place: str) -> None:
        """Raise unless the files of a content are there; `place` says where it stands."""
        problem = self._missing_file(content)
        if problem is not None:
            raise InvalidDataError(f"{place}, {problem}")

    def _missing_file(self, content: Mapping[str, Any]) -> str | None:
        """Say which file of a content is not there; None if all are."""
        task = asked_about(self.campaign.task, content)
        for field, kind in media_fields(task).items():
            if self.media is not None and field in content:
                problem = self.media.problem(content[field], kind)
                if problem is not None:
                    return f"column {_column(field)}: {problem}"
        return None

    @cached_property
    def media(self) -> MediaFolder | None:
        """The files that the task may show."""
        return None if self.campaign.media is None else MediaFolder(self.campaign.media)

    def _check(self, content: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        problem = check_content(asked_about(self.campaign.task, content), content)
        if problem is not None:
            problem = f"column {_column(problem.split('`')[1])}: {problem}"
        else:
            problem = self._missing_file(content)
        # the place is known by counting lines: only of the row that is wrong
        if problem is not None:
            raise InvalidDataError(f"{self._place(row)}, {problem}")

    def _place(self, row: Mapping[str, Any]) -> str:
        return f"{self.outputs.name}, {self._table.where(row[ROW])[0]}"


def _column(field: str) -> str:
    return "output" if field in (*_SIDES, *map(field_at, LETTERS)) else field


def _turn(value: Any) -> Any:
    """Return a turn of a dialogue as text, also one with ``role`` and ``content``."""
    if isinstance(value, dict) and {"role", "content"} <= value.keys():
        return f"{value['role']}: {value['content']}"
    return value


def _listed(value: Any) -> Any:
    """Return a list that a text file says as JSON in a cell; anything else as it is."""
    if not (isinstance(value, str) and value.startswith("[")):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value
