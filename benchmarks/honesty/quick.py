"""The quick part: a few replays of every kind and contest. Tests repeat them and compare with what is recorded."""

from benchmarks.honesty import decisions, means
from benchmarks.honesty.drawn_cases import SEED
from benchmarks.honesty.kinds import KINDS
from steelyard.version import __version__

PART = "quick"
N = 20
# Judging all pairs takes longer than estimating all means.
_FEWER = 2


def cells(runs):
    """What there is to do: a key, how many runs, the version, and the work."""
    works = [(kind, means.cell, means.runs_of(kind, N, runs, 1)) for kind in KINDS]
    works += [(contest, decisions.cell, runs // _FEWER) for contest in decisions.CONTESTS]
    for one, work, number in works:
        key = {"part": PART, "cell": one.name, "n": N, "who": "steelyard"}
        yield (
            key | {"runs": number, "seed": SEED, "version": __version__},
            (work, one, N, number),
        )
