"""Amounts of money: whole numbers of millionths of the currency, and how they are written."""

__all__ = ["micro", "money_text"]


def micro(amount: float) -> int:
    """Return an amount of the currency in millionths.

    Examples
    --------
    >>> micro(0.25)
    250000
    """
    return round(amount * 1_000_000)


def money_text(amount: int) -> str:
    """Write an amount in millionths of the currency.

    Examples
    --------
    >>> money_text(1_250_000), money_text(1_005_500)
    ('1.25', '1.0055')
    """
    whole, part = divmod(amount, 1_000_000)
    return f"{whole:,}.{f'{part:06d}'.rstrip('0'):0<2}"
