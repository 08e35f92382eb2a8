"""Rows of our tables, gathered from another tool's records, with a count of what was left out."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.conversion import Conversion
from steelyard.foreign.format import Options
from steelyard.foreign.tally import Tally
from steelyard.foreign.values import identifier, is_missing, moment, number, text
from steelyard.records import DRAW_COLUMNS, Judgment, Output, optional_columns, required_columns

__all__ = ["Gathered"]

# Names with a meaning in our files: no metric and no slice may be called so.
_TAKEN = frozenset(
    {
        *required_columns(Output),
        *optional_columns(Output),
        *required_columns(Judgment),
        *optional_columns(Judgment),
        *DRAW_COLUMNS,
        "cluster",
        "text_id",
        "submission",
        "other_system",
        "first_system",
    }
)
_COLUMNS = ("item", "system", "output", "input", "reference", "cluster")


class Gathered:
    """Outputs, judgments and preferences that a format finds in its files.

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
        self._tally = Tally(options)
        self._outputs: dict[tuple[str, str], dict[str, Any]] = {}
        self._slices: dict[tuple[str, str], dict[str, str | None]] = {}
        self._judgments: dict[tuple[str, ...], dict[str, Any]] = {}
        self._preferences: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        self._metrics: dict[str, None] = {}
        self._lower: set[str] = set()

    def lower_is_better(self, prompt: str) -> None:
        """Say that lower scores under a prompt are better."""
        self._lower.add(prompt)

    def drop(self, what: str, count: int = 1) -> None:
        """Count something that is not taken over, by its reason."""
        self._tally.drop(what, count)

    def remark(self, words: str) -> None:
        """Say something that the user must know, once."""
        self._tally.remark(words)

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
            return self._tally.unnamed("outputs", "item" if key[0] is None else "system")
        known = (key[0], key[1])
        if known in self._outputs and again:
            if output is not None and self._outputs[known]["output"] is None:
                self._outputs[known]["output"] = text(output)
            return None
        if known in self._outputs and not self._tally.replaces("outputs", known):
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

    def metric(self, item: Any, system: Any, name: str, value: Any) -> bool:
        """Add a metric to an output that is there already; say whether it was."""
        row = self._outputs.get((identifier(item) or "", identifier(system) or ""))
        if row is not None:
            self._add_metric(row, name, value)
        return row is not None

    def judgment(
        self,
        item: Any,
        system: Any,
        rater: Any,
        prompt: Any,
        score: Any,
        *,
        seconds: Any = None,
        time: Any = None,
    ) -> None:
        """Add a person's score, unless it is missing or its rater is not to be kept."""
        key = tuple(identifier(value) for value in (item, system, rater, prompt))
        if None in key:
            return self._tally.unnamed("judgments", Judgment.key[key.index(None)])
        whole = tuple(part for part in key if part is not None)
        if not self._tally.is_kept(whole[2]) or not self._tally.is_asked(whole[3]):
            return None
        value = number(score, self.options.scale)
        if value is None:
            return self._tally.unscored(whole[3], score)
        if whole in self._judgments and not self._tally.replaces("judgments", whole):
            return None
        row: dict[str, Any] = dict(zip(Judgment.key, whole, strict=True))
        if whole[3] in self._lower:
            row["lower_is_better"] = True
        self._judgments[whole] = {
            **row,
            "score": value,
            "seconds": number(seconds),
            "time": moment(time),
        }
        return None

    def preference(
        self,
        item: str,
        sides: tuple[str, str],
        score: float,
        *,
        rater: str,
        prompt: str,
        time: Any = None,
        seconds: Any = None,
    ) -> None:
        """Add a comparison of two systems: `score` is that of the first, 1 minus it of the second.

        Written as ``serve`` exports pairs: two rows with the same ``submission``, each with the other
        system, and the one that was shown first.
        """
        key = (item, *sorted(sides), rater, prompt)
        if not self._tally.is_kept(rater) or not self._tally.is_asked(prompt):
            return
        if key in self._preferences and not self._tally.replaces("preferences", key):
            return
        known = {"seconds": number(seconds), "time": moment(time)}
        submission = len(self._preferences) + 1
        self._preferences[key] = [
            {
                "item": item,
                "system": system,
                "rater": rater,
                "prompt": prompt,
                "score": value,
                **known,
                "submission": submission,
                "other_system": other,
                "first_system": sides[0],
            }
            for system, other, value in ((*sides, score), (*sides[::-1], 1 - score))
        ]

    def conversion(self, *, way_out: str) -> Conversion:
        """Return the tables.

        Parameters
        ----------
        way_out : str
            How to tell outputs apart, or choose among them, that share item and system.

        Raises
        ------
        InvalidDataError
            If an output or judgment is there twice, scores are words, or nothing was found.
        """
        self.options.check_found()
        self._tally.check(way_out)
        outputs = self._output_frame()
        judgments = _frame(list(self._judgments.values()), ("seconds", "time"))
        pairs = [row for rows in self._preferences.values() for row in rows]
        preferences = _frame(pairs, ("seconds", "time"))
        if outputs.is_empty() and judgments.is_empty() and preferences.is_empty():
            remarks = "; ".join(self._tally.remarks) or "there are no records"
            raise InvalidDataError(f"no output and no judgment was found: {remarks}")
        return Conversion("", outputs, judgments, self._tally.remarks, preferences=preferences)

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

    def _output_frame(self) -> pl.DataFrame:
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
        return _frame(rows, [name for name in rows[0] if name not in Output.key] if rows else [])


def _frame(rows: list[dict[str, Any]], optional: Any) -> pl.DataFrame:
    """Return rows as a frame without the optional columns that are empty throughout."""
    empty = [name for name in optional if all(row.get(name) is None for row in rows)]
    return pl.DataFrame(rows, infer_schema_length=None).drop(empty, strict=False)


def _references(value: Any) -> list[str] | None:
    """Return texts to compare with; blank ones are none."""
    several = value if isinstance(value, list) else [value]
    found = [one for one in map(text, several) if one]
    return found or None
