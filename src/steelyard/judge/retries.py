"""How long to wait before asking again."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import numpy as np

__all__ = ["back_off", "requested_wait"]

_FIRST = 0.5
_LONGEST = 30.0


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


def requested_wait(header: str | None, *, date: str | None = None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks to wait.

    Parameters
    ----------
    header : str or None
        Seconds, or a date (RFC 9110, section 10.2.3).
    date : str, optional
        The ``Date`` header of the same response, so that clocks need not agree.

    Returns
    -------
    float or None
        None if there is no such wish, or it cannot be read.

    Examples
    --------
    >>> requested_wait("7")
    7.0
    >>> requested_wait("Mon, 02 Jan 2023 00:00:05 GMT", date="Mon, 02 Jan 2023 00:00:00 GMT")
    5.0
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        then = _moment(header)
        if then is None:
            return None
        now = _moment(date) or datetime.now(UTC)
        return max(0.0, (then - now).total_seconds())
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
