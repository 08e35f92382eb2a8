"""Modes in which metric and judgment agree or not, with counts and examples (table 1)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steelyard.paper.printed import EXAMPLES, MODES, ModeCounts, PrintedExample, PrintedModes
from steelyard.paper.release import REFERENCE, PaperTask

__all__ = ["ModeExample", "Modes", "modes"]

_HIGH = 0.5
_CORRECT, _EDIT = 0.5, 0.3
# An example must fit in a table.
_LONGEST, _OTHERS = 160, 2


@dataclass(frozen=True)
class ModeExample:
    """An answer in one of the modes; `printed` is the paper's own example, if it is that."""

    query: str
    reference: str
    answer: str
    systems: tuple[str, ...]
    human: float
    metric: float
    printed: PrintedExample | None


@dataclass(frozen=True)
class Modes:
    """Counts of table 1, reproduced.

    Attributes
    ----------
    printed : PrintedModes
        As printed.
    counts : tuple of int
        As counted, by the rule that gives the printed ones.
    strict : tuple of int or None
        With a tie of votes counted as bad instead of good, where there are votes.
    ties : int
        Number of ties.
    examples : tuple of tuples of ModeExample
        Some of each mode; none without texts.
    """

    printed: PrintedModes
    counts: ModeCounts
    strict: ModeCounts | None = None
    ties: int = 0
    examples: tuple[tuple[ModeExample, ...], ...] = ()

    @property
    def total(self) -> int:
        """Number of responses."""
        return sum(self.counts)

    @property
    def whole(self) -> bool:
        """Whether all printed counts come out."""
        return self.counts == self.printed.counts


def modes(task: PaperTask) -> Modes | None:
    """Count the modes of a task; None if that needs texts that are not there.

    Notes
    -----
    MS MARCO: distinct answers that a system gave; an answer is good if its mean judgment, as
    released, is at least one half, so that a tie counts as good. CNN/Daily Mail: outputs for items
    that every system answered, one judged twice over counting once; good is a mean post-edit distance
    below 0.3. The metric is high above one half.
    """
    printed = next(row for row in MODES if row.task == task.name)
    if task.name == "msmarco":
        return _of_answers(task, printed) if task.texts else None
    return _of_summaries(task, printed)


def _of_answers(task: PaperTask, printed: PrintedModes) -> Modes:
    lines = {(line.item, line.system): line for line in task.lines}
    references = {text.item: text.answer for text in task.texts if REFERENCE in text.systems}
    answers = []
    for text in task.texts:
        systems = tuple(name for name in task.systems if name in text.systems)
        if systems:
            line = lines[text.item, systems[0]]
            own = (row for row in EXAMPLES if row.query == text.query and row.system in systems)
            answers.append(
                ModeExample(
                    text.query,
                    references.get(text.item, ""),
                    text.answer,
                    systems,
                    human=line.gold[printed.prompt],
                    metric=line.metrics[printed.metric],
                    printed=next(own, None),
                )
            )
    modes = [_mode(one.human >= _CORRECT, one.metric > _HIGH) for one in answers]
    return Modes(
        printed,
        counts=_count(modes),
        strict=_count(_mode(one.human > _CORRECT, one.metric > _HIGH) for one in answers),
        ties=sum(one.human == _CORRECT for one in answers),
        examples=tuple(
            _chosen([one for one, own in zip(answers, modes, strict=True) if own == mode])
            for mode in range(4)
        ),
    )


def _of_summaries(task: PaperTask, printed: PrintedModes) -> Modes:
    judgments: dict[tuple[str, str], list[float]] = {}
    metric = {}
    for line in task.lines:
        if line.system != REFERENCE:
            judgments.setdefault((line.item, line.system), []).extend(line.human[printed.prompt])
            metric[line.item, line.system] = line.metrics[printed.metric]
    complete = {
        item for item, _ in judgments if all((item, system) in judgments for system in task.systems)
    }
    counts = _count(
        _mode(sum(scores) / len(scores) < _EDIT, metric[key] > _HIGH)
        for key, scores in judgments.items()
        if key[0] in complete
    )
    return Modes(printed, counts)


def _mode(good: bool, high: bool) -> int:  # noqa: FBT001  (a pair of answers)
    return (0 if good else 1) + (0 if high else 2)


def _count(modes: Iterable[int]) -> ModeCounts:
    counts = Counter(modes)
    return counts[0], counts[1], counts[2], counts[3]


def _chosen(answers: Sequence[ModeExample]) -> tuple[ModeExample, ...]:
    """Return the paper's example, and others spread evenly over the metric."""
    printed = [one for one in answers if one.printed is not None]
    short = sorted(
        (
            one
            for one in answers
            if one.printed is None
            and 0 < len(one.answer) <= _LONGEST
            and 0 < len(one.reference) <= _LONGEST
            and one.human in (0.0, 1.0)
        ),
        key=lambda one: (one.metric, one.query),
    )
    places = [len(short) * (2 * k + 1) // (2 * _OTHERS) for k in range(_OTHERS)]
    others = [short[place] for place in dict.fromkeys(places) if place < len(short)]
    return (*printed, *others)
