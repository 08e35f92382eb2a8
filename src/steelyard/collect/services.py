"""How often services outside are asked."""

from dataclasses import dataclass

__all__ = ["Patience"]

_FIRST_SECONDS = 30.0
_LONGEST_SECONDS = 600.0


@dataclass
class Patience:
    """Waits longer after every failure in a row: half a minute, then twice as long, up to ten minutes.

    Examples
    --------
    >>> patience = Patience()
    >>> patience.failed(0), patience.failed(30_000), patience.is_over(60_000), patience.is_over(90_000)
    (30.0, 60.0, False, True)
    """

    failures: int = 0
    until: int = 0

    def is_over(self, now: int) -> bool:
        """Whether it is time to ask (again)."""
        return now >= self.until

    def failed(self, now: int, *, retry_seconds: float | None = None) -> float:
        """Take note of a failure; return the seconds until the next attempt."""
        seconds = _FIRST_SECONDS * 2.0 ** min(self.failures, 10)
        seconds = min(max(seconds, retry_seconds or 0.0), _LONGEST_SECONDS)
        self.failures += 1
        self.until = now + round(1_000 * seconds)
        return seconds

    def succeeded(self) -> None:
        """Take note of a success."""
        self.failures = 0
        self.until = 0
