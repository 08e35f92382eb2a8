"""The half-width of a sequence: how it came about, and how it may go on."""

import math
from dataclasses import replace

import numpy as np

from steelyard.study.expected import expected_units
from steelyard.study.monitoring import Monitored

__all__ = ["Path", "followed", "forecast", "towards"]

# Enough for a smooth line; each point of a betting sequence is a search of its own.
_POINTS = 24
_AHEAD = 12

Path = tuple[tuple[int, float], ...]


def followed(monitored: Monitored) -> Path:
    """Return half-widths by outputs judged, from the first to now."""
    times = np.unique(np.linspace(1, monitored.n, _POINTS).round().astype(np.int64))
    path = monitored.sequence.path(times[: monitored.n])
    return tuple(zip(path.judgments.tolist(), path.half_width.tolist(), strict=True))


def towards(found: Monitored, half_width: float, each: int) -> Monitored:
    """Return the same interval, on its way to another goal than it is tuned for.

    The half-width of a bet, less what rater noise adds, then falls about as the root of 1/n - 1/N.
    """
    if not found.balanced:
        return replace(found, goal=half_width, stop=False, expected_more=None)
    more = None
    if found.half_width <= half_width:
        more = 0 if found.exact or found.reaches(half_width) else each
    elif found.method == "asymptotic":
        units = expected_units(found.sequence, half_width)
        more = None if units is None else units * each
    elif found.expected_more is not None and half_width > _noise(found):
        rest, noise = _rest(found), _noise(found)
        share = ((half_width - noise) / (found.half_width - noise)) ** 2
        needed = 1 / (rest + (1 / found.n - rest) * share)
        more = max(math.ceil(needed) - found.n, 1) * each
    return replace(found, goal=half_width, stop=found.reaches(half_width), expected_more=more)


def _noise(found: Monitored) -> float:
    """What rater noise adds on either side, however many are judged."""
    options = found.sequence.options
    return float(options.noise * (options.bounds[1] - options.bounds[0]))


def _rest(found: Monitored) -> float:
    drawn_from = found.sequence.options.drawn_from
    return 0.0 if drawn_from is None else 1 / drawn_from


def forecast(monitored: Monitored, each: int) -> Path:
    r"""Return half-widths by outputs judged, from now to the goal; empty if that cannot be told.

    With :math:`W = 1/(1/n - 1/N)`, the half-width less what rater noise adds is drawn as a power
    :math:`W^{-p}`, which ends where `Monitored.expected_more` says that the goal is reached.
    """
    if not monitored.expected_more:
        return ()
    now, end = monitored.n, monitored.n + monitored.expected_more // each
    noise = _noise(monitored)
    times = np.unique(np.linspace(now, end, _AHEAD).round().astype(np.int64))
    information = 1 / np.maximum(1 / times - _rest(monitored), 1e-12)
    grown = np.log(information / information[0])
    fall = math.log((monitored.goal - noise) / (monitored.half_width - noise))
    widths = noise + (monitored.half_width - noise) * np.exp(fall * grown / grown[-1])
    return tuple(zip(times[1:].tolist(), widths[1:].tolist(), strict=True))
