"""What an endpoint says about a failure, in whichever place it says it."""

import json
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Trouble"]

# Words for "no money left": asking again, or asking anything else, does not help.
_QUOTA = ("insufficient_quota", "billing", "quota_exceeded", "insufficient_balance", "credit")
# Words for "not this text": others may be asked about. Some gateways say so with 403.
_FILTER = ("moderation", "flagged", "content_filter", "content_policy", "safety")


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failure.

    Attributes
    ----------
    status : int
        The status of HTTP, or the one that stands in the body.
    message : str
        What the endpoint says about it; empty if nothing.
    is_quota : bool
        Whether all that was paid for is used up.
    is_filtered : bool
        Whether it is about this text alone, which a filter does not let through.
    """

    status: int
    message: str
    is_quota: bool
    is_filtered: bool = False

    @classmethod
    def of(cls, status: int, content: bytes) -> Self:
        """Read the body of a response that is no success.

        Examples
        --------
        >>> Trouble.of(429, b'{"error": {"message": "You are broke", "code": "insufficient_quota"}}')
        Trouble(status=429, message='You are broke', is_quota=True, is_filtered=False)
        """
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        error = found.get("error", found) if isinstance(found, dict) else None
        quota = status == 402 or _says(_QUOTA, error)
        return cls(status, _message(error), quota, _is_filtered(error))

    @classmethod
    def within(cls, body: Any) -> Self | None:
        """Find an error in the body of a success; None if there is none.

        Examples
        --------
        >>> Trouble.within({"error": {"message": "slow down", "code": 429}})
        Trouble(status=429, message='slow down', is_quota=False, is_filtered=False)
        """
        if not isinstance(body, dict):
            return None
        choices = body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        error = body.get("error") or (first.get("error") if isinstance(first, dict) else None)
        if not error and body.get("object") == "error":
            error = body
        if not error:
            return None
        code = error.get("code") if isinstance(error, dict) else None
        try:
            status = int(code) if isinstance(code, str | int) else 500
        except ValueError:
            status = 500
        known = status if 400 <= status < 600 else 500
        return cls(known, _message(error), _says(_QUOTA, error), _is_filtered(error))


def _message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message.strip() if isinstance(message, str) else ""


def _is_filtered(error: Any) -> bool:
    return _says(_FILTER, error) or any(word in _message(error).lower() for word in _FILTER[:2])


def _says(words: tuple[str, ...], error: Any) -> bool:
    """Whether the code or the type of an error has one of these words."""
    if not isinstance(error, dict):
        return False
    said = " ".join(str(error.get(name, "")) for name in ("code", "type")).lower()
    return any(word in said for word in words)
