"""Formulas in LaTeX, as trees of MathML: elements without any markup that a page could run."""

import re
from functools import lru_cache
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

from steelyard.markdown import Node

__all__ = ["formula_at", "mathml", "with_formulas"]

# Between $ and $ (no spaces inside them, no word around them: prices are not formulas), $$ and $$, \( and \), \[ and \].
_FORMULA = re.compile(
    r"\$\$(?P<block>.+?)\$\$"
    r"|\\\[(?P<display>.+?)\\\]"
    r"|\\\((?P<inline>.+?)\\\)"
    r"|(?<![\\$\w])\$(?P<short>[^\s$](?:[^$\n]*?[^\s$\\])?)\$(?![\w$])",
    re.DOTALL,
)
_LONGEST, _DEEPEST = 1_000, 30
# What a layout needs below it: a fraction without its lower part is no formula.
_PARTS = dict.fromkeys(("mfrac", "msup", "msub", "mover", "munder", "mroot"), 2) | dict.fromkeys(
    ("msubsup", "munderover"), 3
)
_TAGS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "msup",
        "msub",
        "msubsup",
        "mfrac",
        "msqrt",
        "mroot",
        "mover",
        "munder",
        "munderover",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "largeop",
        "movablelimits",
        "separator",
        "symmetric",
        "accent",
        "accentunder",
        "minsize",
        "maxsize",
        "lspace",
        "rspace",
        "width",
        "height",
        "depth",
        "linethickness",
        "displaystyle",
        "scriptlevel",
        "columnalign",
        "columnspacing",
        "rowspacing",
        "columnlines",
        "rowlines",
        "notation",
    ]
)
_VALUE = re.compile(r"[A-Za-z0-9 .%+-]{1,60}")
# What a converter raises for texts that are no formulas.
_WRONG: tuple[type[Exception], ...] = (
    *(
        one
        for one in vars(exceptions).values()
        if isinstance(one, type) and issubclass(one, Exception)
    ),
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, StopIteration),
    *(TypeError, ValueError),
)

Tree = list[Any]


def formula_at(text: str, place: int) -> tuple[int, Node] | None:
    """Return where the formula that begins at a place of a text ends, and its tree; None without one.

    What cannot be read as a formula is none: it is shown as it stands.

    Examples
    --------
    >>> formula_at("It costs $5, or $6.", 9) is None
    True
    >>> formula_at("$x$", 0)
    (3, ['math', {'display': 'inline', 'aria-label': '$x$'}, ['mrow', {}, ['mi', {}, 'x']]])
    """
    found = _FORMULA.match(text, place)
    return None if found is None else _laid_out(found)


def with_formulas(text: str) -> list[Node]:
    """Return a text as texts and formulas.

    Examples
    --------
    >>> with_formulas("Is $x$ 2?")[::2]
    ['Is ', ' 2?']
    """
    parts: list[Node] = []
    begin = place = 0
    while (found := _FORMULA.search(text, place)) is not None:
        laid_out = _laid_out(found)
        if laid_out is None:
            place = found.start() + 1
            continue
        parts += [text[begin : found.start()], laid_out[1]]
        begin = place = laid_out[0]
    return [part for part in (*parts, text[begin:]) if part]


def _laid_out(found: re.Match[str]) -> tuple[int, Node] | None:
    source = next(part for part in found.groups() if part is not None)
    is_block = found["block"] is not None or found["display"] is not None
    tree = mathml(source, display="block" if is_block else "inline")
    if tree is None:
        return None
    tag, attributes, *children = tree
    return found.end(), [tag, attributes | {"aria-label": found[0]}, *children]


@lru_cache(maxsize=4_096)
def mathml(source: str, *, display: str = "inline") -> Tree | None:
    """Return a formula as lists of a tag, attributes and children; None if it cannot be read.

    Only tags and attributes that lay out formulas are let through: no address, no style, no script.
    """
    if len(source) > _LONGEST or _depth(source) > _DEEPEST:
        return None
    try:
        root = convert_to_element(source, display=display)
    except _WRONG:
        return None
    return _tree(root)


def _depth(source: str) -> int:
    depth = deepest = 0
    for letter in source:
        depth += (letter == "{") - (letter == "}")
        deepest = max(deepest, depth)
    # commands nest without braces too, as in \sqrt\sqrt\sqrt
    return max(deepest, max(map(len, re.findall(r"(?:\\[A-Za-z]+\s*)+", source)), default=0) // 12)


def _tree(element: Element) -> Tree | None:
    tag = element.tag.rpartition("}")[2]
    if tag not in _TAGS:
        return None
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _VALUE.fullmatch(value)
    }
    children: list[Any] = [unescape(element.text)] if element.text else []
    for child in element:
        part = _tree(child)
        if part is None:
            return None
        children.append(part)
    if len(element) != _PARTS.get(tag, len(element)):
        return None
    return [tag, attributes, *children]
