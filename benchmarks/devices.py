"""Whether a device that is on by default makes anything worse. Behind docs/decisions/0008.

    python -m benchmarks.devices [leniency] [control] ... [RUNS]

For each device and many kinds of campaigns: the squared error with the device over that without it, all else as by
default, in the same campaigns. For intervals also coverage, width, and their score: the length of an interval plus 40 times what
the truth lies outside of it (for 95%), which a device must not raise either. Every campaign is of a world of its own. Standard errors are over campaigns.
A cell is marked if its ratio is above 1.02 by more than two standard errors.
"""

import sys
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks.device_worlds import RATERS, Kind, made, papers
from steelyard.errors import NotEstimableError
from steelyard.estimate.controlled import controlled
from steelyard.estimate.lent import Lent
from steelyard.estimate.options import Options
from steelyard.estimate.result import Ends
from steelyard.estimate.together import Together

ADJUSTED = Options(raters_as="adjusted")
WORSE = 1.02
# Intervals are made in every fourth campaign.
EVERY = 4
NONE = Ends(standard_error=0.0, low=0.0, high=0.0)


def estimates(together, ends):
    """Estimate, low and high of each system, (k, 3); without ends, which take most of the time, estimates only."""
    with nullcontext() if ends else patch.object(Lent, "ends", return_value=NONE):
        found = [together.estimate({number: 1.0}) for number in range(len(together.samples))]
    return np.array([(one.estimate, one.low, one.high) for one in found])


def leniency(systems, ends):
    """Leniency of raters taken out, and left in."""
    together = Together.of(systems, controlled(systems).samples, ADJUSTED, 0)
    if together.options.raters_as == "adjusted":
        left_in = replace(together, options=replace(ADJUSTED, raters_as="random"))
        return estimates(together, ends), estimates(left_in, ends)
    found = estimates(together, ends)
    return found, found


def ratio(ours, other):
    """The mean of ours over that of the other, with its standard error over campaigns (the rows)."""
    ours, other = (
        ours.reshape(len(ours), -1).mean(axis=1),
        other.reshape(len(other), -1).mean(axis=1),
    )
    found = ours.mean() / other.mean()
    return found, (ours - found * other).std(ddof=1) / np.sqrt(len(ours)) / other.mean()


def told(found):
    """A ratio as it is printed; marked if it is clearly above what is allowed."""
    value, doubt = found
    return f"{value:.3f} ± {doubt:.3f}{' **worse**' if value - 2 * doubt > WORSE else ''}"


def scored(ends):
    """Length and what the truth is missed by, (runs, k), of ends around the truth."""
    low, high = ends[..., 1], ends[..., 2]
    return high - low + 40 * (np.maximum(low, 0) + np.maximum(-high, 0))


class Seen:
    """Estimates and intervals of two ways around the truth, over the spread of the system."""

    def __init__(self):
        self.found, self.with_ends = defaultdict(list), []

    def add(self, campaign, ways, ends):
        self.with_ends.append(ends)
        for way, own in zip(("with", "without"), ways, strict=True):
            for truth in ("truth", "by_these"):
                around = (own - getattr(campaign, truth)[:, np.newaxis]) / campaign.scale[
                    :, np.newaxis
                ]
                self.found[way, truth].append(around)

    def around(self, truth="truth", systems=slice(None)):
        return [np.array(self.found[way, truth])[:, systems] for way in ("with", "without")]

    def errors(self, **where):
        """The ratio of squared errors."""
        return ratio(*(one[..., 0] ** 2 for one in self.around(**where)))

    def row(self):
        ours, other = (one[self.with_ends] for one in self.around())
        held = [np.mean((one[..., 1] <= 0) & (one[..., 2] >= 0)) for one in (ours, other)]
        width = np.mean(ours[..., 2] - ours[..., 1]) / np.mean(other[..., 2] - other[..., 1])
        cells = [
            told(self.errors()),
            told(self.errors(truth="by_these")),
            f"{held[1]:.3f} to {held[0]:.3f}",
            f"{width:.3f}",
            told(ratio(scored(ours), scored(other))),
        ]
        return " | ".join(cells)


HEAD = "| systems | n | scores | metrics | raters | error, raters at large | error, these raters | coverage | width | interval score |"


def seen(device, make, runs, seed):
    found = Seen()
    for run in range(runs):
        campaign = make(np.random.default_rng([seed, run]))
        try:
            ends = run % EVERY == 0
            ways = device(campaign.systems, ends)
        except NotEstimableError:
            continue
        found.add(campaign, ways, ends)
    return found


def kinds_of_raters():
    for k in (4, 2, 12):
        for n in (10, 20, 50, 200):
            for raters in RATERS:
                yield Kind(k, n, raters=raters)
    for shape in ("skewed", "ceiling", "binary", "ties", "unequal"):
        for n in (10, 20, 50):
            for raters in ("a few busy", "ten"):
                yield Kind(4, n, shape, raters=raters)
    for metrics in ("none", "good", "many"):
        for n in (20, 50):
            yield Kind(4, n, "normal", metrics, "a few busy")


def main_leniency(runs):
    print(HEAD)
    print("|---" * 10 + "|")
    for prompt, drawn in papers().items():
        for n in (10, 20, 50, 150):
            count = runs if n < 100 else runs // 4
            found = seen(leniency, lambda rng, n=n, drawn=drawn: drawn(n, rng), count, n)
            print(f"| 4 | {n} | {prompt} | seven | the paper's | {found.row()} |", flush=True)
            each = [told(found.errors(systems=slice(j, j + 1))) for j in range(4)]
            print(f"| | | each system | | | {' / '.join(each)} |", flush=True)
    for kind in kinds_of_raters():
        count = runs if kind.k * kind.n < 400 else max(runs // 4, 2)
        found = seen(leniency, lambda rng, kind=kind: made(kind, rng), count, kind.n)
        print(f"| {kind} | {found.row()} |", flush=True)
        if kind.shape == "unequal":
            print(f"| | | widest system | | | {told(found.errors(systems=slice(-1, None)))} |")


if __name__ == "__main__":
    main_leniency(int(sys.argv[1]) if sys.argv[1:] else 400)
