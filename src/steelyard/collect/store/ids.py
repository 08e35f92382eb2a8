"""Names that nobody can guess, and the orders and sides that follow from them."""

import secrets
from hashlib import sha256

__all__ = ["MODULUS", "is_swapped", "new_id", "salt", "screen_order"]

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


def is_swapped(lease: str) -> bool:
    """Whether the two sides of a pair change places before this lease's rater.

    Examples
    --------
    >>> sum(is_swapped(str(number)) for number in range(1000))
    502
    """
    return sha256(b"side" + lease.encode()).digest()[0] % 2 == 1


def screen_order(lease: str, count: int) -> tuple[int, ...]:
    """Return the numbers of the outputs on a screen, in the order in which this lease's rater sees them.

    Examples
    --------
    >>> screen_order("one", 3), screen_order("two", 3)
    ((2, 1, 3), (3, 2, 1))
    """
    lots = [sha256(f"place {number} {lease}".encode()).digest() for number in range(1, count + 1)]
    return tuple(sorted(range(1, count + 1), key=lambda number: lots[number - 1]))
