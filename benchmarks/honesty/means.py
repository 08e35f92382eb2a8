"""Honesty of means: coverage, width, bias and cost of intervals of every system's mean."""

from collections import defaultdict
from functools import cache
from itertools import islice

from benchmarks.honesty.drawn_cases import SEED, Answers, arrays, replays
from benchmarks.honesty.kinds import KINDS, SIZES
from benchmarks.honesty.ours import OURS, Ways, plain_t
from benchmarks.honesty.peers import PEERS, Asked

PART = "means"
# Replays that are held in memory at a time.
_TOGETHER = 50
# With so many judgments an estimate of ours takes two to four times as long, so it is replayed half as often.
_MANY, _MANY_SHARE = 50, 0.5
# A worker keeps the process of a peer for its next cell.
_asked = cache(Asked)


def runs_of(kind, n, runs, share):
    """Few systems are replayed more often, for about as many intervals; what is slow, less often."""
    runs = max(round(runs * share * (_MANY_SHARE if share > 1 and n >= _MANY else 1)), 1)
    return runs * 4 // kind.systems if kind.systems < 4 else runs


def cells(runs, *, part=PART, kinds=KINDS, sizes=SIZES, peers=PEERS):
    """What there is to do, ours first: a key, how many runs, the version, and the work."""
    for number, one in enumerate((*OURS, *peers)):
        for n in sizes:
            for kind in kinds:
                key = {"part": part, "cell": kind.name, "n": n, "who": one.who}
                wanted = runs_of(kind, n, runs, one.share)
                yield (
                    key | {"runs": wanted, "seed": SEED, "version": one.version},
                    # ours by number: what is made of lambdas does not go to another process
                    (cell, kind, n, wanted, number if isinstance(one, Ways) else one),
                )


def cell(kind, n, runs, contestant=0):
    """Counts of every way of a contestant in one cell: one of ours by its number, or a peer."""
    plain, found, refused, seconds = [], defaultdict(list), {}, 0.0
    every = replays(kind, n, runs)
    while draws := list(islice(every, _TOGETHER)):
        plain.append(Answers.of(draws, [[plain_t(one) for one in draw] for draw in draws]))
        answers, why, spent = _answers(contestant, draws, kind.bounds)
        for way, got in answers.items():
            found[way].append(Answers.of(draws, got))
        refused, seconds = why | refused, seconds + spent
    plain = Answers.joined(plain)
    ways = {way: Answers.joined(got).counted(plain) for way, got in found.items()}
    for way, why in refused.items():
        ways[way]["why_refused"] = why
    return {"ways": ways, "seconds": seconds}


def _answers(contestant, draws, bounds):
    """Answers by way, first reasons of refusals, and the processor time of a peer's process."""
    if isinstance(contestant, int):
        return *OURS[contestant].answers(draws), 0.0
    asked = _asked(contestant)
    return *asked.answers(arrays(draws, bounds)), asked.seconds
