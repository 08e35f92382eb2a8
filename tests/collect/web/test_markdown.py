"""What raters see of markdown: the structure that CommonMark gives it, and nothing that runs."""

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from steelyard.collect.web.formulas import formula_at
from steelyard.markdown import is_markdown, markdown_tree, tree_html

from .markdown_corpus import CONSTRUCTS, corpus

PLAIN = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable(
    ["table", "strikethrough"]
)


class Reference(HTMLParser):
    """Reads HTML into tags and texts; attributes only where they say what is shown."""

    def __init__(self, html):
        super().__init__()
        self.open = [["root", {}]]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        kept = {name: value for name, value in attrs if name in {"start", "src"}}
        self.open[-1].append([tag, kept])
        if tag not in {"br", "hr", "img"}:
            self.open.append(self.open[-1][-1])

    def handle_endtag(self, tag):
        if tag not in {"br", "hr", "img"}:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.open[-1].append(data)

    @property
    def nodes(self):
        return squeezed(self.open[0][2:])


def squeezed(nodes, *, code=False):
    """Return nodes without the spaces that HTML does not show."""
    joined = []
    for node in nodes:
        if isinstance(node, str) and joined and isinstance(joined[-1], str):
            joined[-1] += node
        else:
            joined.append(node)
    found = []
    for node in joined:
        if isinstance(node, str):
            text = node.removesuffix("\n") if code else " ".join(node.split())
            if text:
                found.append(text)
        else:
            tag, kept, *children = node
            found.append([tag, kept, *squeezed(children, code=tag in {"code", "pre"})])
    return found


def as_html_has_it(nodes):
    """Return our tree with the tags that markdown-it writes for the same."""
    found = []
    for node in nodes:
        if isinstance(node, str):
            found.append(node)
            continue
        tag, attributes, *children = node
        name = attributes.get("class", "")
        if tag == "div":
            found += as_html_has_it(children)
        elif name == "address":
            continue
        else:
            tag = "a" if name == "link" else f"h{name[-1]}" if "heading" in name else tag
            kept = {key: value for key, value in attributes.items() if key in {"start", "src"}}
            found.append([tag, kept, *as_html_has_it(children)])
    return found


def structure(text):
    return squeezed(as_html_has_it(markdown_tree(text, picture=lambda address: address)))


@pytest.mark.parametrize("first", range(len(CONSTRUCTS)), ids=CONSTRUCTS)
def test_a_text_has_the_structure_that_commonmark_gives_it(first):
    for text in corpus(360)[first :: len(CONSTRUCTS)]:
        assert structure(text) == Reference(PLAIN.render(text)).nodes


@pytest.mark.skipif("COMMONMARK_SPEC" not in os.environ, reason="names CommonMark's spec.json")
def test_examples_of_commonmark_are_read_as_it_says():
    examples = json.loads(Path(os.environ["COMMONMARK_SPEC"]).read_text("utf-8"))
    wrong = []
    for one in examples:
        text, has_html = one["markdown"], MarkdownIt("commonmark", {"html": True})
        if has_html.render(text) != MarkdownIt("commonmark", {"html": False}).render(text):
            continue  # raw HTML stays text
        if structure(text) != Reference(one["html"]).nodes:
            wrong.append(one["example"])
    assert len(wrong) <= 0.01 * len(examples), wrong


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("1. a\n\n2. b\n\n3. c", "<ol><li><p>a</p></li><li><p>b</p></li><li><p>c</p></li></ol>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- a\n  - b\n    - c", "<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li></ul>"),
        ("1. a\n\n   ```\n   x\n   ```\n2. b", "<ol><li><p>a</p><pre><code>x</code></pre></li><li><p>b</p></li></ol>"),
        (r"\*a\* _em_ ***x*** ~~y~~ &amp;", "<p>*a* <em>em</em> <em><strong>x</strong></em> <s>y</s> &amp;</p>"),
        ("a | b\n--|--\n1 | 2\n3 | 4", "<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table></div>"),
        ("    indented", "<pre><code>indented</code></pre>"),
        ("[a](https://b.org) <https://c.org>", "<p><span>a<span> (https://b.org)</span></span> <span>https://c.org</span></p>"),
        ("![a map](x.png)", "<p>[a map]</p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
    ],
)  # fmt: skip
def test_what_the_rater_sees(text, html):
    assert (
        re.sub(r' (dir|class|tabindex|scope)="[^"]*"', "", tree_html(markdown_tree(text))) == html
    )


@pytest.mark.parametrize(
    "text",
    [
        "- so $x_1 * y_1$ and *z*",
        "1. First:\n   $$\n   a\n   + b\n   $$\n2. Second",
        "> \\[ a_1 + a_2 \\]",
        "- \\(a_1\\)",
        "| a | b |\n|---|---|\n| $x_1$ | *y* |",
    ],
)
def test_formulas_stay_in_the_lists_and_tables_that_hold_them(text):
    html = tree_html(markdown_tree(text, formula=formula_at))
    inside = re.search(r"<(li|blockquote|td)[^>]*>((?!</\1>).)*<math.*?</math>", html, re.DOTALL)
    assert inside
    assert html.count("<math") == 1
    assert html.count("<li") == text.count("\n2.") + (text[0] in "-1")


@pytest.mark.parametrize(
    ("text", "way"), [("- نقطة", {"dir": "rtl"}), ("1. *1* ab", {}), ("- 1", {})]
)
def test_a_list_is_written_the_way_of_its_first_letter(text, way):
    assert markdown_tree(text)[0][1] == way


def test_prices_and_code_are_no_formulas():
    html = tree_html(markdown_tree("$5 or `$x$` for $6", formula=formula_at))
    assert "<math" not in html
    assert "<code>$x$</code>" in html


@given(st.text(alphabet="*_`~#>-+1.|[]()!<&\\$\n a", max_size=80))
def test_nothing_that_a_text_says_runs_or_leads_away(text):
    def tags(nodes):
        for node in nodes:
            if not isinstance(node, str):
                yield node[0]
                yield from tags(node[2:])

    nodes = markdown_tree(text, formula=formula_at)
    assert set(tags(nodes)).isdisjoint({"a", "img", "script", "iframe", "style", "form"})


def test_markdown_is_known_by_its_signs():
    assert is_markdown(["plain"] * 49 + ["# A heading"])
    assert not is_markdown(["plain"] * 99 + ["# A heading"])
    assert is_markdown(["a | b\n---|---\n1 | 2"])
    assert not is_markdown(["2 * 3", "a_b_c", "- one line", "3. Platz", "5 - 4 - 3", "x [1] (2)"])
    assert not is_markdown([])
