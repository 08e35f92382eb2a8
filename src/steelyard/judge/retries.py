"""How long to wait before asking again."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import numpy as np

__all__ = ["back_off", "exhausted_wait", "requested_wait", "shared_pause"]

_FIRST = 0.5
_LONGEST = 30.0
# Of a wait that an endpoint names: not all its clients come back at once.
_SPREAD = 0.05
# What is left of a limit, and when there will be more of it, as providers say.
_LIMITS = tuple(
    (pattern.format(kind, "remaining"), pattern.format(kind, "reset"))
    for kind in ("requests", "tokens")
    for pattern in ("x-ratelimit-{1}-{0}", "anthropic-ratelimit-{0}-{1}")
)
_DURATION = re.compile(r"(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?")
_UNITS = (3600.0, 60.0, 1.0, 0.001)


def back_off(attempt: int, *, rng: np.random.Generator) -> float:
    r"""Return a random wait: uniform between 0 and :math:`\min(30, 2^{k-1})` seconds.

    Full jitter spreads the clients of a busy server better than any fixed wait [1]_.

    Parameters
    ----------
    attempt : int
        Attempts :math:`k` made so far, less one: 0 after the first.
    rng : Generator
        Draws the wait.

    References
    ----------
    .. [1] Brooker (2015), Exponential backoff and jitter, AWS Architecture Blog.

    Examples
    --------
    >>> 0 <= back_off(3, rng=np.random.default_rng(0)) <= 4
    True
    """
    return float(rng.uniform(0, min(_LONGEST, _FIRST * 2.0 ** min(attempt, 16))))


def shared_pause(refusals: int, wait: float | None, *, rng: np.random.Generator) -> float:
    """Return how long nobody asks after a refusal.

    Parameters
    ----------
    refusals : int
        Refusals in a row before this one.
    wait : float or None
        Seconds that the endpoint asks for; a little more is waited, and after several refusals in
        a row never less than without it.
    rng : Generator
        Draws the pause.

    Examples
    --------
    >>> 7 <= shared_pause(0, 7.0, rng=np.random.default_rng(0)) <= 7.35
    True
    """
    longest = min(_LONGEST, _FIRST * 2.0 ** min(refusals, 16))
    drawn = float(rng.uniform(longest / 2, longest))
    if wait is None:
        return drawn
    named = wait * (1 + float(rng.uniform(0, _SPREAD)))
    return max(named, drawn) if refusals > 1 else named


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait.

    Parameters
    ----------
    headers : mapping
        Of the response, by names in small letters: ``retry-after-ms``, ``retry-after`` (seconds or
        a date, RFC 9110, section 10.2.3), or when a limit that is used up is set back. A date is
        compared with that of the response, so that clocks need not agree.

    Returns
    -------
    float or None
        None if there is no such wish, or it cannot be read.

    Examples
    --------
    >>> requested_wait({"retry-after": "7"})
    7.0
    >>> requested_wait({"retry-after-ms": "250", "retry-after": "1"})
    0.25
    >>> requested_wait({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"})
    360.0
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    found = _seconds(header)
    if found is None:
        found = _until(_moment(header), headers)
    return exhausted_wait(headers) if found is None else found


def exhausted_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a limit is set back of which nothing is left; None if there is none.

    Examples
    --------
    >>> exhausted_wait({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "2s"})
    """
    waits = []
    for remaining, reset in _LIMITS:
        if _seconds(headers.get(remaining)) == 0:
            text = headers.get(reset)
            found = _seconds(text)
            if found is None:
                found = _duration(text)
            waits.append(_until(_instant(text), headers) if found is None else found)
    return max((wait for wait in waits if wait is not None), default=None)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _duration(text: str | None) -> float | None:
    """Seconds of 1h2m3.5s or 20ms."""
    found = _DURATION.fullmatch(text or "")
    if found is None or not any(found.groups()):
        return None
    parts = [_seconds(part) if part else 0.0 for part in found.groups()]
    known = [part for part in parts if part is not None]
    return sum(map(float.__mul__, known, _UNITS)) if len(known) == len(parts) else None


def _instant(text: str | None) -> datetime | None:
    """A moment as in 2026-01-31T12:00:00Z."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _until(then: datetime | None, headers: Mapping[str, str]) -> float | None:
    if then is None:
        return None
    now = _moment(headers.get("date")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds())


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
