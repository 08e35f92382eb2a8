"""The campaign's database: who rated what, what is to be rated next, and what is owed."""

from steelyard.collect.store.database import Reader, Store
from steelyard.collect.store.refusals import NotAcceptedError, StoreError

__all__ = ["NotAcceptedError", "Reader", "Store", "StoreError"]
