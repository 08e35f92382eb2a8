"""Judgments to a decision: races beside the fixed sizes that decide in most campaigns, known by hindsight."""

import numpy as np

from benchmarks.honesty.drawn_cases import SEED, short
from benchmarks.races import GRID, Kind, outcome
from steelyard.version import __version__

PART = "races"
# Campaigns are quick to race, all of a kind together.
_MORE = 10
# Percentages of campaigns in which a fixed size decides.
SHARES = (80, 95)
KINDS = tuple(
    Kind(systems, shape, gap, 0.25)
    for systems in (2, 5, 10)
    for shape in ("one ahead", "ladder")
    for gap in (0.2, 0.5)
)


def cells(runs):
    """What there is to do: a key, how many runs, the version, and the work."""
    for kind in KINDS:
        name = f"{kind.systems} systems, {kind.shape} by {kind.gap:g}"
        key = {"part": PART, "cell": name, "n": kind.systems, "who": "steelyard"}
        yield (
            key | {"runs": _MORE * runs, "seed": SEED, "version": __version__},
            (cell, kind, _MORE * runs),
        )


def cell(kind, runs):
    """Shares of campaigns that let the best go and that decided, and judgments."""
    found = outcome(kind, runs, seed=SEED)
    return {
        "ways": {
            "steelyard race": {
                "best_let_go": short(found.wrong.mean()),
                "decided": short(found.decided.mean()),
                "judgments": short(found.judgments.mean()),
                "judgments_se": short(found.judgments.std() / np.sqrt(runs)),
            },
            "fixed size, paired t": {
                f"judgments_{share}": _fixed(found, share / 100, kind.systems) for share in SHARES
            },
        }
    }


def _fixed(found, share, systems):
    """Judgments of the smallest fixed size that decides in this share of campaigns, or None."""
    enough = np.flatnonzero(found.fixed.mean(axis=0) >= share)
    return int(GRID[enough[0]] * systems) if len(enough) else None
