"""Markdown as a tree of elements, in which nothing is markup any more, and the tree as HTML.

What people and machines write is read by CommonMark's rules, with tables and strikethrough. HTML in it
stays text, a link is its words with the address beside them, and a picture is its description unless the
caller knows the file: nothing is loaded, and nothing leads away.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, TypeAlias
from unicodedata import bidirectional
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

__all__ = ["FormulaFinder", "Node", "PictureFinder", "is_markdown", "markdown_tree", "tree_html"]

# A text, or a list of a tag, its attributes and its children; never changed once it is made.
Node: TypeAlias = "str | list[Any]"
# Returns where the formula at a place of a text ends, and its tree; None if there is none.
FormulaFinder: TypeAlias = Callable[[str, int], tuple[int, Node] | None]
# Returns the address of a picture; None if it is not one of ours.
PictureFinder: TypeAlias = Callable[[str], str | None]

# Deeper than anybody writes; what lies deeper would be left out.
_NESTING = 100
_BLANK = frozenset({"br", "hr", "img"})
_ALIGNED = re.compile(r"text-align:(left|center|right)")
_CLOSED_BY = {"$$": "$$", "\\[": "\\]"}
_TAGS = {
    "blockquote": "blockquote",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "strong": "strong",
    "em": "em",
    "s": "s",
}
# Signs that a text was written as markdown, each of which a plain text hardly has by chance.
_SIGNS = re.compile(
    r"^#{1,6} \S"  # a heading
    r"|^ {0,3}(?:```|~~~)"  # a fence
    r"|\*\*[^\s*][^*\n]*\*\*"  # strong words
    r"|^ {0,3}(?:[-*+]|\d{1,9}[.)]) \S.*\n+ *(?:[-*+]|\d{1,9}[.)]) \S"  # a list of two
    r"|^ *\|?(?: *:?-{3,}:? *\|)+ *:?-*:? *$"  # the line below the heads of a table
    r"|\[[^\]\n]+\]\(https?://[^)\s]+\)",  # a link
    re.MULTILINE,
)


def is_markdown(texts: Iterable[str], *, share: float = 0.02) -> bool:
    r"""Whether at least this share of texts, and at least one, look as if written in markdown.

    Examples
    --------
    >>> is_markdown(["First:\n\n1. wash\n2. dry"]), is_markdown(["2 * 3 = 6 - 0", "a_b_c"])
    (True, False)
    """
    signs = [_SIGNS.search(text) is not None for text in texts]
    return any(signs) and sum(signs) >= share * len(signs)


def markdown_tree(
    text: str, *, formula: FormulaFinder | None = None, picture: PictureFinder | None = None
) -> list[Node]:
    """Return the blocks of a text.

    Parameters
    ----------
    text : str
        Markdown.
    formula : function of (text, place), optional
        Finds formulas; without it there are none.
    picture : function of an address, optional
        Knows pictures; without it there are none.

    Examples
    --------
    >>> markdown_tree("Is *it*?")
    [['p', {'dir': 'auto'}, 'Is ', ['em', {}, 'it'], '?']]
    """
    tokens = _READER.parse(text, {"formula": formula})
    return _grown(iter(tokens), picture or _unknown)


def tree_html(nodes: Sequence[Node]) -> str:
    """Return a tree as HTML; whatever it says is escaped.

    Examples
    --------
    >>> tree_html(markdown_tree("a < **b**"))
    '<p dir="auto">a &lt; <strong>b</strong></p>'
    """
    return "".join(_html(node) for node in nodes)


def _html(node: Node) -> str:
    if isinstance(node, str):
        return escape(node)
    tag, attributes, *children = node
    said = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{said}>" + ("" if tag in _BLANK else f"{tree_html(children)}</{tag}>")


def _unknown(_address: str) -> None:
    return None


def _grown(tokens: Iterator[Token], picture: PictureFinder) -> list[Node]:
    """Return the nodes up to the token that closes what holds them."""
    nodes: list[Node] = []
    for token in tokens:
        if token.nesting < 0:
            break
        children = _grown(tokens, picture) if token.nesting > 0 else []
        nodes += _made(token, children, picture)
    return _joined(nodes)


def _made(token: Token, children: list[Node], picture: PictureFinder) -> list[Node]:
    """Return what stands for a token in the tree."""
    kind = token.type.removesuffix("_open")
    if kind in _TAGS:
        return [[_TAGS[kind], {}, *children]]
    if kind == "inline":
        return _grown(iter(token.children or ()), picture)
    if kind == "paragraph" and token.hidden:
        # in a list whose entries stand close together
        return children
    if kind == "image":
        return [_image(token, picture)]
    return [_MADE[kind](token, children)]


def _code(token: Token, _children: list[Node]) -> Node:
    code = ["code", {}, token.content.removesuffix("\n")]
    return ["pre", {"dir": "ltr", "tabindex": "0"}, code]


def _heading(token: Token, children: list[Node]) -> Node:
    # no heading of the page: its levels are the text's
    return ["p", {"dir": "auto", "class": f"heading level-{token.tag[1]}"}, *children]


def _cell(token: Token, children: list[Node]) -> Node:
    # a head without words heads nothing
    tag = token.tag if children else "td"
    attributes = {"dir": "auto"} | ({"scope": "col"} if tag == "th" else {})
    aligned = _ALIGNED.search(str(token.attrs.get("style", "")))
    return [tag, attributes | ({"class": f"at-{aligned[1]}"} if aligned else {}), *children]


def _link(token: Token, children: list[Node]) -> Node:
    address = _READER.normalizeLinkText(str(token.attrs["href"]))
    is_said = children == [address] or children == [address.removeprefix("mailto:")]
    beside = [] if is_said or not address else [["span", {"class": "address"}, f" ({address})"]]
    return ["span", {"class": "link"}, *children, *beside]


def _image(token: Token, picture: PictureFinder) -> Node:
    words = token.content
    address = picture(unquote(str(token.attrs["src"])))
    return f"[{words}]" if address is None else ["img", {"src": address, "alt": words}]


def _direction(nodes: Sequence[Node]) -> dict[str, str]:
    """Return which way a list is written, by its first letter: a browser looks into no entry for it."""
    for letter in _letters(nodes):
        found = bidirectional(letter)
        if found in {"L", "R", "AL"}:
            return {} if found == "L" else {"dir": "rtl"}
    return {}


def _letters(nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        yield from node if isinstance(node, str) else _letters(node[2:])


_MADE: Mapping[str, Callable[[Token, list[Node]], Node]] = {
    "text": lambda token, _: token.content,
    "text_special": lambda token, _: token.content,
    "softbreak": lambda *_: "\n",
    "hardbreak": lambda *_: ["br", {}],
    "hr": lambda *_: ["hr", {}],
    "code_inline": lambda token, _: ["code", {}, token.content],
    "code_block": _code,
    "fence": _code,
    "paragraph": lambda _, children: ["p", {"dir": "auto"}, *children],
    "heading": _heading,
    "bullet_list": lambda _, children: ["ul", _direction(children), *children],
    "ordered_list": lambda token, children: [
        "ol",
        _direction(children) | {key: str(value) for key, value in token.attrs.items()},
        *children,
    ],
    "list_item": lambda _, children: ["li", {"dir": "auto"}, *children],
    "table": lambda _, children: [
        "div",
        {"class": "scrolls", "tabindex": "0"},
        ["table", {}, *children],
    ],
    "th": _cell,
    "td": _cell,
    "link": _link,
    "formula": lambda token, _: token.meta["tree"],
}


def _joined(nodes: list[Node]) -> list[Node]:
    """Return nodes with texts that follow each other as one."""
    joined: list[Node] = []
    for node in nodes:
        last = joined[-1] if joined else None
        if isinstance(node, str) and isinstance(last, str):
            joined[-1] = last + node
        elif node != "":
            joined.append(node)
    return joined


def _formula_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's
    if state.src[state.pos] not in "$\\":
        return False
    found = _formula(state.env, state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("formula", "math", 0).meta["tree"] = found[1]
    state.pos = found[0]
    return True


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Read a formula that begins a line and ends one, whatever its lines look like."""
    first = state.bMarks[start] + state.tShift[start]
    closer = _CLOSED_BY.get(state.src[first : first + 2])
    if closer is None or state.env.get("formula") is None or state.is_code_block(start):
        return False
    for line in range(start, end):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return False
        begins = state.bMarks[line] + (state.tShift[line] + 2 if line == start else 0)
        if state.src[begins : state.eMarks[line]].rstrip().endswith(closer):
            source = state.getLines(start, line + 1, state.blkIndent, False).strip()
            break
    else:
        return False
    found = _formula(state.env, source, 0)
    if found is None or found[0] != len(source):
        return False
    if not silent:
        state.line = line + 1
        token = state.push("formula", "math", 0)
        token.meta["tree"], token.map = found[1], [start, line + 1]
    return True


def _formula(env: Any, text: str, place: int) -> tuple[int, Node] | None:
    find: FormulaFinder | None = env.get("formula")
    return None if find is None else find(text, place)


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    reader.enable(["table", "strikethrough"])
    reader.inline.ruler.before("escape", "formula", _formula_inline)
    reader.block.ruler.before(
        "fence",
        "formula",
        _formula_block,
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    return reader


_READER = _reader()
