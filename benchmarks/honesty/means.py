"""Honesty of means: coverage, width, bias and cost of intervals of every system's mean."""

from functools import cache

import numpy as np

from benchmarks.honesty.drawn_cases import SEED, Answers, arrays, replays
from benchmarks.honesty.kinds import KINDS, SIZES
from benchmarks.honesty.ours import ours, plain_t
from benchmarks.honesty.peers import PEERS, Asked
from steelyard.version import __version__

PART = "means"
US = "steelyard"
# A worker keeps the process of a peer for its next cell.
_asked = cache(Asked)


def runs_of(kind, runs, peer=None):
    """Few systems are replayed more often, for about as many intervals; slow peers less often."""
    runs = max(runs, runs * 4 // kind.systems) if kind.systems < 4 else runs
    return runs if peer is None else max(runs // peer.thin, 1)


def cells(runs, *, part=PART, kinds=KINDS, sizes=SIZES, peers=PEERS):
    """What there is to do, ours first: a key, how many runs, the version, and the work."""
    for peer in (None, *peers):
        who, version = (US, __version__) if peer is None else (peer.package, peer.version)
        for n in sizes:
            for kind in kinds:
                key = {"part": part, "cell": kind.name, "n": n, "who": who}
                number = runs_of(kind, runs, peer)
                yield (
                    key | {"runs": number, "seed": SEED, "version": version},
                    (cell, kind, n, number, peer),
                )


def cell(kind, n, runs, peer=None):
    """Counts of every way in one cell, ours or a peer's."""
    draws = list(replays(kind, n, runs))
    plain = Answers.of(draws, np.array([[plain_t(one) for one in draw] for draw in draws]))
    if peer is None:
        found, refused = ours(draws)
    else:
        found, refused = _asked(peer).answers(arrays(draws, kind.bounds))
    ways = {way: Answers.of(draws, got).counted(plain) for way, got in found.items()}
    for way, why in refused.items():
        ways[way]["why_refused"] = why
    return {"ways": ways}
