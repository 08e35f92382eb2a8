"""Read outputs and judgments from files and data frames, and check every row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

import polars as pl

from steelyard.data.judgments import Judgments
from steelyard.data.outputs import OUTPUT_COLUMNS, Outputs
from steelyard.data.rules import (
    Rule,
    check,
    identifier,
    is_number,
    number,
    probability,
    references,
    text,
    typed,
)
from steelyard.data.tables import ROW, Source, Table, open_table, quoted
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import (
    DRAW_COLUMNS,
    Judgment,
    Output,
    names_of,
    optional_columns,
    required_columns,
)

__all__ = ["OnDuplicate", "read_judgments", "read_outputs"]

OnDuplicate = Literal["error", "first", "last"]

_JUDGMENT_COLUMNS = (*required_columns(Judgment), *optional_columns(Judgment))


def read_outputs(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] | None = None,
) -> Outputs:
    """Read outputs: the pool, with the metrics known of it.

    Parameters
    ----------
    source : path, polars frame, or any frame with the Arrow PyCapsule interface
        JSON Lines (``.jsonl``, ``.ndjson``), CSV (``.csv``), either also ``.gz`` or ``.zst``,
        or ``.parquet``. Columns ``item``, ``system``, ``output``; optional ``input``,
        ``reference`` (text or list of texts); any others are kept.
    columns : mapping, optional
        Our name of a column, to the name it has in the source. One mapping serves outputs and
        judgments: it may name columns that only the other has.
    metrics : sequence of str, optional
        The columns that hold metrics. If not given, all other columns that hold numbers, or
        true and false, do.

    Returns
    -------
    Outputs

    Raises
    ------
    InvalidDataError
        If the source cannot be read, lacks a column, or a row breaks its contract; the message
        names file, line and column.

    Notes
    -----
    A pool without the column ``output`` is accepted if it has a metric: metrics are all that an
    estimate needs to know of outputs that were not judged.

    The rows of a Parquet file or a lazy frame are checked when they are first used, all others
    at once. Metrics are checked when they are used, so that one that was not computed for every
    output does no harm unless it is asked for.

    In a CSV file an empty ``output`` is the empty text, a reference that is a JSON array of texts
    is a list, and another column holds numbers if each of its cells that is not empty is one.

    Examples
    --------
    >>> pool = read_outputs(
    ...     pl.DataFrame({"item": [1, 2], "system": "a", "output": ["x", "y"], "length": [1, 1]})
    ... )
    >>> pool.systems, pool.metrics
    (('a',), ('length',))
    """
    table = open_table(source, label="outputs", contract=OUTPUT_COLUMNS, columns=columns)
    table.require(Output.key)
    if table.format is not None and table.format.kind == "csv":
        table = _with_numbers(table)
    chosen = _metrics(table, names_of(metrics))
    if not chosen:
        table.require(required_columns(Output))
    keys = tuple(identifier(table, column) for column in Output.key)
    texts = _text_rules(table)
    outputs = Outputs(table.name, chosen, tuple(table.schema), table, keys, texts)
    if not table.is_lazy:
        check(table, table.collect(table.rows), (*keys, *texts))
        outputs.check()
    return outputs


def read_judgments(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    on_duplicate: OnDuplicate = "error",
) -> Judgments:
    """Read judgments and check every one of them.

    Parameters
    ----------
    source : path, polars frame, or any frame with the Arrow PyCapsule interface
        JSON Lines (``.jsonl``, ``.ndjson``), CSV (``.csv``), either also ``.gz`` or ``.zst``,
        or ``.parquet``. Columns ``item``, ``system``, ``rater``, ``prompt``, ``score``;
        optional ``seconds``, ``time``, ``probability``, and of a preference ``other_system`` and
        ``first_system``; any others are kept, in CSV as text.
    columns : mapping, optional
        Our name of a column, to the name it has in the source. One mapping serves outputs and
        judgments: it may name columns that only the other has.
    on_duplicate : {"error", "first", "last"}
        What to do when a rater judged one output twice under one prompt.

    Returns
    -------
    Judgments

    Raises
    ------
    InvalidDataError
        If the source cannot be read, lacks a column, or a row breaks its contract; the message
        names file, line and column.

    Notes
    -----
    Identifiers become text: the whole number 7 is the item ``"7"``. Scores become floats: true
    and false are 1 and 0, and text that spells a number is one. Rows of frames and Parquet
    files are counted from 1.

    Examples
    --------
    >>> judgments = read_judgments(
    ...     pl.DataFrame(
    ...         {"doc": [1, 2], "system": "a", "rater": "r", "prompt": "p", "score": [True, False]}
    ...     ),
    ...     columns={"item": "doc"},
    ... )
    >>> judgments.frame["item"].to_list(), judgments.frame["score"].to_list()
    (['1', '2'], [1.0, 0.0])
    """
    if on_duplicate not in get_args(OnDuplicate):
        raise InvalidArgumentError(
            f"`on_duplicate` must be one of {', '.join(get_args(OnDuplicate))}; "
            f"got {on_duplicate!r}"
        )
    table = open_table(source, label="judgments", contract=_JUDGMENT_COLUMNS, columns=columns)
    table.require(required_columns(Judgment))
    rules = _judgment_rules(table)
    raw = table.collect(table.rows)
    check(table, raw, rules)
    rows = raw.with_columns(rule.value for rule in rules)
    return Judgments(table.name, _without_duplicates(table, rows, on_duplicate), table)


def _with_numbers(table: Table) -> Table:
    """Give the columns of a CSV file that hold numbers a numeric type."""
    rows = table.collect(table.rows)
    rows = rows.with_columns(
        typed(rows[name]) for name in table.schema if name not in OUTPUT_COLUMNS
    )
    return replace(table, rows=rows.lazy(), schema=rows.drop(ROW).schema)


def _metrics(table: Table, metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Columns that hold metrics, once it is known that those asked for do."""
    numeric = [
        name
        for name, kind in table.schema.items()
        if is_number(kind) and name not in OUTPUT_COLUMNS
    ]
    for name in metrics or ():
        if name in numeric:
            continue
        # Text that is not a number may be all that is wrong: say where it stands.
        if table.schema.get(name) == pl.String and name not in OUTPUT_COLUMNS:
            rule = number(table, name, required=False)
            check(table, table.collect(table.rows.select(ROW, name)), [rule])
        raise InvalidDataError(
            f"{table.name}: no metric `{name}`; the columns that hold numbers are {quoted(numeric)}"
        )
    if metrics is not None:
        return tuple(metrics)
    # A drawn sample may carry its probabilities: numbers, but not of the text.
    return tuple(name for name in numeric if name not in {*_JUDGMENT_COLUMNS, *DRAW_COLUMNS})


def _text_rules(table: Table) -> tuple[Rule, ...]:
    rules = []
    if "output" in table.schema:
        rules.append(text(table, "output", required=True))
    if "input" in table.schema:
        rules.append(text(table, "input", required=False))
    if "reference" in table.schema:
        rules.append(references(table, "reference"))
    return tuple(rules)


def _judgment_rules(table: Table) -> list[Rule]:
    rules = [identifier(table, column) for column in Judgment.key]
    rules.append(number(table, "score", required=True))
    if "seconds" in table.schema:
        rules.append(number(table, "seconds", required=False))
    if "time" in table.schema:
        rules.append(text(table, "time", required=False))
    if "probability" in table.schema:
        rules.append(probability(table, "probability"))
    rules.extend(
        identifier(table, column, required=False)
        for column in ("other_system", "first_system")
        if column in table.schema
    )
    return rules


def _without_duplicates(
    table: Table, rows: pl.DataFrame, on_duplicate: OnDuplicate
) -> pl.DataFrame:
    # A rater may prefer one output to several others, which are judgments of their own.
    names = [*Judgment.key, *(name for name in ("other_system",) if name in rows.columns)]
    if on_duplicate != "error":
        return rows.unique(subset=names, keep=on_duplicate, maintain_order=True)
    repeated = rows.filter(~pl.struct(names).is_first_distinct())
    if repeated.is_empty():
        return rows
    key = {column: repeated[column][0] for column in names}
    both = rows.filter(*(pl.col(column).eq_missing(value) for column, value in key.items()))[ROW]
    first, second = table.where(*both[:2])
    raise InvalidDataError(
        f"{table.name}, {second}: rater {key['rater']!r} judged item {key['item']!r} of system "
        f"{key['system']!r} under prompt {key['prompt']!r} already on {first}: choose the one to "
        "keep with --on-duplicate first or --on-duplicate last"
    )
