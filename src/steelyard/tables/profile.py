"""What is in one file: which kind, how much, and every problem counted, before anything fails."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.records import ALSO_BY, DRAW_RECORD
from steelyard.tables.column_names import Role, for_role, lookalike
from steelyard.tables.direction import LOWER
from steelyard.tables.judgment_profile import judgment_profile
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.metric_columns import label_name
from steelyard.tables.opening import open_table, renamed
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.pool_profile import pool_profile
from steelyard.tables.problems import Problem
from steelyard.tables.rules import MISSING, is_number
from steelyard.tables.separators import Decimal, checked_decimal
from steelyard.tables.tables import ROW, Table

__all__ = ["FileProfile", "Kind", "profile_file"]

Kind = Literal["outputs", "judgments", "one table", "wide table", "another form"]

_WANTED: dict[Role, tuple[str, ...]] = {
    "outputs": ("item", "system", "output"),
    "judgments": ("item", "system", "score", "rater", "prompt"),
}
_NEEDED: dict[Role, tuple[str, ...]] = {"outputs": ("system",), "judgments": ("system", "score")}
_NEEDED_FOR = {
    "system": "add one that names the system of each row",
    "score": "say which one it is with --column score=YOUR_COLUMN",
}
_CONTRACT = tuple(dict.fromkeys((*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS)))
_OURS = {*_CONTRACT, *DRAW_RECORD, ALSO_BY, LOWER, "cluster"}
# Words in the name of a column that people filled.
_HUMAN = frozenset(
    (
        *(
            "human",
            "humans",
            "gold",
            "oracle",
            "annotator",
            "annotation",
            "annotated",
            "rater",
            "expert",
        ),
        *("crowd", "mos", "people", "manual", "worker", "workers"),
    )
)
_RATERS = re.compile(
    r"((?:rater|annotator|worker|assessor|expert|human|judge|score|r|a)[\W_]?)\d+", re.IGNORECASE
)
# A judge may be a person or a program: such a column names raters only if it holds words.
_WORDS_ONLY = frozenset({"judge", "evaluator", "grader"})
# A column `prompt` of more different texts than this holds the prompts of systems, not of raters.
_PROMPTS = 50
_SHOWN_ROWS, _SHOWN_COLUMNS = 3, 8


@dataclass(frozen=True, eq=False)
class FileProfile:
    """What is in one file.

    Attributes
    ----------
    name : str
        The file as the user named it.
    kind : {"outputs", "judgments", "one table", "wide table", "another form"}
        What it is; one table holds outputs and human scores.
    rows : int
        Its rows; 0 where it cannot be read as a table.
    columns : tuple of str
        Its columns, as they are called there.
    counts : mapping
        How many items, systems, raters, prompts and so on.
    problems : tuple of Problem
        What is wrong or may be, each kind of problem counted.
    options : tuple of str
        What a command must be given so that it can read the file.
    tool : str
        The format of another tool, or of a wide table, as ``convert --from`` takes it; empty for our
        own.
    conversion : tuple of str
        What else ``convert`` must be given.
    human : tuple of str
        The columns of human scores of one table, or a pattern of them.
    """

    name: str
    kind: Kind
    rows: int = 0
    columns: tuple[str, ...] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    options: tuple[str, ...] = ()
    tool: str = ""
    conversion: tuple[str, ...] = ()
    human: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "file": self.name,
            "kind": self.kind,
            "rows": self.rows,
            "columns": list(self.columns),
            **self.counts,
            "problems": [one.to_dict() for one in self.problems],
            "options": list(self.options),
            "tool": self.tool or None,
            "human": list(self.human),
        }


def profile_file(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: Mapping[str, str] | None = None,
    bounds: tuple[float, float] | None = None,
    role: Role | None = None,
) -> FileProfile:
    """Say what is in a file and what is wrong with it.

    Parameters
    ----------
    path : Path
        The file, sheet, folder or pattern.
    columns : mapping, optional
        As in `read_outputs`.
    separator : str, optional
        As in `read_outputs`.
    decimal : mapping, optional
        The decimal mark of ``outputs`` and of ``judgments``.
    bounds : (float, float), optional
        Least and greatest possible score.
    role : {"outputs", "judgments"}, optional
        What it is, where other files show it.

    Raises
    ------
    InvalidDataError
        If the file cannot be opened.
    """
    table, mark = _opened(path, separator)
    kind, human = (role, ()) if role is not None else _kind_of(table, columns)
    rows = table.collect(table.rows.select(pl.len())).item()
    known = FileProfile(str(path), kind, rows, tuple(table.schema), human=human)
    if kind not in {"outputs", "judgments"}:
        options = () if mark is None else ("--separator", f"outputs:{mark}")
        names = own_names(table, "outputs", columns)
        columns_said = _renaming(names, columns, None) if kind == "one table" else ()
        return replace(known, counts=_first_rows(table), options=(*options, *columns_said))
    own_role: Role = "outputs" if kind == "outputs" else "judgments"
    names = own_names(table, own_role, columns)
    if own_role == "judgments" and "score" not in names:
        names |= _only_numbers(table, names)
    options = () if mark is None else ("--separator", f"{own_role}:{mark}")
    options = (*options, *_renaming(names, columns, own_role))
    missing = [_no_column(name) for name in _NEEDED[own_role] if name not in names]
    if missing:
        return replace(known, counts=_first_rows(table), problems=tuple(missing), options=options)
    own = replace(
        renamed(table, {ours: theirs for ours, theirs in names.items() if ours != theirs}),
        role=own_role,
        decimal=checked_decimal((decimal or {}).get(own_role)),
    )
    counts, problems, more = _profiled(own, own_role, bounds)
    return replace(known, counts=counts, problems=tuple(problems), options=(*options, *more))


def own_names(table: Table, role: Role, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return which column is which of ours: as told, by its name, or because it looks like it."""
    there = list(table.schema)
    told = {our: own for our, own in for_role(columns, role).items() if own in there}
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


def _kind_of(table: Table, columns: Mapping[str, str] | None) -> tuple[Kind, tuple[str, ...]]:
    """Return what a table is, by its columns and what they hold, and its columns of human scores."""
    judged, pool = own_names(table, "judgments", columns), own_names(table, "outputs", columns)
    texts, score = "output" in pool, judged.get("score")
    used = {*pool.values(), *judged.values(), *_OURS}
    numbers = number_columns(table, [name for name in table.schema if name not in used])
    metrics = [name for name in numbers if not label_name(name)]
    kind: Kind = "another form"
    human: tuple[str, ...] = ()
    if score is not None and "item" in judged:
        asked = "rater" in judged or ("prompt" in judged and _few_values(table, judged["prompt"]))
        is_both = not texts or asked or _is_sparse(table, score)
        kind = "one table" if is_both else "outputs"
        if not texts and (asked or not metrics):
            kind = "judgments"
        human = (score,) if kind == "one table" else ()
    elif ("system" in pool or texts or len(metrics) > 1) and (human := _human(metrics)):
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
    return tuple([name for name, own in words.items() if own & _HUMAN][:1])


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


def _only_numbers(table: Table, names: Mapping[str, str]) -> dict[str, str]:
    """Return the score of judgments that no column is called after: the only numbers there are."""
    free = [name for name in table.schema if name not in names.values()]
    found = number_columns(table, free)
    return {"score": found[0]} if len(found) == 1 else {}


def _no_column(name: str) -> Problem:
    return Problem(f"no column `{name}`", 0, 0, way_out=_NEEDED_FOR[name], stops=True)


def _opened(path: Path, separator: str | None) -> tuple[Table, str | None]:
    """Open a file; with another separator where its header asks for it, which is returned too."""
    try:
        return open_table(path, label="outputs", contract=_CONTRACT, separator=separator), None
    except InvalidDataError as error:
        if error.options[:1] != ("--separator",):
            raise
        mark = error.options[1].partition(":")[2]
    return open_table(path, label="outputs", contract=_CONTRACT, separator=mark), mark


def _profiled(
    table: Table, role: Role, bounds: tuple[float, float] | None
) -> tuple[dict[str, Any], list[Problem], tuple[str, ...]]:
    """Return counts, problems and needed options; with decimal commas where numbers have them."""

    def profile(with_mark: Decimal | None) -> tuple[dict[str, Any], list[Problem]]:
        own = replace(table, decimal=with_mark)
        return pool_profile(own) if role == "outputs" else judgment_profile(own, bounds)

    try:
        counts, problems = _shaped(table, lambda: profile(table.decimal))
        asked = [one.options for one in problems if one.options[:1] == ("--decimal",)]
    except InvalidDataError as error:
        if error.options[:1] != ("--decimal",):
            raise
        asked = [error.options]
    if not asked:
        return counts, problems, ()
    return *_shaped(table, lambda: profile(",")), asked[0]


def _shaped(
    table: Table, profile: Callable[[], tuple[dict[str, Any], list[Problem]]]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the profile; where a column has a type that it cannot have, only that problem."""
    try:
        return profile()
    except InvalidDataError as error:
        if error.options:
            raise
        problem = str(error).removeprefix(f"{table.name}, ")
        return {}, [Problem(problem, 0, 0, stops=True)]


def _renaming(
    names: Mapping[str, str], columns: Mapping[str, str] | None, role: Role | None
) -> tuple[str, ...]:
    """Return the options without which a command would not find our columns."""
    options: list[str] = []
    for ours, theirs in names.items():
        if ours != theirs and not {ours, f"{role}:{ours}"} & {*(columns or {})}:
            options += ["--column", f"{role}:{ours}={theirs}" if role else f"{ours}={theirs}"]
    return tuple(options)


def _first_rows(table: Table) -> dict[str, Any]:
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
