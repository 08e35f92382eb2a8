"""What the store refuses, each with its own name so that a page can answer rightly."""

from steelyard.errors import SteelyardError

__all__ = [
    "AlreadySubmittedError",
    "NotYoursError",
    "OtherCampaignError",
    "StoreError",
    "TooManyReportsError",
    "UnknownLeaseError",
    "UnknownRaterError",
    "UnknownSessionError",
]


class StoreError(SteelyardError, RuntimeError):
    """The database could not do what was asked; the message says what is known of the outcome."""


class OtherCampaignError(StoreError):
    """The database belongs to another campaign."""


class UnknownRaterError(StoreError, LookupError):
    """There is no such rater."""


class UnknownSessionError(StoreError, LookupError):
    """There is no such session."""


class UnknownLeaseError(StoreError, LookupError):
    """There is no such lease: it is nobody's."""


class NotYoursError(StoreError):
    """The lease or session belongs to another rater."""


class AlreadySubmittedError(StoreError):
    """The unit was submitted already, under another key: the first answer stands."""


class TooManyReportsError(StoreError):
    """The rater has handed back as many texts as one may."""
