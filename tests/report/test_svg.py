import re
import xml.etree.ElementTree as ET

from matplotlib.figure import Figure

from steelyard.plots.style import named, styled
from steelyard.report.svg import inline_svg


def figure(title: str) -> Figure:
    with styled():
        made = Figure(figsize=(3, 2), layout="constrained")
        axes = made.add_subplot()
        axes.plot([1, 2, 3], [1, 3, 2], marker="o")
        axes.bar([1, 2], [1, 2], hatch="//")
        axes.set_title(title)
    return made


def test_the_same_figure_gives_the_same_markup():
    first = inline_svg(figure("t"), name="a", label="l")
    assert first == inline_svg(figure("t"), name="a", label="l")


def test_texts_from_data_are_escaped_and_otherwise_kept():
    title = '<script>alert(1)</script> $x$ & id="y"'
    markup = inline_svg(figure(title), name="a", label='"<l>"')
    assert "<script" not in markup
    root = ET.fromstring(markup)  # noqa: S314  (our own drawing)
    assert title in [text.text for text in root.iter("text")]
    assert root.get("aria-label") == '"<l>"'


def test_letters_that_our_font_lacks_are_left_to_the_readers_fonts():
    assert "日本語" in inline_svg(figure("日本語"), name="a", label="l")


def test_ids_are_the_pages_own_and_every_reference_is_met():
    one, other = (inline_svg(figure("t"), name=name, label="l") for name in ("a", "b"))
    ids = re.findall(r' id="([^"]+)"', one)
    assert ids
    assert all(name.startswith("a-") for name in ids)
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', other))
    references = re.findall(r'(?:href="|url\()#([^")]+)', one)
    assert references
    assert set(references) <= set(ids)


def test_it_takes_width_and_fonts_from_the_page_and_asks_for_nothing():
    markup = inline_svg(figure("t"), name="a", label="l")
    root = ET.fromstring(markup)  # noqa: S314  (our own drawing)
    assert root.get("role") == "img"
    assert root.get("width") is None
    assert "font-family" not in markup
    assert "http" not in markup
    assert not list(root.iter("style"))
    assert not list(root.iter("metadata"))


def test_colours_are_the_pages_own_with_a_fallback_for_pages_without():
    markup = inline_svg(figure("t"), name="a", label="l")
    assert "fill: var(--paper, #ffffff)" in markup
    assert "var(--ink, #1b2430)" in markup
    assert not re.findall(r"(?<!, )#(?:ffffff|1b2430|5b6675)", markup)


def test_a_shortened_name_shows_whole_when_pointed_at():
    made = figure("short")
    named(made.axes[0].title, 'a <long> "name"\n')
    root = ET.fromstring(inline_svg(made, name="a", label="l"))  # noqa: S314  (our own drawing)
    [group] = [one for one in root.iter("g") if one.find("title") is not None]
    assert group.find("title").text == 'a <long> "name" '
    assert "short" in [text.text for text in group.iter("text")]
