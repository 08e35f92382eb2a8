"""A figure as SVG that can stand inside an HTML page."""

import io
import re
import warnings
import xml.etree.ElementTree as ET

from matplotlib.figure import Figure

from steelyard.plots.style import THEME, TOOLTIP, styled

__all__ = ["inline_svg"]

# A hundredth of a point is finer than any screen or printer.
_DIGITS = re.compile(r"(?<=\.\d\d)\d+")
_FONT = re.compile(r"font-family:[^;]*;?\s*")
# "#name" in a link, "url(#name" in a style; colours are hexadecimal and stand without either.
_LINK = re.compile(r"^#|(?<=url\()#")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


def inline_svg(figure: Figure, *, name: str, label: str) -> str:
    """Return a figure as an ``<svg>`` element, the same for the same figure every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to draw.
    name : str
        Prefix of all ids inside: letters, digits and hyphens, unique in the page.
    label : str
        What the figure shows, for those who cannot see it.

    Returns
    -------
    str
        Markup without namespaces, style sheets, metadata and size, so that it takes the fonts, the
        width and the colours of the page around it. Shortened names show whole when pointed at.

    Examples
    --------
    >>> print(inline_svg(Figure(figsize=(1, 1)), name="f1", label="Nothing")[:61])
    <svg viewBox="0 0 72 72" role="img" aria-label="Nothing" stro
    """
    drawn = io.StringIO()
    with styled(), warnings.catch_warnings():
        # Letters stay letters: the reader's fonts draw them, also those that ours lack.
        warnings.filterwarnings("ignore", message=r"Glyph \d+", category=UserWarning)
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    root = ET.fromstring(drawn.getvalue())  # noqa: S314  (our own drawing)
    for element in root.iter():
        element.tag = _local(element.tag)
        _clean(element, prefix=name)
    for element in root.findall("metadata") + root.findall("defs[style]"):
        root.remove(element)
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update(
        {
            "viewBox": box,
            "role": "img",
            "aria-label": label,
            # What the style sheet said, which would have ruled over the whole page.
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
        }
    )
    return ET.tostring(root, encoding="unicode").strip()


def _clean(element: ET.Element, *, prefix: str) -> None:
    """Take away namespaces and fonts, and make ids and references to them the page's own."""
    is_target = element.tag not in {"g", "svg"}
    attributes = {_local(key): value for key, value in element.attrib.items()}
    element.attrib.clear()
    for key, value in attributes.items():
        if key == "id":
            if is_target:
                element.set(key, f"{prefix}-{value}")
            elif value.startswith(TOOLTIP):
                title = ET.Element("title")
                title.text = value.removeprefix(TOOLTIP)
                element.insert(0, title)
        elif key in {"d", "points", "transform", "x", "y"}:
            element.set(key, _DIGITS.sub("", value))
        elif key == "style":
            linked = _LINK.sub(f"#{prefix}-", _FONT.sub("", value))
            element.set(key, _COLOUR.sub(_variable, linked))
        elif key in {"fill", "stroke"}:
            element.set(key, _COLOUR.sub(_variable, value))
        elif key in {"href", "clip-path"}:
            element.set(key, _LINK.sub(f"#{prefix}-", value))
        else:
            element.set(key, value)


def _variable(colour: re.Match[str]) -> str:
    """Return the page's variable for a colour, with the colour for pages that have none."""
    name = THEME.get(colour[0])
    return f"var(--{name}, {colour[0]})" if name else colour[0]


def _local(name: str) -> str:
    return name.rpartition("}")[2]
