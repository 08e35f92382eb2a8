"""Numbers as people read them."""

import math
from collections.abc import Iterable

__all__ = [
    "ALPHA",
    "GAMMA",
    "RHO",
    "count",
    "decimals_for",
    "interval",
    "level_name",
    "number",
    "p_value",
    "percent",
    "signed",
    "span",
]

# By name, because they look like Latin letters.
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
GAMMA = "\N{GREEK SMALL LETTER GAMMA}"
RHO = "\N{GREEK SMALL LETTER RHO}"

_MINUS = "\N{MINUS SIGN}"
_UNKNOWN = "\N{EN DASH}"


def decimals_for(widths: Iterable[float], *, digits: int = 2) -> int:
    """Return how many decimals show the median of these widths with so many digits.

    Parameters
    ----------
    widths : iterable of float
        Half-widths of intervals; those that are not positive and finite are left out.
    digits : int
        Significant digits of the median.

    Examples
    --------
    >>> decimals_for([0.075, 0.08]), decimals_for([3.2]), decimals_for([])
    (3, 1, 3)
    """
    known = sorted(width for width in widths if 0 < width < math.inf)
    if not known:
        return 3
    return min(max(digits - 1 - math.floor(math.log10(known[len(known) // 2])), 0), 9)


def number(value: float | None, decimals: int = 2) -> str:
    """Return a number with a fixed count of decimals and a true minus sign.

    Examples
    --------
    >>> number(1234.56, 1), number(float("inf")), number(-0.001)
    ('1,234.6', '∞', '0.00')
    """
    if value is None or math.isnan(value):
        return _UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = f"{value:,.{decimals}f}"
    # A rounded zero has no sign.
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", _MINUS)


def signed(value: float, decimals: int) -> str:
    """Return a difference with its sign.

    Examples
    --------
    >>> signed(0.125, 2), signed(-0.001, 2)
    ('+0.12', '0.00')
    """
    text = number(value, decimals)
    return f"+{text}" if value > 0 and text.strip("0.,") else text


def interval(low: float, high: float, decimals: int = 2) -> str:
    """Return an interval for a table.

    Examples
    --------
    >>> interval(0.28, 0.433, 3)
    '[0.280, 0.433]'
    """
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def span(low: float, high: float, decimals: int = 2) -> str:
    """Return an interval for a sentence.

    Examples
    --------
    >>> span(0.28, 0.433, 3)
    '0.280 to 0.433'
    """
    return f"{number(low, decimals)} to {number(high, decimals)}"


def p_value(value: float) -> str:
    """Return a p-value.

    Examples
    --------
    >>> p_value(0.0412), p_value(2e-9)
    ('0.041', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def percent(share: float) -> str:
    """Return a share in whole percent.

    Examples
    --------
    >>> percent(0.123)
    '12%'
    """
    return f"{100 * share:.0f}%".replace("-", _MINUS)


def level_name(level: float) -> str:
    """Return a confidence level in percent, with as many digits as it needs.

    Examples
    --------
    >>> level_name(0.95), level_name(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.10g}%"


def count(size: int, noun: str) -> str:
    """Return a count with its noun, in the plural but for one.

    Examples
    --------
    >>> count(1, "system"), count(1200, "output")
    ('1 system', '1,200 outputs')
    """
    return f"{size:,} {noun}{'' if size == 1 else 's'}"
