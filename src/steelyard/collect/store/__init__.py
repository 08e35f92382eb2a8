"""The campaign's database: who rated what, what is to be rated next, and what is owed."""

from steelyard.collect.store.database import Reader, Store
from steelyard.collect.store.refusals import (
    AlreadySubmittedError,
    NotYoursError,
    OtherCampaignError,
    StoreError,
    TooManyReportsError,
    UnknownLeaseError,
    UnknownRaterError,
    UnknownSessionError,
)

__all__ = [
    "AlreadySubmittedError",
    "NotYoursError",
    "OtherCampaignError",
    "Reader",
    "Store",
    "StoreError",
    "TooManyReportsError",
    "UnknownLeaseError",
    "UnknownRaterError",
    "UnknownSessionError",
]
