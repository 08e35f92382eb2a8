"""What a conversion left out, remarked on, or must refuse, counted as it goes."""

from collections import Counter
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.format import Options
from steelyard.foreign.values import is_missing

__all__ = ["Tally"]

_SHOWN = 8
_FIELDS = {
    "outputs": "item, system",
    "judgments": "item, system, rater, prompt",
    "preferences": "item, two systems, rater, prompt",
}


class Tally:
    """Counts of what happened to the records of a conversion.

    Parameters
    ----------
    options : Options
        What the user said.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._remarks: dict[str, None] = {}
        self._dropped: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._example: dict[str, str] = {}
        self._words: Counter[str] = Counter()
        self._spelled: dict[str, str] = {}
        self._worded: dict[str, None] = {}
        self._raters: set[str] = set()

    @property
    def remarks(self) -> tuple[str, ...]:
        """All remarks, and what was left out, in one line each."""
        left_out = (f"left out: {count:,} {what}" for what, count in self._dropped.items())
        return (*self._remarks, *left_out)

    def drop(self, what: str, count: int = 1) -> None:
        """Count something that is not taken over, by its reason."""
        if count:
            self._dropped[what] += count

    def remark(self, words: str) -> None:
        """Say something that the user must know, once."""
        self._remarks[words] = None

    def unnamed(self, what: str, column: str) -> None:
        """Count a row that lacks a part of its key."""
        way_out = "--system NAME or " if column == "system" else ""
        article = "an" if column == "item" else "a"
        self.drop(
            f"{what} without {article} {column} (name it with {way_out}--column {column}=KEY)"
        )

    def unscored(self, prompt: str, score: Any) -> None:
        """Count a score that is no number."""
        if is_missing(score):
            self.drop("judgments without a score")
        elif isinstance(score, str):
            word = score.strip()[:40]
            self._words[self._spelled.setdefault(word.casefold(), word)] += 1
            self._worded[prompt] = None
        else:
            self.drop("judgments whose score is a list or an object")

    def replaces(self, what: str, key: tuple[str, ...]) -> bool:
        """Count a key that is there already; say whether the new row takes its place."""
        self._repeated[what] += 1
        self._example.setdefault(what, ", ".join(map(repr, key)))
        return self._options.on_duplicate == "last"

    def is_kept(self, rater: str) -> bool:
        """Say whether a rater is one of those to keep."""
        self._raters.add(rater)
        if self._options.raters is None or rater in self._options.raters:
            return True
        self.drop(f"judgments by raters that {self._options.raters_from} does not approve")
        return False

    def is_asked(self, prompt: str) -> bool:
        """Say whether a prompt is one of those to take."""
        chosen = self._options.only.get("prompt")
        if chosen is None or prompt in (one.strip() for one in chosen.split(",")):
            return True
        self.drop(f"judgments under other prompts than {chosen}")
        return False

    def check(self, way_out: str) -> None:
        """Raise for what cannot be converted; `way_out` tells rows apart that share a key."""
        self._check_words()
        self._check_repeats(way_out)
        kept = self._options.raters
        if kept is not None and self._raters and not self._raters & kept:
            mine, theirs = min(self._raters), min(kept, default="none")
            raise InvalidDataError(
                f"`--raters-from` {self._options.raters_from} approves none of the raters of these "
                f"judgments: they are called {mine!r} and the like, there {theirs!r}"
            )

    def _check_words(self) -> None:
        if not self._words:
            return
        words = list(self._words)[:_SHOWN]
        example = _asked(words)
        prompts = ", ".join(map(repr, list(self._worded)[:4]))
        others = " and others" if len(self._words) > _SHOWN else ""
        raise InvalidDataError(
            f"{self._words.total():,} scores under {prompts} are no numbers but "
            f"{', '.join(map(repr, words))}{others}: say what each is worth with "
            f'--scale "{example}", or take other prompts with --only prompt=NAME',
            options=("--scale", _asked(list(self._words))),
        )

    def _check_repeats(self, way_out: str) -> None:
        kept = self._options.on_duplicate
        for what, count in self._repeated.items():
            if kept == "error":
                raise InvalidDataError(
                    f"{count:,} {what} are there already under the same {_FIELDS[what]}, such as "
                    f"{self._example[what]}: {way_out}, or keep one with --on-duplicate first"
                )
            self.drop(f"{what} that were there already: the {kept} one was kept", count)


def _asked(words: list[str]) -> str:
    return ",".join(f"{word}=?" for word in words)
