"""Whether a device that is on by default makes anything worse. Behind docs/decisions/0008.

    python -m benchmarks.devices [DEVICE ...] [PERCENT] [only=TEXT]

For each device and many kinds of campaigns: the squared error with the device over that without it, all else as by
default, in the same campaigns. The truth is the mean by raters at large, and beside it that by the raters of this campaign. For intervals coverage, width, and
their score: the length of an interval plus 40 times what the truth lies outside of it, which is least for an honest 95%
interval, so that a device must not raise it either. Every campaign is of a world of its own. Standard errors are over campaigns. A
cell is marked if its ratio is above 1.02 by more than two standard errors. PERCENT of the usual number of campaigns are made, and with "only" of the kinds
whose row has this text, such as "only=| 10 |" or "only=hter".
"""

import sys
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks import device_texts
from benchmarks.device_kinds import KINDS
from steelyard.errors import NotEstimableError
from steelyard.estimate import compared_judgments
from steelyard.estimate.controlled import controlled
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.lent import Lent
from steelyard.estimate.options import Options
from steelyard.estimate.pair_tails import PairTails
from steelyard.estimate.result import Ends
from steelyard.estimate.together import Together

ADJUSTED, RANDOM, FIXED = (Options(raters_as=one) for one in ("adjusted", "random", "fixed"))
WORSE = 1.02
# Where a device changes estimates, intervals are made in every fourth campaign: they take most of the time.
EVERY = 4
NONE = Ends(standard_error=0.0, low=0.0, high=0.0)


def options_of(systems):
    """The default: raters as a sample, leniency taken out, where they are known."""
    return FIXED if systems[0].raters is None else ADJUSTED


def together_of(systems):
    return Together.of(systems, controlled(systems).samples, options_of(systems), 0)


def estimates(together, ends):
    """Estimate, low and high of each system, (k, 3); estimates only, without ends."""
    with nullcontext() if ends else patch.object(Lent, "ends", return_value=NONE):
        found = [together.estimate({number: 1.0}) for number in range(len(together.samples))]
    return np.array([(one.estimate, one.low, one.high) for one in found])


def without_metrics(systems):
    return [replace(one, metric=one.metric[:, :0], pool=None) for one in systems]


def leniency(systems, ends):
    """Leniency of raters taken out, and left in."""
    together = together_of(systems)
    if together.options.raters_as != "adjusted":
        raise NotEstimableError("raters are seen as fixed")
    left_in = replace(together, options=RANDOM)
    return estimates(together, ends), estimates(left_in, ends)


def control(systems, ends):
    """Metrics used, and not."""
    return tuple(estimates(together_of(one), ends) for one in (systems, without_metrics(systems)))


def borrowed(systems, _):
    """Spread and shape lent by the other systems, and each system's own."""
    together = together_of(systems)
    return estimates(together, ends=True), estimates(
        replace(together, lent=together.lent.alone()), ends=True
    )


def differences(systems, options=None):
    """Difference, low and high of the first system and the second, of the third and the fourth, and so on.

    One at a time, since their intervals all together take most of the time.
    """
    size, every = systems[0].draw.pool_size, np.ones(systems[0].sample.n_outputs, dtype=bool)
    shared, options = [Shared(size, 0, (every, every))], options or options_of(systems)
    found = [
        campaign_differences(systems, [pair], shared, options=options)[0]
        for pair in pairs_of(len(systems))
    ]
    for one in found:
        if isinstance(one, NotEstimableError):
            raise one
    return np.array([(one.difference, one.low, one.high) for one in found])


def pairs_of(k):
    return [(one, one + 1) for one in range(0, k - 1, 2)]


def pair_leniency(systems, _):
    return differences(systems), differences(systems, RANDOM)


def pair_control(systems, _):
    return differences(systems), differences(without_metrics(systems))


def scaled_control(systems, _):
    """The control of a comparison scaled for differences, and that of the means."""
    ours = differences(systems)
    with patch.object(compared_judgments, "controlled", lambda one, **_: controlled(one)):
        return ours, differences(systems)


def pair_tails(systems, _):
    """Long tails that all pairs show, and each pair's own spread."""
    ours = differences(systems)
    with patch.object(PairTails, "of", return_value=None):
        return ours, differences(systems)


def pairing(systems, apart):
    """The same items for all systems, and items of each one's own."""
    return differences(systems), differences(apart)


def paired_error(campaign, n):
    """Squared errors of differences of plain means on the same items and on each one's own, which are known exactly."""
    a, b = np.array(pairs_of(len(campaign.human))).T
    noise = (campaign.noise[a] + campaign.noise[b]) / n
    share = 1 / n - 1 / campaign.human.shape[1]
    spread = campaign.human.var(axis=1, ddof=1)
    both = (campaign.human[a] - campaign.human[b]).var(axis=1, ddof=1)
    scale = campaign.scale[a] ** 2 + campaign.scale[b] ** 2
    return (both * share + noise) / scale, ((spread[a] + spread[b]) * share + noise) / scale


# How each device is used, and whether it is about differences.
DEVICES = {
    "leniency": (leniency, False),
    "control": (control, False),
    "borrowed": (borrowed, False),
    "pair_leniency": (pair_leniency, True),
    "pair_control": (pair_control, True),
    "scaled_control": (scaled_control, True),
    "pair_tails": (pair_tails, True),
    "pairing": (pairing, True),
}


def ratio(ours, other):
    """The mean of ours over that of the other, with its standard error over campaigns (the rows)."""
    ours, other = (np.reshape(one, (len(one), -1)).mean(axis=1) for one in (ours, other))
    if other.mean() == 0:
        return 1.0, 0.0
    found = ours.mean() / other.mean()
    return found, (ours - found * other).std(ddof=1) / np.sqrt(len(ours)) / other.mean()


def told(found):
    """A ratio as it is printed; marked if it is clearly above what is allowed."""
    value, doubt = found
    return f"{value:.3f} ± {doubt:.3f}{' **worse**' if value - 2 * doubt > WORSE else ''}"


def scored(ends):
    """Length of intervals and what they miss the truth by, of ends around it."""
    low, high = ends[..., 1], ends[..., 2]
    return high - low + 40 * (np.maximum(low, 0) + np.maximum(-high, 0))


class Seen:
    """Estimates and intervals with and without a device around the truth, over the spread of systems."""

    def __init__(self):
        self._around, self._with_ends, self.exact = defaultdict(list), [], []

    def add(self, campaign, ways, *, pairs, ends):
        """Add what a campaign shows."""
        k = len(campaign.truth)
        sides = np.array(pairs_of(k)).T if pairs else None
        scale = (
            campaign.scale
            if sides is None
            else np.sqrt(np.mean(campaign.scale[sides] ** 2, axis=0))
        )
        self._with_ends.append(ends)
        for name in ("truth", "by_these"):
            truth = getattr(campaign, name)
            truth = truth if sides is None else truth[sides[0]] - truth[sides[1]]
            for way, own in zip(("with", "without"), ways, strict=True):
                self._around[way, name].append((own - truth[:, np.newaxis]) / scale[:, np.newaxis])

    def __len__(self):
        return len(self._with_ends)

    def around(self, truth="truth"):
        return [np.array(self._around[way, truth]) for way in ("with", "without")]

    def ratios(self):
        """The ratio of squared errors by raters at large and by these, and that of the interval scores."""
        found = []
        for truth in ("truth", "by_these"):
            ours, other = (one[..., 0] ** 2 for one in self.around(truth))
            found.append(ratio(ours, other))
        if self.exact:
            found = [ratio(*np.moveaxis(np.array(self.exact), 1, 0))] * 2
        ours, other = (one[self._with_ends] for one in self.around())
        return *found, ratio(scored(ours), scored(other))

    def row(self):
        """The cells of HEAD after the kind."""
        ours, other = (one[self._with_ends] for one in self.around())
        held = [np.mean((one[..., 1] <= 0) & (one[..., 2] >= 0)) for one in (other, ours)]
        width = np.mean(ours[..., 2] - ours[..., 1]) / np.mean(other[..., 2] - other[..., 1])
        large, these, score = (told(one) for one in self.ratios())
        cover = " to ".join(f"{100 * one:.1f}" for one in held)
        return f"{large} | {these} | {cover} | {width:.3f} | {score}"

    def each(self):
        """The ratio of squared errors of each system."""
        ours, other = (one[..., 0] ** 2 for one in self.around())
        return " / ".join(told(ratio(ours[:, one], other[:, one])) for one in range(ours.shape[1]))


HEAD = "| systems | n | scores | metrics | raters | squared error, raters at large | these raters | coverage | width | interval score |"


def seen(device, kind, runs):
    """Run a device with and without in so many campaigns; those that cannot be estimated are left out."""
    measured, pairs = DEVICES[device]
    always = pairs or device == "borrowed"
    found = Seen()
    for run in range(runs):
        campaign = kind.made(np.random.default_rng([kind.n, run]))
        ends = always or run % EVERY == 0
        more = ends
        if device == "pairing":
            # The same world once more. Errors are those of plain means by raters who are alike.
            found.exact.append(paired_error(campaign, kind.n))
            more = kind.made(np.random.default_rng([kind.n, run]), same=False).systems
        try:
            ways = measured(campaign.systems, more)
        except NotEstimableError:
            continue
        if all(np.isfinite(one).all() for one in ways):
            found.add(campaign, ways, pairs=pairs, ends=ends)
    return found


def main(words=()):
    part = ([int(word) / 100 for word in words if word.isdigit()] or [1.0])[0]
    only = "".join(word.removeprefix("only=") for word in words if word.startswith("only="))
    devices = [*KINDS, "texts"]
    for device in [word for word in words if word in devices] or devices:
        print(f"\n{device}", flush=True)
        if device == "texts":
            device_texts.show(part, told=told, ratio=ratio)
            continue
        print(f"{HEAD}\n" + "|---" * 10 + "|")
        rows = []
        for kind, runs in KINDS[device]():
            if only not in f"| {kind} |":
                continue
            found = seen(device, kind, max(round(part * runs), 8))
            if not len(found):
                print(f"| {kind} | cannot be estimated |", flush=True)
                continue
            rows.append((str(kind), found.ratios()))
            print(f"| {kind} | {found.row()} |", flush=True)
            if device == "leniency" and kind.differs:
                print(f"| | | each system | | | {found.each()} |", flush=True)
        if rows:
            print(summary(rows), flush=True)


def summary(rows):
    """How many kinds there are, the least and the greatest ratio, and how many are marked."""
    lines = [f"{len(rows)} kinds"]
    for name, place in (("squared error", 0), ("interval score", 2)):
        least, most = (pick(rows, key=lambda row: row[1][place][0]) for pick in (min, max))
        marked = sum("worse" in told(found[place]) for _, found in rows)
        lines.append(
            f"{name}: {told(least[1][place])} ({least[0]}) to {told(most[1][place])} ({most[0]}), {marked} marked"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
