"""Conditions between the answers of a task: ``fluency < 2 and not (sense = no)``.

A condition is written as text and kept in a form that is JSON, so that the page in the browser
evaluates the very same thing:

- ``{"all": [...]}``, ``{"any": [...]}``, ``{"not": ...}`` of other conditions;
- ``{"id": "fluency", "op": "<", "value": 2}`` compares the answer of a widget;
- ``{"id": "verdicts", "op": "answered"}`` asks whether there is one.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Condition", "holds", "is_answered", "leaves", "parse_condition"]

Condition = dict[str, Any]

_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_RESERVED = ("and", "or", "not", "answered")
_TOKEN = re.compile(r"""\s*(?:(<=|>=|!=|[<>=()])|("(?:[^"\\]|\\.)*")|([^\s<>=!()"]+)|(\S))""")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Deeper than anybody writes, and far from the limit of the interpreter and of browsers.
_DEEPEST = 50


def parse_condition(text: str) -> Condition:
    """Parse a condition.

    ``not`` binds before ``and``, and ``and`` before ``or``. A value is a number, a word, or a text
    in double quotation marks.

    Parameters
    ----------
    text : str
        The condition.

    Returns
    -------
    dict
        Its JSON form.

    Raises
    ------
    ValueError
        If it cannot be parsed.

    Examples
    --------
    >>> parse_condition("fluency < 2")
    {'id': 'fluency', 'op': '<', 'value': 2}
    >>> parse_condition("sense = no or verdicts answered")
    {'any': [{'id': 'sense', 'op': '=', 'value': 'no'}, {'id': 'verdicts', 'op': 'answered'}]}
    """
    parser = _Parser(text)
    condition = parser.any_of(0)
    parser.expect_end()
    return condition


def leaves(condition: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the comparisons of a condition, in order."""
    for name in ("all", "any"):
        for part in condition.get(name, ()):
            yield from leaves(part)
    if "not" in condition:
        yield from leaves(condition["not"])
    if "id" in condition:
        yield condition


def holds(condition: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds for an answer.

    Parameters
    ----------
    condition : mapping
        The JSON form.
    answer : mapping
        Values by widget, of those that are shown.

    Returns
    -------
    bool

    Notes
    -----
    A widget without an answer makes every comparison false, ``!=`` too. Text equals no number, and
    is neither less nor greater than anything.

    Examples
    --------
    >>> holds({"id": "fluency", "op": "<", "value": 2}, {"fluency": 1})
    True
    >>> holds({"id": "fluency", "op": "!=", "value": 2}, {})
    False
    """
    if "all" in condition:
        return all(holds(part, answer) for part in condition["all"])
    if "any" in condition:
        return any(holds(part, answer) for part in condition["any"])
    if "not" in condition:
        return not holds(condition["not"], answer)
    value = answer.get(condition["id"])
    if not is_answered(value):
        return False
    return condition["op"] == "answered" or _compares(value, condition["op"], condition["value"])


def is_answered(value: object) -> bool:
    """Tell whether a value is an answer: not nothing, "", [], nor passages without a verdict.

    Examples
    --------
    >>> is_answered(0), is_answered(""), is_answered([{"verdict": None}])
    (True, False, False)
    """
    if isinstance(value, str | list) and not value:
        return False
    if isinstance(value, list):
        return all(
            not isinstance(entry, dict) or "verdict" not in entry or entry["verdict"] is not None
            for entry in value
        )
    return value is not None


def _compares(value: Any, sign: str, other: Any) -> bool:
    if _is_number(value) and _is_number(other):
        return bool(_COMPARED[sign](value, other))
    same = isinstance(value, str) and isinstance(other, str) and value == other
    return same if sign == "=" else sign == "!=" and not same


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Parser:
    """Recursive descent over the tokens of a condition."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        for sign, quoted, word, odd in _TOKEN.findall(text):
            if odd:
                raise ValueError(f"cannot be read at {odd!r}")
            kind = "sign" if sign else "quoted" if quoted else "word"
            self._tokens.append((kind, sign or quoted or word))
        self._tokens.reverse()

    def any_of(self, depth: int) -> Condition:
        return self._several("or", "any", depth)

    def expect_end(self) -> None:
        if self._tokens:
            raise ValueError(f"ends too late: {self._next()!r} joins nothing; use and, or")

    def _several(self, word: str, name: str, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        parts = [self._part(name, depth)]
        while self._peek() == ("word", word):
            self._next()
            parts.append(self._part(name, depth))
        return parts[0] if len(parts) == 1 else {name: parts}

    def _part(self, name: str, depth: int) -> Condition:
        return self._several("and", "all", depth) if name == "any" else self._one(depth)

    def _one(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if self._peek() == ("word", "not"):
            self._next()
            return {"not": self._one(depth + 1)}
        if self._peek() == ("sign", "("):
            self._next()
            inner = self.any_of(depth + 1)
            if self._peek() != ("sign", ")"):
                raise ValueError("has a bracket that never closes")
            self._next()
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        kind, name = self._peek()
        if kind != "word" or _ID.fullmatch(name) is None or name in _RESERVED:
            raise ValueError(f"must have the id of a widget {self._where(name)}")
        self._next()
        kind, sign = self._peek()
        if (kind, sign) == ("word", "answered"):
            self._next()
            return {"id": name, "op": "answered"}
        if kind != "sign" or sign not in _COMPARED:
            raise ValueError(
                f"must compare {name} with {' '.join(_COMPARED)} or say `answered` "
                f"{self._where(sign)}"
            )
        self._next()
        return {"id": name, "op": sign, "value": self._value(name)}

    def _value(self, name: str) -> str | int | float:
        kind, value = self._peek()
        if kind == "quoted":
            self._next()
            return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        if kind != "word" or value in _RESERVED:
            raise ValueError(f"must have a value to compare {name} with {self._where(value)}")
        self._next()
        if _NUMBER.fullmatch(value):
            return float(value) if "." in value or len(value) > 15 else int(value)
        return value

    def _peek(self) -> tuple[str, str]:
        return self._tokens[-1] if self._tokens else ("end", "")

    def _next(self) -> str:
        return self._tokens.pop()[1]

    @staticmethod
    def _where(token: str) -> str:
        return f"where {token!r} stands" if token else "at its end"
