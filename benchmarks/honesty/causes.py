"""Why intervals are too short where scores are skewed: the default with one thing changed, on the same draws."""

from dataclasses import replace

import numpy as np

from benchmarks.honesty.drawn_cases import SEED, Answers, replays, short
from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.ours import default, plain_t
from benchmarks.honesty.table_text import percent, table
from steelyard.version import __version__

PART = "causes"
N = 20


def _own_items(kind):
    return replace(kind, own_items=True)


# How the kind is changed.
VARIANTS = {"as it is": None, "each system on its own items": _own_items}
CHOSEN = tuple(kind for kind in KINDS if kind.name in ("skewed", "curved"))


def cells(runs):
    """What there is to do: a key, how many runs, the version, and the work."""
    for kind in CHOSEN:
        key = {"part": PART, "cell": kind.name, "n": N, "who": "steelyard"}
        yield key | {"runs": runs, "seed": SEED, "version": __version__}, (cell, kind, runs)


def cell(kind, runs):
    """Counts of every variant."""
    return {"ways": {name: _counted(kind, runs, change) for name, change in VARIANTS.items()}}


def _counted(kind, runs, change):
    drawn = list(replays(kind if change is None else change(kind), N, runs))
    found = Answers.of(drawn, [default(one) for one in drawn])
    plain = Answers.of(drawn, [[plain_t(one) for one in draw] for draw in drawn])
    _, low, high = np.moveaxis(found.about, -1, 0)
    spreads = np.array([[one.system.human.std() for one in draw] for draw in drawn])
    widest = spreads == spreads.max(axis=1, keepdims=True)
    held = (low <= 0) & (high >= 0)
    return found.counted(plain) | {
        "above": short((high < 0).mean()),
        "below": short((low > 0).mean()),
        "widest": short(held[widest].mean()),
        "others": short(held[~widest].mean()),
    }


def causes(results):
    """Coverage and width of every variant, on which side the truth lies, and for whom."""
    body = [
        [
            record["cell"],
            way,
            percent(one["coverage"], one["coverage_se"]),
            f"{one['width_ratio']:.3f}",
            percent(one["above"]),
            percent(one["below"]),
            percent(one["widest"]),
            percent(one["others"]),
        ]
        for record in results.of(PART)
        for way, one in record["ways"].items()
    ]
    head = ["kind", "default", "coverage, %", "width", "truth above, %", "truth below, %"]
    head += ["coverage of the system with most spread", "of the others"]
    return table(head, body)
