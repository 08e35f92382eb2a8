"""How many judgments a confidence sequence still needs."""

import math

from steelyard.design.sequence import ConfidenceSequence, SequenceOptions
from steelyard.design.sequence.asymptotic import LEAST_JUDGMENTS

__all__ = ["expected_units", "tells_nothing"]

# Of the running intersection, by simulation of Brownian motion: the mean moment at which it reaches
# the goal is 0.85, 0.80, 0.77 and 0.73 of that of the formula at levels 99, 95, 90 and 80%.
_GAIN = 0.55


def expected_units(sequence: ConfidenceSequence, half_width: float) -> int | None:
    r"""Return how many outputs (or draws) are still to be judged until this half-width.

    Judgments count :math:`W = 1/(1/n - 1/N)` in a census, n with replacement. A bet that is tuned
    for the goal h tells a distance of :math:`(1 + W^*/W)\,h/2` at W, so that with a half-width of d
    now :math:`W^* = (2d/h - 1)\,W` are needed. The asymptotic sequence has a formula, which is solved
    for :math:`W^*`; as only what all intervals so far have in common is kept, it gets there earlier,
    after about :math:`1 - 0.55/\sqrt b` of what is missing. What rater noise adds does not fall. None when there is no interval yet, or the
    half-width lies below what noise adds.

    Parameters
    ----------
    sequence : ConfidenceSequence
        The sequence so far.
    half_width : float
        The half-width to reach; a bet must be tuned for it.
    """
    options = sequence.options
    if sequence.half_width <= half_width:
        return 0
    if tells_nothing(sequence) or sequence.contradicted:
        return None
    noise = options.noise * (options.bounds[1] - options.bounds[0])
    if half_width <= noise:
        return None
    rest = 0.0 if options.drawn_from is None else 1 / options.drawn_from
    information = 1 / (1 / sequence.n - rest)
    now, then = sequence.half_width - noise, half_width - noise
    if options.method == "asymptotic":
        times = _asymptotic_times(options, information, now, then)
    else:
        times = 2 * now / then - 1
    needed = 1 / (rest + 1 / (information * times))
    if options.method == "asymptotic" and options.drawn_from is not None:
        needed = _near_the_end(options, needed, then)
    return max(math.ceil(needed) - sequence.n, 1)


def tells_nothing(sequence: ConfidenceSequence) -> bool:
    """Whether the interval is no shorter than what the bounds alone leave open."""
    options = sequence.options
    left = 1.0 if options.drawn_from is None else 1 - sequence.n / options.drawn_from
    open_still = min(left / 2 + options.noise, 0.5) * (options.bounds[1] - options.bounds[0])
    return left > 0 and sequence.half_width >= open_still * (1 - 1e-9)


def _asymptotic_times(
    options: SequenceOptions, information: float, now: float, then: float
) -> float:
    r"""Return how many times the information of now the half-width `then` takes.

    With :math:`s = \rho^2 W` the squared half-width is :math:`\sigma^2\rho^2 q(s)`,
    :math:`q(s) = \frac{s+1}{s^2}(\log(1+s) - 2\log\alpha)`, which falls in s. The sequence is tuned such
    that s has the value b when the goal is reached; so the half-width of now tells the s of now.
    """
    doubt = -2 * math.log(options.alpha)
    best = doubt + math.log1p(doubt)

    def squared(s: float) -> float:
        return (s + 1) / s**2 * (math.log1p(s) + doubt)

    def inverse(value: float) -> float:
        low, high = -50.0, 50.0  # of log s
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if squared(math.exp(middle)) > value else (low, middle)
        return math.exp(low)

    if options.tuned_for is not None:
        at = best * information / options.tuned_for
    else:
        assert options.aim is not None
        aim = options.aim * (options.bounds[1] - options.bounds[0])
        at = inverse(squared(best) * (now / aim) ** 2)
    times = inverse(squared(at) * (then / now) ** 2) / at
    return 1 + (1 - _GAIN / math.sqrt(best)) * (times - 1)


def _near_the_end(options: SequenceOptions, needed: float, then: float) -> float:
    """Return the number where few outputs are left, and only what is certain narrows the interval."""
    assert options.drawn_from is not None
    size, (least, greatest) = options.drawn_from, options.bounds
    if needed <= size - LEAST_JUDGMENTS:
        return needed
    return max(size - LEAST_JUDGMENTS, size * (1 - 2 * then / (greatest - least)))
