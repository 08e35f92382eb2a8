"""Why intervals are too short where scores are skewed: the default with one thing changed, on the same draws."""

from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks.honesty.drawn_cases import SEED, Answers, replays, short
from benchmarks.honesty.kinds import KINDS
from benchmarks.honesty.ours import default, plain_t
from benchmarks.honesty.table_text import percent, table
from steelyard.estimate import lent
from steelyard.estimate.borrowed import Spread
from steelyard.version import __version__

PART = "causes"
N = 20
_lent = lent.borrowed_spread


def _hardly_lent(variances, freedoms, **options):
    """What the systems know of spread, with a weight that changes nothing; the shape is still theirs."""
    found = _lent(variances, freedoms, **options)
    return Spread(found.variance, min(found.freedom, 1e-3))


def _own_items(kind):
    return replace(kind, own_items=True)


# How the kind is changed, and how the estimator is.
VARIANTS = {
    "as it is": (None, None),
    "each system on its own items": (_own_items, None),
    "no spread lent": (None, _hardly_lent),
    "no spread lent, own items": (_own_items, _hardly_lent),
}
CHOSEN = tuple(kind for kind in KINDS if kind.name in ("skewed", "curved"))


def cells(runs):
    """What there is to do: a key, how many runs, the version, and the work."""
    for kind in CHOSEN:
        key = {"part": PART, "cell": kind.name, "n": N, "who": "steelyard"}
        yield key | {"runs": runs, "seed": SEED, "version": __version__}, (cell, kind, runs)


def cell(kind, runs):
    """Counts of every variant."""
    return {"ways": {name: _counted(kind, runs, *how) for name, how in VARIANTS.items()}}


def _counted(kind, runs, change, spread):
    drawn = list(replays(kind if change is None else change(kind), N, runs))
    with patch.object(lent, "borrowed_spread", spread) if spread else nullcontext():
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
