"""Honesty of stopping: how often an interval ever misses before it is narrow enough, and when that is.

One system with scores from 0 to 1, outputs drawn with replacement, one metric. After every batch
somebody looks, and stops when the half-width is at most the goal.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import stdtrit

from benchmarks.honesty.drawn_cases import SEED, short
from benchmarks.honesty.kinds import POOL, Kind, campaign
from benchmarks.honesty.peers import PEERS, Asked
from steelyard import ConfidenceSequence
from steelyard.version import __version__

PART = "stopping"
GOAL, MOST = 0.06, 1600
# Our sequences are quick to replay.
_MORE = 5
RUNNERS = {
    "potato-annotation": "stops_of_potato.py",
    "truescore": "stops_of_truescore.py",
}


@dataclass(frozen=True)
class Watch:
    """Scores of one kind, looked at after every `batch` judgments."""

    kind: Kind
    batch: int

    @property
    def name(self):
        return f"{self.kind.name}, a look every {self.batch}"


WATCHES = tuple(
    Watch(kind, batch)
    for kind in (
        Kind("binary", "binary", systems=1),
        Kind("three levels", "three-level", systems=1),
    )
    for batch in (20, 100)
)


@dataclass(frozen=True)
class Stream:
    """Judgments in the order in which they come."""

    human: np.ndarray
    chosen: np.ndarray
    pool: np.ndarray
    truth: float


def cells(runs, *, watches=WATCHES, peers=PEERS):
    """What there is to do, ours first: a key, how many runs, the version, and the work."""
    for peer in (None, *(one for one in peers if one.package in RUNNERS)):
        who, version = ("steelyard", __version__) if peer is None else (peer.package, peer.version)
        number = runs * _MORE if peer is None else runs
        for watch in watches:
            key = {"part": PART, "cell": watch.name, "n": watch.batch, "who": who}
            yield (
                key | {"runs": number, "seed": SEED, "version": version},
                (cell, watch, number, peer),
            )


def streams(watch, runs, *, seed=SEED):
    for run in range(runs):
        rng = watch.kind.rng(watch.batch, run, seed=seed)
        [system] = campaign(watch.kind, rng)
        chosen = rng.integers(POOL, size=MOST)
        human, _ = system.judge(rng, chosen)
        yield Stream(human, chosen, system.metrics[:, 0], system.truth)


@cache
def _asked(peer):
    return Asked(peer, RUNNERS[peer.package])


def cell(watch, runs, peer=None):
    """Counts of every way in one cell, ours or a peer's."""
    found, seconds = list(streams(watch, runs)), 0.0
    if peer is None:
        answers = {
            way: np.array([stopped(one, watch.batch, make(one)) for one in found], dtype=float)
            for way, make in WAYS.items()
        }
    else:
        answers, _ = _asked(peer).answers(
            {name: np.array([getattr(one, name) for one in found]) for name in _FIELDS}
            | {
                "batch": np.full(runs, watch.batch),
                "goal": np.full(runs, GOAL),
                "bounds": np.array([0.0, 1.0]),
            }
        )
        seconds = _asked(peer).seconds
    return {"ways": {way: counted(got) for way, got in answers.items()}, "seconds": seconds}


_FIELDS = ("human", "chosen", "pool", "truth")


def counted(found):
    """Shares of streams that ever missed and missed at the end, and judgments at the end."""
    ever, judgments, last = found.T
    n = len(found)
    return {
        "ever_missed": short(ever.mean()),
        "ever_missed_se": short(np.sqrt(ever.mean() * (1 - ever.mean()) / n)),
        "missed_at_stop": short(last.mean()),
        "judgments": short(judgments.mean()),
        "judgments_se": short(judgments.std() / np.sqrt(n)),
        "stopped": short((judgments < MOST).mean()),
    }


def stopped(stream, batch, interval):
    """Whether the interval ever missed, the judgments at the end, and whether it missed there."""
    ever = False
    for n in range(batch, MOST + 1, batch):
        low, high = interval(n)
        missed = not low <= stream.truth <= high
        ever |= missed
        if high - low <= 2 * GOAL:
            break
    return ever, n, missed


def _betting(stream):
    """Our exact sequence, of the scores alone."""
    sequence = ConfidenceSequence(bounds=(0, 1))

    def interval(n):
        sequence.update(stream.human[sequence.n : n])
        return sequence.low, sequence.high

    return interval


def _naive(stream):
    """Student's interval of the plain mean, as if each look were the only one."""

    def interval(n):
        seen = stream.human[:n]
        reach = stdtrit(n - 1, 0.975) * seen.std(ddof=1) / np.sqrt(n)
        return seen.mean() - reach, seen.mean() + reach

    return interval


WAYS = {
    "steelyard ConfidenceSequence": _betting,
    "naive: stop when plain t is narrow": _naive,
}
