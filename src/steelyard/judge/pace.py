"""One pace for all requests of a run: as fast as the endpoint accepts, and no faster."""

import asyncio
import math
import random

from steelyard.errors import InvalidArgumentError

__all__ = ["Pace"]

# Requests under way at the start, and how many more for each reply.
_FIRST_WINDOW = 4
_GROWTH = 0.5
# After a refusal: the share of the measured rate that is tried, and how it grows with each reply:
# slowly near the limit, quicker after a while without a refusal or when little was measured.
_CAUTION = 0.92
_RECOVERY = 0.002
_CALM = 30.0
_UNSURE = 0.2
# Seconds of a pause that the endpoint does not name: the first one, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# Of a wait that an endpoint names: not all its clients come back at once.
_SPREAD = 0.05
# Seconds of pauses without a single reply after which nobody would wait any longer.
_PATIENCE = 180.0


class Pace:
    r"""Lets requests through, one after the other.

    After a refusal nobody sends until the pause is over. With :math:`n` requests that were not
    refused since the last pause ended at :math:`t_0`, and :math:`t_1` the end of the new one, the rate
    becomes :math:`0.92\, n / (t_1 - t_0)`; pauses that follow each other without a reply are one. The
    :math:`k`-th reply after it lets it grow by the share :math:`0.002\,(1 + (k/30)^2) + 0.2/n^2`.

    Parameters
    ----------
    most : int
        Requests under way at a time, at most.
    requests_per_minute : float, optional
        The limit of the endpoint, if it is known.

    Raises
    ------
    InvalidArgumentError
        If one of them is not positive.
    """

    def __init__(self, *, most: int, requests_per_minute: float | None = None) -> None:
        if most < 1:
            raise InvalidArgumentError(f"`concurrency` must be at least 1; got {most}")
        limit = math.inf if requests_per_minute is None else requests_per_minute
        if not limit > 0 or requests_per_minute == math.inf:
            raise InvalidArgumentError(f"`requests_per_minute` must be positive; got {limit}")
        self._most = most
        self._open = float(min(_FIRST_WINDOW, most))
        self._least = self._interval = 60.0 / limit
        self._next = self._cut = -math.inf
        self._start = math.nan
        self._sent = self._refused = self._refusals = self._replies = 0
        # seconds and accepted requests before the last pause
        self._measured: tuple[float, int] | None = None
        self._waited = 0.0
        self._pauses = self._under_way = 0
        self._turnstile, self._room = asyncio.Lock(), asyncio.Event()

    @property
    def is_hopeless(self) -> bool:
        """Whether so many pauses went by without a reply that more would not help."""
        return self._waited > _PATIENCE

    async def enter(self) -> float:
        """Wait until a request may be sent; return the time."""
        async with self._turnstile:
            while True:
                seen = self._pauses
                at = max(self._next, _now())
                await asyncio.sleep(at - _now())
                # one at a time while nothing is accepted
                while self._under_way >= (1 if self._refusals > 1 else int(self._open)):
                    self._room.clear()
                    await self._room.wait()
                if self._pauses == seen:
                    break
            at = max(at, _now())
            self._start = at if math.isnan(self._start) else self._start
            self._sent += 1
            self._next = at + self._interval
            self._under_way += 1
            return at

    def leave(self) -> None:
        """Count a request that is no longer under way."""
        self._under_way -= 1
        self._room.set()

    def answered(self) -> None:
        """Count a request that was not refused."""
        self._refusals = 0
        self._waited = 0.0
        self._open = min(float(self._most), self._open + _GROWTH)
        self._replies += 1
        growth = _RECOVERY * (1 + (self._replies / _CALM) ** 2)
        if self._measured is not None:
            growth += _UNSURE / max(self._measured[1], 1) ** 2
        self._interval = max(self._least, self._interval / (1 + growth))

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._next = max(self._next, _now() + seconds)
        self._pauses += 1

    def refused(self, *, sent: float, wait: float | None) -> None:
        """Slow down after a refusal of a request that was sent then.

        `wait` is what the endpoint asks for, in seconds; None if it names nothing.
        """
        if sent <= self._cut:
            # an echo of the refusal that cut the pace already
            if self._measured is not None:
                self._measure(self._measured[0], self._measured[1] - 1)
            if wait is not None:
                self.hold(wait)
            return
        now, pause = _now(), self._pause(wait)
        self._refusals += 1
        self._refused += 1
        self._waited += pause
        seconds, accepted = now + pause - self._start, self._sent - self._refused
        if accepted < 1 and self._measured is not None:
            # refused again at once: the limit of a window, of which this pause is a part too
            seconds, accepted = self._measured[0] + seconds, self._measured[1]
        self._measure(seconds, accepted)
        self._cut = now
        self._start = self._next = now + pause
        self._sent = self._refused = self._replies = 0
        self._pauses += 1

    def _pause(self, wait: float | None) -> float:
        """How long nobody asks: never less than drawn after several refusals in a row."""
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(self._refusals, 16))
        drawn = random.uniform(longest / 2, longest)
        if wait is None:
            return drawn
        named = wait * random.uniform(1, 1 + _SPREAD)
        return max(named, drawn) if self._refusals > 1 else named

    def _measure(self, seconds: float, accepted: int) -> None:
        """Go by what was accepted before the last pause."""
        self._measured = (seconds, accepted)
        if accepted >= 1:
            self._interval = max(self._least, seconds / accepted / _CAUTION)


def _now() -> float:
    return asyncio.get_running_loop().time()
