"""Names that nobody can guess, and the orders that follow from them."""

import secrets
from hashlib import sha256

__all__ = ["MODULUS", "new_id", "salt"]

# A prime below 2^31: the product of two salts is a whole number of 64 bits in any database.
MODULUS = 2_147_483_647


def new_id() -> str:
    """Return a random name of 128 bits that can stand in an address."""
    return secrets.token_urlsafe(16)


def salt(name: str) -> int:
    """Return a number from 1 to `MODULUS` - 1 that a name always has.

    The order of units for a rater is that of ``salt(unit) * salt(rater) % MODULUS``, which a
    database can compute.

    Examples
    --------
    >>> salt("ann") == salt("ann"), salt("ann") == salt("bob")
    (True, False)
    """
    digest = sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % (MODULUS - 1) + 1
