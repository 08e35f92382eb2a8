"""Outputs gathered from another tool's records, with a count of what was left out."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.format import Options
from steelyard.foreign.values import identifier, is_missing, number, text
from steelyard.records import (
    ALSO_BY,
    DRAW_RECORD,
    Judgment,
    Output,
    optional_columns,
    required_columns,
)

__all__ = ["GatheredOutputs", "frame_of"]

# Names with a meaning in our files: no metric and no slice may be called so.
_TAKEN = {
    *(*required_columns(Output), *optional_columns(Output)),
    *(*required_columns(Judgment), *optional_columns(Judgment)),
    *(*DRAW_RECORD, ALSO_BY, "cluster", "text_id", "submission"),
}
_COLUMNS = ("item", "system", "output", "input", "reference", "cluster")


class GatheredOutputs:
    """Outputs that a format finds in its files, and what must be said of them.

    Parameters
    ----------
    tool : str
        Name of the format: the prefix of a metric whose name is taken.
    options : Options
        What the user said.
    """

    def __init__(self, tool: str, options: Options) -> None:
        self.options = options
        self._tool = tool
        self._outputs: dict[tuple[str, str], dict[str, Any]] = {}
        self._slices: dict[tuple[str, str], dict[str, str | None]] = {}
        self._metrics: dict[str, None] = {}
        self._remarks: dict[str, None] = {}
        self._dropped: Counter[str] = Counter()
        self._repeated: list[tuple[str, str]] = []

    def drop(self, what: str, count: int = 1) -> None:
        """Count something that is not taken over, by its reason."""
        if count:
            self._dropped[what] += count

    def remark(self, words: str) -> None:
        """Say something that the user must know, once."""
        self._remarks[words] = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """All remarks, and what was left out, in one line each."""
        left_out = (f"left out: {count:,} {what}" for what, count in self._dropped.items())
        return (*self._remarks, *left_out)

    def output(
        self,
        item: Any,
        system: Any,
        output: Any,
        *,
        input: Any = None,  # noqa: A002 - the column's name
        reference: Any = None,
        cluster: Any = None,
        metrics: Mapping[str, Any] | None = None,
        slices: Mapping[str, Any] | None = None,
        again: bool = False,
    ) -> None:
        """Add an output.

        Parameters
        ----------
        item, system, output, input, reference, cluster
            Raw values.
        metrics : mapping
            Raw scores by name: what is no number is missing, lists and objects are left out.
        slices : mapping
            Other facts about the output, kept as text.
        again : bool
            Whether the format repeats an output on purpose, say for each of its raters.
        """
        key = identifier(item), identifier(system)
        if key[0] is None or key[1] is None:
            return self._unnamed("outputs", "item" if key[0] is None else "system")
        known = (key[0], key[1])
        if known in self._outputs and again:
            if output is not None and self._outputs[known]["output"] is None:
                self._outputs[known]["output"] = text(output)
            return None
        if known in self._outputs:
            self._repeated.append(known)
            if self.options.on_duplicate != "last":
                return None
        row: dict[str, Any] = {
            "item": known[0],
            "system": known[1],
            "output": text(output),
            "input": text(input),
            "reference": _references(reference),
            "cluster": identifier(cluster),
        }
        for name, value in (metrics or {}).items():
            self._add_metric(row, name, value)
        self._outputs[known] = row
        self._slices[known] = {
            name: text(value)
            for name, value in (slices or {}).items()
            if not isinstance(value, dict | list)
        }
        return None

    def texts(
        self,
        record: Mapping[str, Any],
        *,
        output: str = "output",
        input: str = "input",  # noqa: A002 - the column's name
        reference: str = "reference",
    ) -> dict[str, Any]:
        """Return output, input and reference of a record: where the user says, else at these paths."""
        usual = {"output": output, "input": input, "reference": reference}
        return {ours: self.options.value(record, ours, path) for ours, path in usual.items()}

    def metric(self, item: Any, system: Any, name: str, value: Any) -> bool:
        """Add a metric to an output that is there already; say whether it was."""
        row = self._outputs.get((identifier(item) or "", identifier(system) or ""))
        if row is not None:
            self._add_metric(row, name, value)
        return row is not None

    def _unnamed(self, what: str, column: str) -> None:
        """Count a row that lacks a part of its key."""
        way_out = "--system NAME or " if column == "system" else ""
        article = "an" if column == "item" else "a"
        self.drop(
            f"{what} without {article} {column} (name it with {way_out}--column {column}=KEY)"
        )

    def _add_metric(self, row: dict[str, Any], name: str, value: Any) -> None:
        if isinstance(value, dict | list):
            self.remark(f"`{name}` holds lists or objects, no numbers: not taken over")
            return
        name = self._free(name)
        found = number(value, self.options.scale)
        if found is None and not is_missing(value):
            self.remark(
                f"`{name}` holds words such as {str(value)[:30]!r}: missing there (--scale gives them numbers)"
            )
        row[name] = found
        self._metrics[name] = None

    def _free(self, name: str) -> str:
        """Return a name that means nothing else in our files."""
        name = text(name) or "unnamed"
        return f"{self._tool}.{name}" if name in _TAKEN else name

    def _fact(self, name: str) -> str:
        """Return the column of a fact, which may be called as a metric is."""
        free = self._free(name)
        return f"{self._tool}.{free}" if free in self._metrics else free

    def output_frame(self, way_out: str) -> pl.DataFrame:
        """Return the outputs, without those that have no text where others have one."""
        if self._repeated and self.options.on_duplicate not in {"first", "last"}:
            raise InvalidDataError(
                f"{len(self._repeated):,} outputs are there already under the same item, system, such as "
                f"{', '.join(map(repr, self._repeated[0]))}: {way_out}, or keep one with --on-duplicate first"
            )
        kept_one = f"outputs that were there already: the {self.options.on_duplicate} one was kept"
        self.drop(kept_one, len(self._repeated))
        with_text = {key: row for key, row in self._outputs.items() if row["output"] is not None}
        kept = with_text or self._outputs
        self.drop("outputs without a text", len(self._outputs) - len(kept))
        for name in list(self._metrics):
            missing = sum(row.get(name) is None for row in kept.values())
            if missing:
                self.remark(
                    f"metric `{name}` has no number on {missing:,} of {len(kept):,} outputs"
                )
            if missing == len(kept):
                del self._metrics[name]
        if kept and not with_text and not self._metrics:
            self.remark("no texts and no metrics of the outputs were found: no file of outputs")
            return pl.DataFrame()
        slices = dict.fromkeys(name for facts in self._slices.values() for name in facts)
        rows = [
            {name: row[name] for name in _COLUMNS}
            | {name: row.get(name) for name in self._metrics}
            | {self._fact(name): self._slices[key].get(name) for name in slices}
            for key, row in kept.items()
        ]
        return frame_of(rows, [name for name in rows[0] if name not in Output.key] if rows else [])


def frame_of(rows: list[dict[str, Any]], optional: Any) -> pl.DataFrame:
    """Return rows as a frame without the optional columns that are empty throughout."""
    empty = [name for name in optional if all(row.get(name) is None for row in rows)]
    return pl.DataFrame(rows, infer_schema_length=None).drop(empty, strict=False)


def _references(value: Any) -> list[str] | None:
    """Return texts to compare with; blank ones are none."""
    several = value if isinstance(value, list) else [value]
    found = [one for one in map(text, several) if one]
    return found or None
