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
    return pages


def _keyed(text: str) -> Markup:
    """Return a text in which what stands in backticks looks like a key."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<kbd>{}</kbd>").format(part) if place % 2 else part
        for place, part in enumerate(parts)
    )
