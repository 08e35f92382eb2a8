"""truescore: its confidence sequence of the human scores, looked at after every batch."""

from loop import serve
from truescore import confidence_sequence


def stops(case):
    """Whether the interval ever missed, the labels at the end, and whether it missed there."""
    batch, goal, truth = int(case["batch"]), float(case["goal"]), float(case["truth"])
    found = confidence_sequence(case["human"], bounds=tuple(case["bounds"]))
    ever = False
    for n in range(batch, len(case["human"]) + 1, batch):
        low, high = found.lower_bounds[n - 1], found.upper_bounds[n - 1]
        missed = not low <= truth <= high
        ever |= missed
        if high - low <= 2 * goal:
            break
    return ever, n, missed


serve({"truescore confidence_sequence": stops})
