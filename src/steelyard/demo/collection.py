"""The collection of judgments: who judges which output, when, and what they say."""

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Floats, Ints
from steelyard.demo.prompts import LENIENCY_VARIANCE, PROMPTS
from steelyard.demo.systems import Text

__all__ = ["Sampled", "collect"]

Row = dict[str, str | float]

_RATERS = 25
# One rater does far more than the others, as on the paper's data; the rest trail off.
_BUSIEST = 0.195
_DECAY = 0.9
# One output in so many is judged twice, the others once.
_SECOND_JUDGMENT = 5
_SESSION = 30
_START = dt.datetime(2018, 3, 5, 8, tzinfo=dt.UTC)
_SLOTS_A_DAY = 6


@dataclass(frozen=True, slots=True)
class Sampled:
    """An output that was drawn to be judged."""

    item: str
    system: str
    text: Text


def collect(sample: Sequence[Sampled], *, rng: np.random.Generator) -> list[Row]:
    """Return a row for each simulated judgment of the sampled outputs, in order of time.

    A row has ``item, system, rater, prompt, score, seconds, time``. A rater answers both prompts about
    an output, and never sees a text of an item twice, even if two systems wrote it.
    """
    place = np.arange(len(sample))
    judged = np.repeat(place, 1 + (place % _SECOND_JUDGMENT == 0))
    rater = _assign(sample, judged, rng=rng)
    words = np.array([len(one.text.text.split()) for one in sample])[judged]
    seconds = _seconds(words, rater, rng=rng)
    finished = _timetable(rater, seconds, rng=rng)
    scores = _scores(sample, judged, rater, rng=rng)
    rows = [
        (
            finished[task, question],
            Row(
                item=sample[output].item,
                system=sample[output].system,
                rater=f"r{rater[task] + 1:02d}",
                prompt=prompt.name,
                score=int(scores[task, question]),
                seconds=float(seconds[task, question]),
                time=(_START + dt.timedelta(seconds=int(finished[task, question]))).isoformat(),
            ),
        )
        for task, output in enumerate(judged.tolist())
        for question, prompt in enumerate(PROMPTS)
    ]
    # Stable, so that answers of one second stay in the order in which they were made.
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _assign(sample: Sequence[Sampled], judged: Ints, *, rng: np.random.Generator) -> Ints:
    """Draw each judgment's rater, by workload, without repeating one on the same text."""
    share = np.append(_BUSIEST, _DECAY ** np.arange(_RATERS - 1))
    share[1:] *= (1 - _BUSIEST) / share[1:].sum()
    share = rng.permutation(share)
    queue: defaultdict[tuple[str, str], list[int]] = defaultdict(
        # Ordering by exponential / share draws one by one, without replacement, by share.
        lambda: np.argsort(-rng.exponential(size=_RATERS) / share).tolist()
    )
    return np.array([queue[sample[i].item, sample[i].text.text].pop() for i in judged])


def _scores(
    sample: Sequence[Sampled], judged: Ints, rater: Ints, *, rng: np.random.Generator
) -> Ints:
    """Draw the score of each judgment (rows) under each prompt (columns)."""
    leniency = rng.normal(scale=np.sqrt(LENIENCY_VARIANCE), size=_RATERS)
    columns = []
    for prompt in PROMPTS:
        quality = np.array([prompt.quality(one.text.defects) for one in sample])
        noise = rng.normal(scale=np.sqrt(1 - LENIENCY_VARIANCE), size=len(judged))
        columns.append(prompt.scores(quality[judged] + leniency[rater] + noise))
    return np.column_stack(columns)


def _seconds(words: Ints, rater: Ints, *, rng: np.random.Generator) -> Floats:
    """Draw the time of each answer: log-normal around reading time, each rater at their pace."""
    pace = rng.normal(scale=0.25, size=_RATERS)[rater, np.newaxis]
    # The first question includes reading the text, the second checking it against the facts.
    reading = np.column_stack([6.0 + 0.35 * words, 8.0 + 0.45 * words])
    noise = rng.normal(scale=0.4, size=reading.shape)
    return np.round(reading * np.exp(pace + noise), 1)


def _timetable(rater: Ints, seconds: Floats, *, rng: np.random.Generator) -> Floats:
    """Place each rater's work, in random order, in sessions of two-hour slots of a few days."""
    finished = np.empty_like(seconds)
    longest = -(-int(np.bincount(rater).max()) // _SESSION)
    slots = _SLOTS_A_DAY * max(5, -(-longest // 2))
    for one in range(_RATERS):
        tasks = rng.permutation(np.flatnonzero(rater == one))
        sessions = np.array_split(tasks, range(_SESSION, len(tasks), _SESSION))
        for slot, session in zip(rng.permutation(slots), sessions, strict=False):
            day, hour = divmod(int(slot), _SLOTS_A_DAY)
            start = 86_400 * day + 7_200 * hour + 3_600 * rng.random()
            finished[session] = start + np.cumsum(seconds[session]).reshape(-1, len(PROMPTS))
    return finished
