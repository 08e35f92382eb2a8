"""Rows of our tables, gathered from another tool's records, with a count of what was left out."""

from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.format import Conversion, Options
from steelyard.foreign.gathered_outputs import GatheredOutputs, frame_of
from steelyard.foreign.values import identifier, is_missing, moment, number
from steelyard.records import UNKNOWN_RATER, Judgment
from steelyard.tables import read_judgments
from steelyard.tables.duplicates import duplicate_key, way_to_settle
from steelyard.tables.refusals import scale_of

__all__ = ["Gathered"]

# Words that are listed
_SHOWN = 8


class Gathered(GatheredOutputs):
    """Outputs, judgments and preferences that a format finds in its files.

    Parameters
    ----------
    tool : str
        Name of the format: the prefix of a metric whose name is taken.
    options : Options
        What the user said.
    """

    def __init__(self, tool: str, options: Options) -> None:
        super().__init__(tool, options)
        self._judgments: list[dict[str, Any]] = []
        self._preferences: list[dict[str, Any]] = []
        self._lower: set[str] = set()
        # scores that are words, and the prompts they were given under
        self._words: list[str] = []
        self._worded: dict[str, None] = {}
        self._raters: set[str] = set()

    def lower_is_better(self, prompt: str) -> None:
        """Say that lower scores under a prompt are better."""
        self._lower.add(prompt)

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
        outputs = self.output_frame(way_out)
        judgments = self._settled(self._judgments, way_out)
        preferences = self._settled(self._preferences, way_out)
        if outputs.is_empty() and judgments.is_empty() and preferences.is_empty():
            remarks = "; ".join(self.remarks) or "there are no records"
            raise InvalidDataError(f"no output and no judgment was found: {remarks}")
        return Conversion("", outputs, judgments, self.remarks, preferences=preferences)

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
        frame = frame_of(rows, ("seconds", "time"))
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
