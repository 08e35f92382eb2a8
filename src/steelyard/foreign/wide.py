"""Wide tables: one row per item, and a column for each rater, system or metric."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format, Options
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import is_missing, number
from steelyard.tables.column_names import lookalike
from steelyard.tables.tables import quoted

__all__ = ["FORMAT", "WidePattern"]

_PLACES = ("rater", "system", "prompt", "metric")
_PLACE = re.compile(r"\{(\w+)(?::([^{}]+))?\}")
_PROMPT = "score"
_OURS = ("item", "system", "output", "input", "reference", "cluster", "rater", "prompt")


@dataclass(frozen=True)
class WidePattern:
    """How the name of a column says whose score it holds, such as ``{rater}_{system}``.

    ``{rater:ann|bob}`` takes these names only.
    """

    pattern: str

    def __post_init__(self) -> None:
        places = [found[1] for found in _PLACE.finditer(self.pattern)]
        unknown = [place for place in places if place not in _PLACES]
        if (
            not places
            or unknown
            or len(set(places)) < len(places)
            or {"metric", "rater"} <= {*places}
        ):
            raise InvalidArgumentError(
                f"`--wide` must hold {{rater}}, {{system}} or {{prompt}}, or {{metric}}, each once, "
                f"such as '{{rater}}_{{system}}' or '{{rater:ann|bob}}'; got {self.pattern!r}"
            )

    def match(self, column: str) -> dict[str, str] | None:
        """Return what the name of a column says; None if it says nothing.

        Raises
        ------
        InvalidArgumentError
            If it can be read in two ways.

        Examples
        --------
        >>> WidePattern("{rater}_{system}").match("ann_base")
        {'rater': 'ann', 'system': 'base'}
        """
        shortest, longest = (re.fullmatch(self._regex(rest), column) for rest in (".+?", ".+"))
        if shortest is None or longest is None:
            return None
        if shortest.groupdict() != longest.groupdict():
            one, other = (_said(found.groupdict()) for found in (shortest, longest))
            raise InvalidArgumentError(
                f"`--wide` {self.pattern!r} reads column `{column}` as {one} or as {other}: list the "
                "names, such as {rater:ann|bob}"
            )
        return shortest.groupdict()

    def _regex(self, anything: str) -> str:
        parts, end = [], 0
        for found in _PLACE.finditer(self.pattern):
            names = "|".join(map(re.escape, (found[2] or "").split("|"))) if found[2] else anything
            parts += [re.escape(self.pattern[end : found.start()]), f"(?P<{found[1]}>{names})"]
            end = found.end()
        return "".join(parts) + re.escape(self.pattern[end:])


def _said(names: Mapping[str, str]) -> str:
    return ", ".join(f"{place} {name!r}" for place, name in names.items())


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    options = gathered.options
    if not options.wide:
        raise InvalidArgumentError(
            "`--from wide` needs `--wide` PATTERN, which says what the columns' names mean, such as "
            f"'{{rater}}_{{system}}'; {documents[0].path} is {documents[0].contents}"
        )
    for document in documents:
        rater = document.path.name.rpartition("#")[2].split(".")[0]
        _add(gathered, document, rater)


def _add(gathered: Gathered, document: ToolFile, rater: str) -> None:
    """Add the outputs and judgments of a wide table; `rater` judged where nothing says who."""
    table = _WideTable(gathered.options, document)
    table.check_cells()
    unnamed = False
    for row in document.records:
        for system in table.systems or [gathered.options.value(row, "system", "system")]:
            gathered.output(
                row.get(table.item),
                system,
                table.text(row, system),
                input=gathered.options.value(row, "input", "input"),
                reference=gathered.options.value(row, "reference", "reference"),
                cluster=gathered.options.value(row, "cluster", "cluster"),
                metrics=table.metrics(row, system),
                slices={fact: row.get(fact) for fact in table.facts},
            )
            for column, said in table.judged.items():
                if said.get("system", system) != system:
                    continue
                who = said.get("rater") or gathered.options.value(row, "rater", "rater")
                unnamed = unnamed or who is None
                prompt = said.get("prompt") or gathered.options.value(row, "prompt", "prompt")
                score = (
                    cell if isinstance(cell := row.get(column), int | float) else str(cell or "")
                )
                gathered.judgment(
                    row.get(table.item), system, who or rater, prompt or _PROMPT, score
                )
    if unnamed:
        gathered.remark(f"neither names nor columns say who judged: the rater is {rater!r}")


class _WideTable:
    """The columns of a wide table, sorted by what they hold."""

    def __init__(self, options: Options, document: ToolFile) -> None:
        self._document, self._options = document, options
        name, columns = document.path, list(document.first)
        self.item = options.columns.get("item", "item")
        if self.item not in columns:
            near = lookalike("item", columns, misspelt=False) or "YOUR_COLUMN"
            raise InvalidDataError(
                f"{name}: no column `{self.item}`; the columns are {quoted(columns)}: say which one "
                f"it is with --column {shlex.quote(f'item={near}')}"
            )
        named = {*options.columns.values(), *_OURS}
        patterns = [WidePattern(pattern) for pattern in options.wide]
        found = {
            column: said
            for column in columns
            if column not in named and (said := _first(patterns, column)) is not None
        }
        if not found:
            wanted = " or ".join(map(repr, options.wide))
            raise InvalidDataError(
                f"{name}: no column is called as `--wide` {wanted} says; the columns are {quoted(columns)}"
            )
        self.judged = {column: said for column, said in found.items() if "metric" not in said}
        self._metrics = {column: said for column, said in found.items() if "metric" in said}
        self.systems = list(
            dict.fromkeys(said["system"] for said in found.values() if "system" in said)
        )
        pattern = options.columns.get("output", "output")
        is_there = any(pattern.replace("{system}", one) in columns for one in self.systems or [""])
        options.found.update({"item", "output"} if is_there else {"item"})
        rest = [one for one in columns if one not in {*found, *named, *self.systems}]
        # where a row is one output, numbers beside the scores are its metrics
        self._numbers = [] if self.systems else [one for one in rest if self._is_numeric(one)]
        self.facts = [one for one in rest if one not in self._numbers and not self._is_text(one)]

    def text(self, row: Mapping[str, Any], system: Any) -> Any:
        """Return a system's text: in the column that is called as it is, or as the user says."""
        named = self._options.columns.get("output", "output")
        column = named.replace("{system}", str(system))
        if column not in row and "output" not in self._options.columns:
            column = str(system)
        if column in self.judged or column in self._metrics:
            return None  # the column that is called as the system holds its score
        found = row.get(column)
        # an empty cell of a table is an empty text, if others in it are not
        return "" if found is None and column in row else found

    def metrics(self, row: Mapping[str, Any], system: Any) -> dict[str, Any]:
        """Return the metrics of a system in a row."""
        named = {
            said["metric"]: row.get(column)
            for column, said in self._metrics.items()
            if said.get("system", system) == system
        }
        return {**{column: row.get(column) for column in self._numbers}, **named}

    def check_cells(self) -> None:
        """Raise for cells that hold digits but no number, such as 3-4, 3,5 or a date."""
        wrong = [
            (number, column, row.get(column))
            for number, row in enumerate(self._document.records)
            for column in self.judged
            if _is_garbled(row.get(column), self._options.scale)
        ]
        if wrong:
            where, column, cell = wrong[0]
            others = f" ({len(wrong):,} such cells)" if len(wrong) > 1 else ""
            is_decimal = re.fullmatch(r"\s*-?\d+,\d+\s*", str(cell)) is not None
            way_out = ": write decimals with a point" if is_decimal else ""
            raise InvalidDataError(
                f"{self._document.path}, {self._document.place(where)}, column `{column}`: expected a number, a word of "
                f"`--scale` or nothing, got {str(cell)[:30]!r}{others}{way_out}"
            )

    def _is_numeric(self, column: str) -> bool:
        cells = [cell for one in self._document.records if not is_missing(cell := one.get(column))]
        # 007 is a name
        is_name = any(re.match(r"[+-]?0\d", str(cell).strip()) for cell in cells)
        return bool(cells) and not is_name and all(number(cell) is not None for cell in cells)

    def _is_text(self, column: str) -> bool:
        """Whether a column is that of some system's texts."""
        pattern = self._options.columns.get("output", "output")
        return any(column == pattern.replace("{system}", system) for system in self.systems)


def _first(patterns: Sequence[WidePattern], column: str) -> dict[str, str] | None:
    return next((said for one in patterns if (said := one.match(column)) is not None), None)


def _is_garbled(cell: Any, scale: Mapping[str, float]) -> bool:
    if is_missing(cell) or number(cell, scale) is not None:
        return False
    return any(letter.isdigit() for letter in str(cell))


FORMAT = Format(
    name="wide",
    title="Wide spreadsheets: a column for each rater or system (--wide)",
    expects="a table, and --wide PATTERN for the names of its columns",
    recognises=lambda document: document.kind == "table",
    read=_read,
    way_out="name the items with --column item=COLUMN",
    columns=("item", "system", "output", "input", "reference", "cluster", "rater", "prompt"),
)
