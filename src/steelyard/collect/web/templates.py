"""The templates of the pages."""

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

__all__ = ["templates"]


def templates() -> Environment:
    """Return the templates, in which everything is escaped."""
    pages = Environment(
        loader=PackageLoader("steelyard.collect"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    pages.filters["keyed"] = _keyed
    pages.filters["sentence"] = _sentence
    return pages


def _sentence(text: str) -> str:
    """Return a message as a page shows it: with a capital and a full stop.

    Examples
    --------
    >>> _sentence("you have taken part already"), _sentence("Thank you.")
    ('You have taken part already.', 'Thank you.')
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text[-1:] in {*".!?:", ""} else ".")


def _keyed(text: str) -> Markup:
    """Return a text in which what stands in backticks looks like a key."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<kbd>{}</kbd>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )
