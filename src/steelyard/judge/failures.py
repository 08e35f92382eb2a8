"""What can go wrong with a question, in one vocabulary."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

from steelyard.errors import SteelyardError

__all__ = ["EndpointError", "Failure", "Kind", "failure_in", "requested_wait", "shortened"]

# Words for "no money left": asking again, or asking anything else, does not help.
_QUOTA = ("insufficient_quota", "billing", "quota_exceeded", "insufficient_balance", "credit")
# Words for "not this text": others may be asked about. Some gateways say so with 403.
_FILTER = ("moderation", "flagged", "content_filter", "content_policy", "safety")
_PASSING = frozenset({408, 409})
_WITH_WAIT = frozenset({429, 503, 529})
# Seconds: who asks for more means "not today".
_LONGEST_WAIT = 600.0
# What is left of a limit, and when there will be more of it, as providers say.
_LIMITS = tuple(
    (pattern.format(kind, "remaining"), pattern.format(kind, "reset"))
    for kind in ("requests", "tokens")
    for pattern in ("x-ratelimit-{1}-{0}", "anthropic-ratelimit-{0}-{1}")
)
_DURATION = re.compile(r"(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?")
_UNITS = (3600.0, 60.0, 1.0, 0.001)


class EndpointError(SteelyardError, ConnectionError):
    """The endpoint refuses or cannot be reached, and would again: the run was stopped."""


class Kind(Enum):
    """Whose fault it is, and what helps."""

    QUESTION = "this question alone: another may be answered"
    PASSING = "nobody's: another attempt may succeed"
    BUSY = "refused for want of room: everybody slows down"
    AWAY = "nobody is there"
    ALL = "every question would fail"


class Failure(Exception):  # noqa: N818
    """A question has no reply or no score; the message is the reason.

    What stands before the first colon of the message names the failure in summaries.

    Attributes
    ----------
    kind : Kind
        What helps.
    wait : float or None
        Seconds that the endpoint asks to wait.
    status : int or None
        Of HTTP.
    """

    def __init__(
        self,
        reason: str,
        kind: Kind = Kind.QUESTION,
        *,
        wait: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind, self.wait, self.status = kind, wait, status

    @property
    def may_pass(self) -> bool:
        """Whether another attempt may succeed."""
        return self.kind in {Kind.PASSING, Kind.BUSY, Kind.AWAY}


def failure_in(
    status: int, body: Any, headers: Mapping[str, str], *, key: str = "the key"
) -> Failure | None:
    """Return what a response says of a failure, in its status or its body; None if it is a success.

    Parameters
    ----------
    status : int
        Of HTTP.
    body : object
        Parsed as JSON; None if it is not JSON.
    headers : mapping
        Of the response, by names in small letters.
    key : str
        What is said about the key if access is refused. The endpoint's own words may quote it.

    Examples
    --------
    >>> failure_in(200, {"error": {"message": "slow down", "code": 429}}, {})
    Failure('HTTP 429: slow down')
    >>> failure_in(200, {"choices": []}, {}) is None
    True
    """
    error = _error(body, is_success=200 <= status < 300)
    if 200 <= status < 300:
        if not error:
            return None
        status = _named_status(error)
    message = error.get("message") if isinstance(error, dict) else error
    said = shortened(message) if isinstance(message, str) else ""
    reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    is_filtered = _says(_FILTER, error) or any(word in said.lower() for word in _FILTER[:2])
    kind, wait = Kind.QUESTION, requested_wait(headers) if status in _WITH_WAIT else None
    if status in {401, 403} and not is_filtered:
        kind, reason = Kind.ALL, f"HTTP {status}, access refused ({key})"
    elif status == 402 or _says(_QUOTA, error):
        kind, reason = Kind.ALL, f"{reason}: the quota is used up: raise it, or wait"
    elif status == 404:
        kind, reason = Kind.ALL, f"{reason}: correct `endpoint` or `model`"
    elif 300 <= status < 400:
        place = headers.get("location", "an address that it does not name")
        reason = f"HTTP {status}, moved to {place}: give that address as `endpoint`"
        kind = Kind.ALL
    elif wait is not None and wait > _LONGEST_WAIT:
        kind, reason = Kind.ALL, f"HTTP {status}, asks to wait {wait:,.0f} s: ask again then"
    elif status == 429:
        kind = Kind.BUSY
    elif status in _PASSING or status >= 500:
        kind = Kind.PASSING
    return Failure(reason, kind, wait=wait, status=status)


def _error(body: Any, *, is_success: bool) -> Any:
    """What the body says of an error, wherever it says it."""
    if not isinstance(body, dict):
        return None
    if not is_success:
        return body.get("error", body)
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    error = body.get("error") or (first.get("error") if isinstance(first, dict) else None)
    return error or (body if body.get("object") == "error" else None)


def _named_status(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdigit()) else 0
    return status if 400 <= status < 600 else 500


def _says(words: tuple[str, ...], error: Any) -> bool:
    """Whether the code or the type of an error has one of these words."""
    if not isinstance(error, dict):
        return False
    said = " ".join(str(error.get(name, "")) for name in ("code", "type")).lower()
    return any(word in said for word in words)


def shortened(text: str) -> str:
    """Return the beginning of a text in one line that any file can hold."""
    line = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    return line if len(line) <= 80 else f"{line[:77]}..."


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait; None if there is no such wish.

    Parameters
    ----------
    headers : mapping
        Of the response, by names in small letters: ``retry-after-ms``, ``retry-after`` (seconds or
        a date, RFC 9110, section 10.2.3), or when a limit that is used up is set back. A date is
        compared with that of the response, so that clocks need not agree.

    Examples
    --------
    >>> requested_wait({"retry-after-ms": "250", "retry-after": "1"})
    0.25
    >>> requested_wait({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"})
    360.0
    >>> requested_wait({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "2s"})
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    waits = [_wait(headers.get("retry-after", ""), headers)]
    if waits == [None]:
        waits = [
            _wait(headers.get(reset, ""), headers)
            for remaining, reset in _LIMITS
            if _seconds(headers.get(remaining, "")) == 0
        ]
    return max((wait for wait in waits if wait is not None), default=None)


def _wait(text: str, headers: Mapping[str, str]) -> float | None:
    """Seconds, a duration such as 1h2m3.5s or 20ms, or a moment."""
    seconds = _seconds(text)
    if seconds is not None:
        return seconds
    parts = _DURATION.fullmatch(text)
    if parts is not None and any(parts.groups()):
        known = [_seconds(part or "0") for part in parts.groups()]
        if None in known:
            return None
        return sum((one or 0.0) * unit for one, unit in zip(known, _UNITS, strict=True))
    moment = _moment(text)
    if moment is None:
        return None
    return max(
        0.0, (moment - (_moment(headers.get("date", "")) or datetime.now(UTC))).total_seconds()
    )


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _moment(text: str) -> datetime | None:
    for reader in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = reader(text)
        except ValueError:
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None
