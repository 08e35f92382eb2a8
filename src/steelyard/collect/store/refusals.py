"""What the store refuses."""

from steelyard.errors import SteelyardError

__all__ = ["NotAcceptedError", "StoreError"]


class StoreError(SteelyardError, RuntimeError):
    """The database could not do what was asked; the message says what is known of the outcome."""


class NotAcceptedError(StoreError):
    """What was asked goes against what is stored.

    Attributes
    ----------
    code : str
        Why, in a word for a program, so that a page can answer rightly: ``not-joined`` (there is no such visit),
        ``not-found`` (no such rater), ``not-yours``, ``lease-lost``, ``already-submitted``, ``already-answered``
        or ``too-many-reports``.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
