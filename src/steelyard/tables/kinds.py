"""What a table is: outputs, judgments, both in one, or another form; and which column is which."""

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import polars as pl

from steelyard.records import ALSO_BY, DRAW_RECORD, names_of
from steelyard.tables.column_names import Columns, Role, for_role, lookalike
from steelyard.tables.direction import LOWER
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.metric_columns import label_name
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.rules import MISSING, is_number
from steelyard.tables.tables import ROW, Table

__all__ = [
    "CONTRACT",
    "TableKind",
    "first_rows",
    "kind_of",
    "only_numbers",
    "own_names",
    "together",
]

TableKind = Literal["outputs", "judgments", "one table", "wide table", "another form"]

CONTRACT = tuple(dict.fromkeys((*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS)))
_OURS = {*CONTRACT, *DRAW_RECORD, ALSO_BY, LOWER, "cluster"}
_WANTED: dict[Role, tuple[str, ...]] = {
    "outputs": ("item", "system", "output"),
    "judgments": ("item", "system", "score", "rater", "prompt"),
}
# Words in the name of a column that people filled.
_HUMAN = (
    "human humans gold oracle annotator annotation annotated rater expert crowd mos people manual "
    "worker workers"
)
_RATERS = re.compile(
    r"((?:rater|annotator|worker|assessor|expert|human|judge|score|r|a)[\W_]?)\d+", re.IGNORECASE
)
# A judge may be a person or a program: such a column names raters only if it holds words.
_WORDS_ONLY = frozenset({"judge", "evaluator", "grader"})
# A column `prompt` of more different texts than this holds the prompts of systems, not of raters.
_PROMPTS = 50
_SHOWN_ROWS, _SHOWN_COLUMNS = 3, 8


def together(kinds: Sequence[TableKind]) -> list[TableKind]:
    """Return what files are beside one another: one that could be both is what the others are not.

    Examples
    --------
    >>> together(["one table", "outputs"]), together(["one table"])
    (['judgments', 'outputs'], ['one table'])
    """
    found = list(kinds)
    for place, kind in enumerate(found):
        others = {*found[:place], *found[place + 1 :]}
        if kind == "one table" and "outputs" in others:
            found[place] = "judgments"
        elif kind == "one table" and ("judgments" in others or others == {"one table"}):
            found[place] = "outputs"
    return found


def own_names(table: Table, role: Role, columns: Columns | None = None) -> dict[str, str]:
    """Return which column is which of ours: as told, by its name, or because it looks like it."""
    there = list(table.schema)
    told = {
        our: own
        for our, own in for_role(columns, role).items()
        if isinstance(own, str) and own in there
    }
    wanted = _WANTED[role]
    found = {name: name for name in wanted if name in there} | told
    free = [name for name in there if name not in _OURS and name not in told.values()]
    for name in wanted:
        if name not in found:
            near = lookalike(name, free, misspelt=name in {"item", "system", "output"})
            if near is not None and not (name == "rater" and not _names_people(table, near)):
                found[name] = near
                free.remove(near)
    return {name: found[name] for name in dict.fromkeys((*wanted, *told)) if name in found}


def kind_of(table: Table, columns: Columns | None) -> tuple[TableKind, tuple[str, ...]]:
    """Return what a table is, by its columns and what they hold, and its columns of human scores.

    A column that was named as the score of a table with texts or metrics is one of human scores.
    """
    told = names_of(for_role(columns, "judgments").get("score")) or ()
    told = tuple(name for name in told if any(fnmatchcase(one, name) for one in table.schema))
    if len(told) > 1 or any(name not in table.schema for name in told):
        return "one table", told
    judged, pool = own_names(table, "judgments", columns), own_names(table, "outputs", columns)
    texts, score = "output" in pool, judged.get("score")
    used = {*pool.values(), *judged.values(), *_OURS}
    numbers = number_columns(table, [name for name in table.schema if name not in used])
    metrics = [name for name in numbers if not label_name(name)]
    kind: TableKind = "another form"
    human: tuple[str, ...] = ()
    if score is not None and "item" in judged:
        asked = "rater" in judged or ("prompt" in judged and _few_values(table, judged["prompt"]))
        is_both = bool(told) or not texts or asked or _is_sparse(table, score)
        kind = "one table" if is_both else "outputs"
        if not texts and (asked or not metrics):
            kind = "judgments"
        human = (score,) if kind == "one table" else ()
    elif told:
        kind, human = "one table", told
    elif ("system" in pool or texts or len(metrics) > 1) and (
        human := _human([*metrics, *_worded(table, used)])
    ):
        kind = "one table"
    elif {"item", "rater"} <= {*judged} and not texts and numbers:
        kind = "judgments"
    elif "item" in pool and (texts or ("system" in pool and numbers)):
        kind = "outputs"
    elif "system" not in pool and len(table.schema) > 2:
        kind = "wide table"
    return kind, human


def _human(numbers: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of numbers that people filled, by their names; a pattern for numbered ones."""
    numbered: dict[str, list[str]] = {}
    for name in numbers:
        found = _RATERS.fullmatch(name)
        if found is not None:
            numbered.setdefault(found[1], []).append(name)
    for start, names in numbered.items():
        if len(names) > 1 and [one for one in numbers if one.startswith(start)] == names:
            return (f"{start}*",)
    words = {name: {*re.findall(r"[a-z]+", name.casefold())} for name in numbers}
    return tuple([name for name, own in words.items() if own & {*_HUMAN.split()}][:1])


def _worded(table: Table, used: Collection[str]) -> list[str]:
    """Return the columns of a few words that are blank on some rows, as scores in words may be."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String and name not in used]
    return [name for name in texts if _few_values(table, name) and _is_sparse(table, name)]


def number_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return the columns that hold numbers, also as text, and perhaps blanks."""
    found = [name for name in names if is_number(table.schema[name])]
    texts = [name for name in names if table.schema[name] == pl.String]
    if texts and table.has_blank_cells:
        head = table.collect(table.rows.select(ROW, *texts).head(1_000))
        for name in texts:
            cells = head[name].drop_nulls().str.strip_chars()
            cells = cells.filter(~cells.str.to_lowercase().is_in(MISSING))
            spelled = cells.str.strip_chars_end("%").str.replace(",", ".", literal=True)
            if len(cells) and spelled.cast(pl.Float64, strict=False).null_count() == 0:
                found.append(name)
    return [name for name in table.schema if name in found]


def _names_people(table: Table, name: str) -> bool:
    """Whether a column holds names of raters, and no program's scores."""
    plain = re.sub(r"[\W_]+", "", name).casefold()
    return plain not in _WORDS_ONLY or not number_columns(table, [name])


def _few_values(table: Table, name: str) -> bool:
    return bool(table.collect(table.rows.select(pl.col(name).n_unique() <= _PROMPTS)).item())


def _is_sparse(table: Table, name: str) -> bool:
    """Whether a column is blank on some rows, or outputs are there several times."""
    cell = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase()
    return bool(
        table.collect(table.rows.select((cell.is_null() | cell.is_in(MISSING)).any())).item()
    )


def only_numbers(table: Table, names: Mapping[str, str]) -> dict[str, str]:
    """Return the score of judgments that no column is called after: the only numbers there are."""
    free = [name for name in table.schema if name not in names.values()]
    found = number_columns(table, free)
    return {"score": found[0]} if len(found) == 1 else {}


def first_rows(table: Table) -> dict[str, Any]:
    """Return the first rows as they are read, and what each column may be."""
    names = list(table.schema)[:_SHOWN_COLUMNS]
    head = table.collect(table.rows.select(names).head(_SHOWN_ROWS))
    rows = [
        {name: str(cell)[:40] for name, cell in row.items()} for row in head.iter_rows(named=True)
    ]
    return {"first_rows": rows, "may_be": {name: _may_be(table, name) for name in names}}


def _may_be(table: Table, name: str) -> str:
    """Return what a column may be, in a few words."""
    near = next(
        (
            ours
            for ours in _WANTED["judgments"] + ("output",)
            if lookalike(ours, [name], misspelt=False)
        ),
        None,
    )
    if table.schema[name].is_nested():
        return "lists or objects"
    cells = table.collect(table.rows.select(pl.col(name).cast(pl.String).head(10_000))).to_series()
    different = cells.n_unique()
    if number_columns(table, [name]):
        what = "numbers: a score, a metric or an id"
    elif different <= _PROMPTS and different < len(cells):
        what = f"{different:,} different words: system, rater, prompt or a slice"
    else:
        what = "texts: item or output"
    return f"{near}?" if near is not None else what
