"""Names of columns: the user's and ours, for each file apart, and what a missing one may be called."""

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = [
    "Columns",
    "Role",
    "for_role",
    "lookalike",
    "mapped_columns",
    "missing_columns",
    "quoted",
]

Role = Literal["outputs", "judgments"]
# Our name of a column, and theirs; several where human scores of one table are meant.
Columns = Mapping[str, str | Sequence[str]]

# What other people and tools call our columns.
_SYNONYMS = {
    "item": "id itemid doc docid document documentid example exampleid sampleid segid inputid idx index",
    "system": "model modelname modelid systemname systemid sys candidate method",
    "output": "response completion prediction generation hypothesis hyp answer",
    "rater": "raterid annotator annotatorid worker workerid evaluator assessor userid judge",
    "prompt": "criterion dimension aspect",
    "score": "rating judgment judgement grade",
}
_SEPARATOR = ":"
T = TypeVar("T")


def for_role(columns: Mapping[str, T] | None, role: Role) -> dict[str, T]:
    """Return the part of a mapping that concerns outputs, or judgments.

    A name such as ``outputs:item`` speaks of that file alone, and goes before ``item``.

    Examples
    --------
    >>> for_role({"item": "doc", "outputs:item": "id", "judgments:score": "x"}, "outputs")
    {'item': 'id'}
    """
    found: dict[str, T] = {}
    own: dict[str, T] = {}
    for ours, theirs in (columns or {}).items():
        prefix, separator, name = ours.partition(_SEPARATOR)
        if separator and prefix in {"outputs", "judgments"}:
            if prefix == role:
                own[name] = theirs
        else:
            found[ours] = theirs
    # A column that this file is told to use otherwise is not used twice.
    taken = list(own.values())
    found = {ours: theirs for ours, theirs in found.items() if theirs not in taken}
    return found | own


def mapped_columns(
    name: str, there: Sequence[str], contract: Sequence[str], columns: Mapping[str, str], role: str
) -> dict[str, str]:
    """Return the part of `columns` that concerns this source, checked.

    Raises
    ------
    InvalidDataError
        If a column is not there, or would take the name of another.
    InvalidArgumentError
        If one column is used twice.
    """
    mapped = {ours: theirs for ours, theirs in columns.items() if theirs in there}
    for ours, theirs in columns.items():
        if theirs not in there and ours not in there and ours in contract:
            raise InvalidDataError(
                f"{name}: no column `{theirs}` to use as `{ours}`{_hint(theirs, there)}; the columns "
                f"are {quoted(there)}"
            )
        if list(columns.values()).count(theirs) > 1:
            raise InvalidArgumentError(
                f"`columns` must use each column once; got `{theirs}` for "
                f"{quoted([ours for ours, used in columns.items() if used == theirs])}"
            )
        if ours in mapped and ours in there and ours not in mapped.values():
            other = "judgments" if role == "outputs" else "outputs"
            raise InvalidDataError(
                f"{name}: `{theirs}` cannot be used as `{ours}`, because there is a column "
                f"`{ours}` already: rename that one too, e.g. --column old_{ours}={ours}, or map the "
                f"other file alone: --column {other}:{ours}={shlex.quote(theirs)}"
            )
    return mapped


def missing_columns(
    name: str, there: Sequence[str], missing: Sequence[str], contract: Sequence[str]
) -> InvalidDataError:
    """Return the error for columns that are not there, with those that look like them."""
    free = [column for column in there if column not in contract]
    found: dict[str, str] = {}
    for column in missing:
        near = lookalike(column, [one for one in free if one not in found.values()])
        if near is not None:
            found[column] = near
    options = [part for ours, near in found.items() for part in ("--column", f"{ours}={near}")]
    if found:
        hints = "; ".join(f"`{near}` looks like `{ours}`" for ours, near in found.items())
        python = ", ".join(f"{ours!r}: {near!r}" for ours, near in found.items())
        way_out = f"{hints}: {shlex.join(options)} (in Python: columns={{{python}}})"
        if len(found) < len(missing):
            unknown = next(one for one in missing if one not in found)
            way_out += f", and --column {unknown}=YOUR_COLUMN"
    else:
        way_out = (
            f"say which one it is with --column {missing[0]}=YOUR_COLUMN "
            f"(in Python: columns={{'{missing[0]}': 'YOUR_COLUMN'}})"
        )
    return InvalidDataError(
        f"{name}: no column {quoted(missing)}; the columns are {quoted(there)}: {way_out}",
        options=options if len(found) == len(missing) else (),
    )


def lookalike(column: str, there: Sequence[str], *, misspelt: bool = True) -> str | None:
    """Return the name that looks like `column`: in other letters, a synonym, or misspelt.

    Examples
    --------
    >>> lookalike("item", ["Doc ID", "text"]), lookalike("score", ["Score "])
    ('Doc ID', 'Score ')
    >>> lookalike("rater", ["rator"]), lookalike("rater", ["text"])
    ('rator', None)
    """
    plain = {name: _plain(name) for name in reversed(there)}
    by_form = {form: name for name, form in plain.items()}
    tails = {_plain(name.rpartition(".")[2]): name for name in reversed(there)}
    for form in (_plain(column), *_SYNONYMS.get(column, "").split()):
        if form in by_form or form in tails:
            return by_form.get(form) or tails[form]
    if not misspelt:
        return None
    near = difflib.get_close_matches(_plain(column), by_form, n=2, cutoff=0.75)
    # system_a and system_b are columns of a wide table, not one that is misspelt
    return by_form[near[0]] if len(near) == 1 else None


def quoted(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Return names in backticks, separated by commas; of very many, the first."""
    listed = list(names)
    more = f" and {len(listed) - 40} more" if len(listed) > 40 else ""
    return ", ".join(f"`{name}`" for name in listed[:40]) + more or "none"


def _hint(name: str, there: Sequence[str]) -> str:
    near = lookalike(name, there)
    return "" if near is None else f" (is it `{near}`?)"


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
