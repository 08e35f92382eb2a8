"""YAML as plain data, with the line that every key stands on.

Scalars follow the core schema of YAML 1.2, so that ``yes``, ``no``, ``on`` and dates are texts: in a
file of answer options nothing else would be understood.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from steelyard.errors import InvalidDataError

__all__ = ["Document", "KeyPath", "dotted", "read_yaml"]

KeyPath = tuple[str | int, ...]

# An alias repeats what it stands for; a few lines of aliases of aliases could fill the memory.
_MOST_NODES = 100_000
_NULL = re.compile(r"(?:~|null|Null|NULL|)")
_BOOLEAN = re.compile(r"(?:true|True|TRUE|false|False|FALSE)")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_FRACTION = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))")
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class Document:
    """What a YAML file holds.

    Attributes
    ----------
    name : str
        Name of the file, as messages give it.
    data : dict
        Its content.
    lines : mapping of key path to int
        The line, from 1, of every key and every entry of a list.
    """

    name: str
    data: dict[str, Any]
    lines: Mapping[KeyPath, int]

    def error(self, path: KeyPath, message: str) -> InvalidDataError:
        """Return the error that names file, line and key; a missing key has its parent's line."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        key = f", key {dotted(path)}" if path else ""
        text = " ".join(message.split())
        return InvalidDataError(f"{self.name}, line {self.lines.get(known, 1)}{key}: {text}")


def dotted(path: KeyPath) -> str:
    """Write a key path as one word.

    Examples
    --------
    >>> dotted(("widgets", 0, "levels"))
    'widgets[0].levels'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def read_yaml(path: Path) -> Document:
    """Read a YAML file that holds one mapping.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.

    Returns
    -------
    Document

    Raises
    ------
    InvalidDataError
        If the file cannot be read, is not YAML, repeats a key, or holds something else than a
        mapping with texts as keys; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{path.name}: must be UTF-8; {error.reason}") from error
    except OSError as error:
        raise InvalidDataError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_yaml(text, path.name)


def parse_yaml(text: str, name: str) -> Document:
    """Parse YAML text; `name` stands for the file in messages. See `read_yaml`."""
    try:
        root = yaml.compose(text, Loader=_CoreLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InvalidDataError(f"{name}, line {line}: {_explained(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidDataError(
            f"{name}, line {line}: is not YAML: holds the control character "
            f"U+{error.character:04X}: remove it"
        ) from error
    except RecursionError as error:
        raise InvalidDataError(f"{name}: is nested too deeply to be read") from error
    if not isinstance(root, yaml.MappingNode):
        found = "nothing" if root is None else "something else"
        raise InvalidDataError(f"{name}, line 1: must hold keys with values; got {found}")
    builder = _Builder(name)
    data = builder.value(root, (), ())
    assert isinstance(data, dict)
    return Document(name, data, builder.lines)


class _CoreLoader(yaml.SafeLoader):
    """Composes nodes; its implicit types are those of YAML 1.2."""

    def scan_plain(self) -> yaml.ScalarToken:
        """Scan a text without quotation marks, question marks in it included.

        PyYAML ends it at a question mark inside braces, where YAML 1.2 does not: labels are
        questions more often than not.
        """
        token = super().scan_plain()
        while self.flow_level and self.peek() == "?" and self.index == token.end_mark.index:
            self.forward()
            spaces = 0
            while self.peek(spaces) == " ":
                spaces += 1
            text = f"{token.value}?"
            end = self.get_mark()
            if self.peek(spaces) not in ",:#?[]{}\0\r\n":
                self.forward(spaces)
                rest = super().scan_plain()
                text, end = f"{text}{' ' * spaces}{rest.value}", rest.end_mark
            token = yaml.ScalarToken(text, True, token.start_mark, end)
        return token


_CoreLoader.yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("null", _NULL, ["~", "n", "N", ""]),
    ("bool", _BOOLEAN, list("tTfF")),
    ("int", _WHOLE, list("-+0123456789")),
    ("float", _FRACTION, list("-+.0123456789")),
    ("float", _NOT_FINITE, list("-+.")),
):
    _CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern.pattern})$"), _first
    )


class _Builder:
    """Turns nodes into data and notes lines on the way."""

    def __init__(self, name: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._name = name
        self._nodes = 0

    def value(self, node: yaml.Node, path: KeyPath, above: tuple[int, ...]) -> Any:
        """Return the data of a node; `above` names the nodes that contain it."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise self._error(node, "holds too much: aliases repeat it over and over")
        if id(node) in above:
            raise self._error(node, "an alias stands inside what it repeats")
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, above)
        if isinstance(node, yaml.SequenceNode):
            entries = []
            for position, entry in enumerate(node.value):
                self.lines[*path, position] = entry.start_mark.line + 1
                entries.append(self.value(entry, (*path, position), above))
            return entries
        return self._scalar(node)

    def _mapping(
        self, node: yaml.MappingNode, path: KeyPath, above: tuple[int, ...]
    ) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, entry in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != _TEXT_TAG:
                raise self._error(key_node, "a key must be text: put it in quotation marks")
            if key in data:
                raise self._error(
                    key_node,
                    f"the key is there twice, first on line {self.lines[*path, key]}: keep one",
                    (*path, key),
                )
            self.lines[*path, key] = key_node.start_mark.line + 1
            data[key] = self.value(entry, (*path, key), above)
        return data

    def _scalar(self, node: yaml.Node) -> Any:
        kind, text = node.tag.removeprefix("tag:yaml.org,2002:"), node.value
        # a tag that was written out may stand before any text
        if kind == "null" and _NULL.fullmatch(text):
            return None
        if kind == "bool" and _BOOLEAN.fullmatch(text):
            return text.lower() == "true"
        if kind == "int" and _WHOLE.fullmatch(text):
            # beyond this the conversion itself is slow
            return int(text) if len(text) < 1000 else float(text)
        if kind == "float" and _FRACTION.fullmatch(text):
            return float(text)
        if kind == "float" and _NOT_FINITE.fullmatch(text):
            return float(text.replace(".", "", 1))
        if kind == "str":
            return text
        raise self._error(node, f"the tag {node.tag} is not known here: leave it out")

    def _error(self, node: yaml.Node, message: str, path: KeyPath = ()) -> InvalidDataError:
        key = f", key {dotted(path)}" if path else ""
        return InvalidDataError(f"{self._name}, line {node.start_mark.line + 1}{key}: {message}")


def _explained(error: yaml.MarkedYAMLError) -> str:
    problem = " ".join(str(error.problem or error.context).split())
    if "'\\t'" in problem or "\t" in (error.problem or ""):
        return "is not YAML: a tab cannot indent: use spaces"
    if "expected a single document" in str(error.context):
        return "must hold one document: remove the line `---`"
    return f"is not YAML: {problem}"
