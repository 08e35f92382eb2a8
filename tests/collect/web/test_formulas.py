"""Formulas in texts: MathML that a page can build, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.collect.web.formulas import _ATTRIBUTES, _TAGS, mathml, with_formulas


def parts(tree):
    """Every tag and attribute of a tree."""
    tag, attributes, *children = tree
    yield tag, attributes
    for child in children:
        if not isinstance(child, str):
            yield from parts(child)


def formulas(text):
    """Return the attributes of the formulas in a text."""
    return [node[1] for node in with_formulas(text) if not isinstance(node, str)]


def test_a_fraction_is_laid_out():
    assert mathml(r"\frac{a}{b}") == [
        "math",
        {"display": "inline"},
        ["mrow", {}, ["mfrac", {}, ["mrow", {}, ["mi", {}, "a"]], ["mrow", {}, ["mi", {}, "b"]]]],
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It costs $5 or $6.", []),
        ("US$5 and A$7$", []),
        (r"a \$x\$ b", []),
        ("$x$, $y$ and $x$", ["$x$", "$y$", "$x$"]),
        ("$$x\n+ y$$", ["$$x\n+ y$$"]),
        (r"\(a\) or \[b\]", [r"\(a\)", r"\[b\]"]),
        (r"$\frac{1}$", []),  # no lower part
        (r"$\left( x$", []),
        (r"$x^2^3$", []),
    ],
)
def test_what_is_a_formula_and_what_is_a_price(text, found):
    assert [one["aria-label"] for one in formulas(text)] == found


def test_displays_are_blocks():
    shown = [one["display"] for one in formulas(r"$a$ \(b\) $$c$$ \[d\]")]
    assert shown == ["inline", "inline", "block", "block"]


@pytest.mark.parametrize(
    "source",
    [
        r"\href{javascript:window.hurt=1}{x}",
        r"\style{background:url(https://example.org)}{x}",
        r"\class{evil}{x}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\color{red;background:url(x)}{x}",
        r"\mathchoice{a}{b}{c}{d}",
    ],
)
def test_hostile_formulas_have_no_address_style_or_script(source):
    tree = mathml(source)
    for tag, attributes in parts(tree) if tree else ():
        assert tag in _TAGS
        assert attributes.keys() <= _ATTRIBUTES
        assert not any(":" in value or ";" in value for value in attributes.values())


@pytest.mark.parametrize("source", ["{" * 400 + "}" * 400, r"\sqrt" * 150, "x^" * 400, "x" * 1001])
def test_what_is_too_deep_or_long_stays_text(source):
    assert mathml(source) is None


@given(st.text(alphabet="\\{}^_&$x1+ abfrcsqtleighd[]()<>\"'=\n", max_size=60))
def test_no_text_breaks_it(source):
    tree = mathml(source)
    for tag, attributes in parts(tree) if tree else ():
        assert tag in _TAGS
        assert attributes.keys() <= _ATTRIBUTES
