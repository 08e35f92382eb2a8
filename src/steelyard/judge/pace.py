"""One pace for all requests of a run: as fast as the endpoint accepts, and no faster."""

import asyncio
import math
from dataclasses import dataclass

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.judge.endpoint import Sleep
from steelyard.judge.retries import shared_pause

__all__ = ["Gate", "Limits", "Pace"]

# Requests under way at the start, and how many more for each reply.
_FIRST_WINDOW = 4
_GROWTH = 0.5
# After a refusal: the share of the measured rate that is tried, and how it grows with each reply:
# slowly near the limit, quicker after a while without a refusal or when little was measured.
_CAUTION = 0.95
_RECOVERY = 0.002
_CALM = 20.0
_UNSURE = 0.2
# Seconds of pauses without a single reply after which nobody would wait any longer.
_PATIENCE = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an endpoint allows in a minute; None if that is not known.

    Raises
    ------
    InvalidArgumentError
        If a limit is not positive.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        for name in ("requests_per_minute", "tokens_per_minute"):
            limit = getattr(self, name)
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise InvalidArgumentError(f"`{name}` must be positive; got {limit}")


class Pace:
    r"""When the next request may be sent, and how many may be under way.

    It knows no clock: each method is told the time. After a refusal nobody sends until the pause
    is over. With :math:`n` requests that were not refused since the last pause ended at
    :math:`t_0`, and :math:`t_1` the end of the new one, the rate becomes
    :math:`0.95\, n / (t_1 - t_0)`; pauses that follow each other without a reply are one. The :math:`k`-th reply after it lets it grow by the share
    :math:`0.002\,(1 + (k/20)^2) + 0.2/n^2`.

    Parameters
    ----------
    most : int
        Requests under way at a time, at most.
    rng : Generator
        Draws pauses that the endpoint does not name.
    limits : Limits, optional
        What is known beforehand.

    Attributes
    ----------
    window : int
        Requests that may be under way now.
    pauses : int
        Pauses so far: who waited while it grew has to look again.
    """

    def __init__(
        self,
        *,
        most: int,
        rng: np.random.Generator,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits()
        self.pauses = 0
        self._most = most
        self._rng = rng
        self._open = float(min(_FIRST_WINDOW, most))
        self._least = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._per_token = 60.0 / limits.tokens_per_minute if limits.tokens_per_minute else 0.0
        self._interval = self._least
        self._next = self._next_by_tokens = self._cut = -math.inf
        self._start = math.nan
        self._sent = self._refused = self._refusals = self._replies = 0
        self._before: tuple[float, int] | None = None
        self._waited = 0.0

    @property
    def window(self) -> int:
        """Requests that may be under way now: one while nothing is accepted."""
        return 1 if self._refusals > 1 else int(self._open)

    @property
    def is_hopeless(self) -> bool:
        """Whether so many pauses went by without a reply that more would not help."""
        return self._waited > _PATIENCE

    def delay(self, now: float) -> float:
        """Return the seconds until the next request may be sent."""
        return max(0.0, self._next - now, self._next_by_tokens - now)

    def sent(self, at: float, tokens: float) -> None:
        """Count a request of about so many tokens."""
        if math.isnan(self._start):
            self._start = at
        self._sent += 1
        self._next = at + self._interval
        self._next_by_tokens = max(at, self._next_by_tokens) + tokens * self._per_token

    def answered(self, *, more_tokens: float = 0.0) -> None:
        """Count a request that was not refused, and the tokens that it took beyond those counted."""
        self._refusals = 0
        self._waited = 0.0
        self._open = min(float(self._most), self._open + _GROWTH)
        self._replies += 1
        growth = _RECOVERY * (1 + (self._replies / _CALM) ** 2)
        if self._before is not None:
            growth += _UNSURE / max(self._before[1], 1) ** 2
        self._interval = max(self._least, self._interval / (1 + growth))
        self._next_by_tokens += more_tokens * self._per_token

    def hold(self, now: float, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._next = max(self._next, now + seconds)
        self.pauses += 1

    def refused(self, now: float, *, sent: float, wait: float | None) -> None:
        """Slow down after a refusal.

        Parameters
        ----------
        now, sent : float
            When the refusal came, and when its request was sent.
        wait : float or None
            Seconds that the endpoint asks to wait.
        """
        if sent <= self._cut:
            # an echo of the refusal that cut the pace already
            if self._before is not None:
                self._before = (self._before[0], self._before[1] - 1)
                self._interval = self._measured()
            if wait is not None:
                self.hold(now, wait)
            return
        pause = shared_pause(self._refusals, wait, rng=self._rng)
        self._refusals += 1
        self._refused += 1
        self._waited += pause
        seconds, accepted = now + pause - self._start, self._sent - self._refused
        if accepted < 1 and self._before is not None:
            # refused again at once: the limit of a window, of which this pause is a part too
            seconds, accepted = self._before[0] + seconds, self._before[1]
        self._before = (seconds, accepted)
        self._interval = self._measured()
        self._cut = now
        self._start = self._next = now + pause
        self._sent = self._refused = self._replies = 0
        self.pauses += 1

    def _measured(self) -> float:
        """Seconds between two requests, by what was accepted before the last pause."""
        if self._before is None or self._before[1] < 1:
            return self._interval
        seconds, count = self._before
        return max(self._least, seconds / count / _CAUTION)


class Gate:
    """Lets requests through one after the other, at a pace.

    Parameters
    ----------
    pace : Pace
        When and how many.
    sleep : callable
        Waits some seconds.
    """

    def __init__(self, pace: Pace, *, sleep: Sleep) -> None:
        self._pace = pace
        self._sleep = sleep
        self._turnstile = asyncio.Lock()
        self._room = asyncio.Event()
        self._under_way = 0

    async def enter(self, tokens: float) -> float:
        """Wait until a request of about so many tokens may be sent; return the time."""
        async with self._turnstile:
            while True:
                seen = self._pace.pauses
                delay = self._pace.delay(_now())
                at = _now() + delay
                if delay > 0:
                    await self._sleep(delay)
                while self._under_way >= self._pace.window:
                    self._room.clear()
                    await self._room.wait()
                if self._pace.pauses == seen:
                    break
            at = max(at, _now())
            self._pace.sent(at, tokens)
            self._under_way += 1
            return at

    def leave(self) -> None:
        """Count a request that is no longer under way."""
        self._under_way -= 1
        self._room.set()


def _now() -> float:
    return asyncio.get_running_loop().time()
