"""Rows of our tables, gathered from another tool's records, with a count of what was left out."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.format import Conversion, Options
from steelyard.foreign.values import identifier, is_missing, moment, number, text
from steelyard.records import (
    ALSO_BY,
    DRAW_RECORD,
    UNKNOWN_RATER,
    Judgment,
    Output,
    optional_columns,
    required_columns,
)
from steelyard.tables import read_judgments
from steelyard.tables.duplicates import duplicate_key, way_to_settle
from steelyard.tables.rules import scale_of

__all__ = ["Gathered"]

# Names with a meaning in our files: no metric and no slice may be called so.
_TAKEN = {
    *(*required_columns(Output), *optional_columns(Output)),
    *(*required_columns(Judgment), *optional_columns(Judgment)),
    *(*DRAW_RECORD, ALSO_BY, "cluster", "text_id", "submission"),
}
_COLUMNS = ("item", "system", "output", "input", "reference", "cluster")
_SHOWN = 8


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
        self._outputs: dict[tuple[str, str], dict[str, Any]] = {}
        self._slices: dict[tuple[str, str], dict[str, str | None]] = {}
        self._judgments: list[dict[str, Any]] = []
        self._preferences: list[dict[str, Any]] = []
        self._metrics: dict[str, None] = {}
        self._lower: set[str] = set()
        self._remarks: dict[str, None] = {}
        self._dropped: Counter[str] = Counter()
        self._repeated: list[tuple[str, str]] = []
        # scores that are words, and the prompts they were given under
        self._words: list[str] = []
        self._worded: dict[str, None] = {}
        self._raters: set[str] = set()

    def lower_is_better(self, prompt: str) -> None:
        """Say that lower scores under a prompt are better."""
        self._lower.add(prompt)

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
            return self._unnamed("judgments", Judgment.key[key.index(None)])
        row: dict[str, Any] = dict(zip(Judgment.key, key, strict=True))
        if not self._is_asked(row["rater"], row["prompt"]):
            return None
        value = number(score, self.options.scale)
        if value is None:
            return self._unscored(row["prompt"], score)
        if row["prompt"] in self._lower:
            row["lower_is_better"] = True
        self._judgments.append(
            {**row, "score": value, "seconds": number(seconds), "time": moment(time)}
        )
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
        if not self._is_asked(rater, prompt):
            return
        known = {"seconds": number(seconds), "time": moment(time)}
        submission = len(self._preferences) // 2 + 1
        self._preferences += [
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
        self._check_scores()
        outputs = self._output_frame(way_out)
        judgments = self._settled(self._judgments, way_out)
        preferences = self._settled(self._preferences, way_out)
        if outputs.is_empty() and judgments.is_empty() and preferences.is_empty():
            remarks = "; ".join(self.remarks) or "there are no records"
            raise InvalidDataError(f"no output and no judgment was found: {remarks}")
        return Conversion("", outputs, judgments, self.remarks, preferences=preferences)

    def _unnamed(self, what: str, column: str) -> None:
        """Count a row that lacks a part of its key."""
        way_out = "--system NAME or " if column == "system" else ""
        article = "an" if column == "item" else "a"
        self.drop(
            f"{what} without {article} {column} (name it with {way_out}--column {column}=KEY)"
        )

    def _unscored(self, prompt: str, score: Any) -> None:
        """Count a score that is no number."""
        if is_missing(score):
            self.drop("judgments without a score")
        elif isinstance(score, str):
            self._words.append(score.strip()[:40])
            self._worded[prompt] = None
        else:
            self.drop("judgments whose score is a list or an object")

    def _is_asked(self, rater: str, prompt: str) -> bool:
        """Say whether a rater and a prompt are among those to keep."""
        self._raters.add(rater)
        kept, chosen = self.options.raters, self.options.only.get("prompt")
        if kept is not None and rater not in kept:
            self.drop(f"judgments by raters that {self.options.raters_from} does not approve")
            return False
        if chosen is not None and prompt not in {one.strip() for one in chosen.split(",")}:
            self.drop(f"judgments under other prompts than {chosen}")
            return False
        return True

    def _check_scores(self) -> None:
        """Raise for words as scores, and where no rater is one of those to keep."""
        if self._words:
            options = scale_of(pl.Series(self._words))
            words = [pair.removesuffix("=?") for pair in options[1].split(",")]
            listed = ", ".join(map(repr, words[:_SHOWN]))
            prompts = ", ".join(map(repr, list(self._worded)[:4]))
            others = " and others" if len(words) > _SHOWN else ""
            raise InvalidDataError(
                f"{len(self._words):,} scores under {prompts} are no numbers but {listed}{others}: say what "
                f'each is worth with --scale "{",".join(f"{word}=?" for word in words[:_SHOWN])}", or take other '
                "prompts with --only prompt=NAME",
                options=options,
            )
        kept = self.options.raters
        if kept is not None and self._raters and not self._raters & kept:
            mine, theirs = min(self._raters), min(kept, default="none")
            raise InvalidDataError(
                f"`--raters-from` {self.options.raters_from} approves none of the raters of these "
                f"judgments: they are called {mine!r} and the like, there {theirs!r}"
            )

    def _settled(self, rows: list[dict[str, Any]], way_out: str) -> pl.DataFrame:
        """Return judgments as our own reader takes them, without those that repeat another."""
        frame = _frame(rows, ("seconds", "time"))
        if frame.is_empty():
            return frame
        key = duplicate_key(frame)
        twice = frame.filter(
            ~pl.struct(key).is_first_distinct() & (pl.col("rater") != UNKNOWN_RATER)
        )
        if self.options.on_duplicate == "error" and not twice.is_empty():
            example = ", ".join(map(repr, twice.select(key).row(0)))
            words, option = way_to_settle(frame)
            raise InvalidDataError(
                f"{twice.height:,} judgments are there already under the same {', '.join(key)}, such as "
                f"{example}: {way_out}, or {words}",
                options=("--on-duplicate", option),
            )
        judged = read_judgments(frame, on_duplicate=self.options.on_duplicate)
        for note in judged.notes:
            self.remark(note)
        return judged.frame

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

    def _output_frame(self, way_out: str) -> pl.DataFrame:
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
