"""How the texts of an item are laid out: trees of elements, the same for raters and for managers."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from steelyard.collect.config.wording import Wording, english
from steelyard.collect.sampling.documents import EARLIER
from steelyard.collect.tasks.screen import asked_about
from steelyard.collect.tasks.task import Shown, Task
from steelyard.collect.web.formulas import formula_at, with_formulas
from steelyard.collect.web.media import MediaFolder
from steelyard.markdown import Node, is_markdown, markdown_tree

__all__ = ["LOOKED_AT", "detected", "plain_text", "presented", "public_content"]

_FILES = {"image": "img", "audio": "audio", "video": "video"}
_PAIR = ("first", "second")
# Enough to see how the texts of a campaign are written; units are only ever added behind them.
LOOKED_AT = 500
_SPEAKER = re.compile(r"([^\s:][^:\n]{0,39}):\s")
_MACHINES = frozenset(["agent", "ai", "assistant", "bot", "chatbot", "model", "system"])
_PEOPLE = frozenset(
    [
        "answer",
        "customer",
        "expert",
        "human",
        "interviewer",
        "patient",
        "question",
        "user",
        "a",
        "q",
    ]
)
_ROLES = _MACHINES | _PEOPLE | {"person", "speaker", "student", "teacher", "doctor", "client"}
# What often stands before a colon and speaks to nobody.
_NO_SPEAKERS = frozenset(
    [
        "action",
        "background",
        "caution",
        "conclusion",
        "context",
        "example",
        "examples",
        "goal",
        "hint",
        "important",
        "ingredients",
        "input",
        "instructions",
        "item",
        "note",
        "notes",
        "option",
        "output",
        "part",
        "ps",
        "result",
        "results",
        "section",
        "solution",
        "source",
        "step",
        "steps",
        "summary",
        "task",
        "tip",
        "tips",
        "title",
        "todo",
        "total",
        "warning",
    ]
)


def detected(task: Task, contents: Iterable[Mapping[str, Any]]) -> tuple[Task, tuple[str, ...]]:
    """Return a task that shows as markdown what is written so, and the fields that this changes.

    Only fields without a declared format are looked at. Texts that raters compare are laid out alike.

    Parameters
    ----------
    task : Task
        The task.
    contents : iterable of mapping
        What is shown, in the order of the queue: always the same first ones decide.
    """
    open_fields = {
        one.field
        for one in task.show
        if one.format == "text" and "format" not in one.model_fields_set
    }
    texts: dict[str, list[str]] = {field: [] for field in open_fields}
    for _, content in zip(range(LOOKED_AT), contents, strict=False):
        for one in asked_about(task, content).show:
            field = one.field if one.field in open_fields else one.field.partition(" ")[0]
            if field in open_fields and one.field in content:
                texts[field] += _parts(content[one.field])
    fields = {field for field in open_fields if is_markdown(texts[field])}
    if fields & {*_PAIR}:
        fields |= open_fields & {*_PAIR}
    if not fields:
        return task, ()
    shown = [
        one.model_copy(update={"format": "markdown"}) if one.field in fields else one
        for one in task.show
    ]
    return task.with_show(shown), tuple(one.field for one in shown if one.field in fields)


def presented(
    task: Task,
    media: MediaFolder | None,
    content: Mapping[str, Any],
    *,
    wording: Wording | None = None,
) -> dict[str, Any]:
    """Return the trees of the fields that are shown, by field; of earlier segments, a list of such."""
    say = wording or english()
    fields = asked_about(task, content).show
    found: dict[str, Any] = {
        one.field: _field(one, media, content[one.field], say)
        for one in fields
        if one.field in content
    }
    if EARLIER in content:
        found[EARLIER] = [
            presented(task, media, before, wording=wording) for before in content[EARLIER]
        ]
    return found


def plain_text(value: Any) -> list[Node]:
    """Return a text, or a list of texts, as it stands."""
    return [["p", {"dir": "auto"}, text] for text in _parts(value)]


def public_content(
    task: Task, media: MediaFolder | None, content: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a content as a page may know it: no path of a file, which may name a system."""
    hidden = {EARLIER}
    if media is not None:
        with_paths = {*_FILES, "markdown", "dialogue"}
        hidden |= {one.field for one in asked_about(task, content).show if one.format in with_paths}
    return {name: "" if name in hidden else value for name, value in content.items()}


def _field(one: Shown, media: MediaFolder | None, value: Any, say: Wording) -> list[Node]:
    if one.format == "dialogue":
        return [_dialogue(_parts(value), _reader(one, media))]
    if one.format in _FILES:
        names = () if media is None else media.names(value)
        return [_file(one, name, say) for name in names]
    read = _reader(one, media)
    return [node for text in _parts(value) for node in read(text)]


def _parts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value or "")]


def _reader(one: Shown, media: MediaFolder | None) -> Callable[[str], list[Node]]:
    """Return what lays out a text in the format of its field."""
    match one.format:
        case "markdown" | "dialogue":
            return lambda text: _markdown(text, one.math, media)
        case "code":
            return lambda text: [["pre", {"dir": "ltr", "tabindex": "0"}, ["code", {}, text]]]
        case "table":
            return lambda text: [_table(_rows(text))]
    return lambda text: [["p", {"dir": "auto"}, *(with_formulas(text) if one.math else [text])]]


@lru_cache(maxsize=4_096)
def _markdown(text: str, math: bool, media: MediaFolder | None) -> list[Node]:  # noqa: FBT001
    return markdown_tree(
        text,
        formula=formula_at if math else None,
        picture=None if media is None else media.picture,
    )


def _file(one: Shown, name: str, say: Wording) -> Node:
    kind, label, address = one.format, one.label or say(one.format), f"media/{name}"
    if kind == "image":
        return ["img", {"src": address, "alt": label}]
    return [
        _FILES[kind],
        {"src": address, "controls": "", "preload": "metadata", "aria-label": label},
    ]


def _rows(text: str) -> list[list[str]]:
    """Return the rows of a text with columns: between tabs if there are any, else between commas."""
    lines = text.splitlines()
    mark = "\t" if "\t" in text else ","
    rows = csv.reader(lines, delimiter=mark, quoting=csv.QUOTE_MINIMAL if mark == "," else 3)
    return [row for row in rows if any(cell.strip() for cell in row)]


def _table(rows: Sequence[Sequence[str]]) -> Node:
    heads, *others = rows or [[]]
    above = [
        ["th", {"dir": "auto", "scope": "col"}, cell.strip()] if cell.strip() else ["td", {}]
        for cell in heads
    ]
    below = [["tr", {}, *(["td", {"dir": "auto"}, cell.strip()] for cell in row)] for row in others]
    table = ["table", {}, ["thead", {}, ["tr", {}, *above]], ["tbody", {}, *below]]
    return ["div", {"class": "scrolls", "tabindex": "0"}, table]


def _dialogue(texts: Sequence[str], read: Callable[[str], list[Node]]) -> Node:
    """Return the turns of a dialogue; those of machines, or of every second speaker, are shaded."""
    turns = list(_turns(texts[0])) if len(texts) == 1 else [_spoken(text) for text in texts]
    is_shaded = _shading([speaker for speaker, _ in turns])
    return [
        "ol",
        {"class": "dialogue"},
        *(
            [
                "li",
                {"class": "turn shaded" if is_shaded(at) else "turn", "dir": "auto"},
                *([["strong", {"class": "speaker"}, speaker]] if speaker else []),
                *read(said.strip()),
            ]
            for at, (speaker, said) in enumerate(turns)
        ),
    ]


def _spoken(text: str) -> tuple[str | None, str]:
    found = _SPEAKER.match(text)
    return (None, text) if found is None else (found[1], text[found.end() :])


def _turns(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield speaker and words of each turn in one text: a line that begins with a speaker begins one."""
    lines = text.splitlines()
    speakers = _speakers([found[1] for line in lines if (found := _SPEAKER.match(f"{line} "))])
    speaker, said = None, list[str]()
    for line in lines:
        found = _SPEAKER.match(f"{line} ")
        if found is None or found[1].lower() not in speakers:
            said.append(line)
            continue
        if speaker is not None or "".join(said).strip():
            yield speaker, "\n".join(said)
        speaker, said = found[1], [line[found.end() :]]
    if speaker is not None or "".join(said).strip():
        yield speaker, "\n".join(said)


def _speakers(names: Sequence[str]) -> frozenset[str]:
    """Return which names before a colon are speakers: roles that are known, else names that may be."""
    lowered = [name.lower() for name in names]
    known = {name for name in lowered if name.rstrip(" 0123456789") in _ROLES}
    if known:
        return frozenset({*known, *(name for name in lowered[:1] if _may_speak(name))})
    return frozenset(name for name in lowered if _may_speak(name))


def _may_speak(name: str) -> bool:
    *_, last = name.rstrip(" 0123456789").split() or [""]
    return last not in _NO_SPEAKERS and len(name.split()) <= 3


def _shading(speakers: Sequence[str | None]) -> Callable[[int], bool]:
    names = [None if name is None else name.lower() for name in speakers]
    if None in names:
        return lambda at: at % 2 == 1
    if _MACHINES.intersection(filter(None, names)):
        return lambda at: names[at] in _MACHINES
    order = list(dict.fromkeys(names))
    return lambda at: order.index(names[at]) % 2 == 1
