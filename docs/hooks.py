"""Formulas become MathML when the site is built, so that a page needs no script to show them."""

import html
import re

from latex2mathml.converter import convert

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
# docstrings are written for numpydoc
_ROLE = re.compile(r":math:<code>(.*?)</code>", re.DOTALL)
_DIRECTIVE = re.compile(r"<p>\.\. math:: (.*?)</p>", re.DOTALL)


def on_page_content(content, **_):
    """Convert every formula of a page."""
    for pattern in (_INLINE, _ROLE):
        content = pattern.sub(lambda found: _mathml(found[1], "inline"), content)
    for pattern in (_BLOCK, _DIRECTIVE):
        content = pattern.sub(lambda found: _mathml(found[1], "block"), content)
    return content


def _mathml(formula, display):
    return convert(html.unescape(formula).strip(), display=display)
