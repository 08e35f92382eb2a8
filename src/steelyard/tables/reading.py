"""Read outputs and judgments from files and data frames, and check every row."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.records import (
    ONLY_PROMPT,
    UNKNOWN_RATER,
    Judgment,
    Output,
    names_of,
    required_columns,
)
from steelyard.tables.column_names import lookalike, missing_columns
from steelyard.tables.direction import LOWER, directions
from steelyard.tables.duplicates import OnDuplicate, check_on_duplicate, settled
from steelyard.tables.frames import Source
from steelyard.tables.judgments import JUDGMENT_COLUMNS, Judgments
from steelyard.tables.metric_columns import metric_columns, with_numbers
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS, Outputs
from steelyard.tables.refusals import check
from steelyard.tables.rules import (
    ColumnRule,
    countable,
    identifier,
    is_blank,
    number,
    probability,
    references,
    text,
)
from steelyard.tables.selection import selected
from steelyard.tables.tables import Table

__all__ = ["OnDuplicate", "read_judgments", "read_outputs"]


def read_outputs(
    source: Source | Table,
    *,
    columns: Mapping[str, str] | None = None,
    metrics: Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    systems: Sequence[str] | None = None,
    exclude_systems: Sequence[str] | None = None,
    exclude_metrics: Sequence[str] | None = None,
) -> Outputs:
    """Read outputs: the pool, with the metrics known of it.

    Parameters
    ----------
    source : path, data frame, list of dicts, or dict of columns
        A file, by its extension and content: JSON Lines (``.jsonl``, ``.ndjson``), CSV, TSV, a JSON
        array (``.json``), each also ``.gz`` or ``.zst``; Excel (``book.xlsx``, ``book.xlsx#Sheet``);
        Parquet, also a folder or pattern (``parts/*.parquet``). Or any frame with the Arrow
        PyCapsule interface. Columns ``item``, ``system``, ``output``; optional ``input``,
        ``reference`` (text or list of texts); any others are kept.
    columns : mapping, optional
        Our name of a column, to the name it has in the source. One mapping serves outputs and
        judgments: it may name columns that only the other has, and ``outputs:item`` is for outputs
        only.
    metrics : sequence of str, optional
        The columns that hold metrics. If not given, all other columns that hold numbers, or
        true and false, do, but for those that are called like ids or dates.
    separator : str, optional
        What stands between the cells of CSV; if not given, what cuts most columns out of the header.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers in text; if not given, a point, or a comma where the
        numbers leave no doubt.
    systems, exclude_systems : sequence of str, optional
        The systems to read, or those to leave out, before anything is checked.
    exclude_metrics : sequence of str, optional
        Columns of numbers that are no metrics.

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

    In a CSV file or sheet an empty ``output`` is the empty text, a reference that is a JSON array of
    texts is a list, and another column holds numbers if each of its cells that is not empty is one.

    Examples
    --------
    >>> pool = read_outputs(
    ...     pl.DataFrame({"item": [1, 2], "system": "a", "output": ["x", "y"], "length": [1, 1]})
    ... )
    >>> pool.systems, pool.metrics
    (('a',), ('length',))
    """
    table = open_table(
        source,
        label="outputs",
        contract=OUTPUT_COLUMNS,
        columns=columns,
        separator=separator,
        decimal=decimal,
    )
    table.require(Output.key)
    table = selected(table, "system", systems, exclude_systems)
    if table.has_blank_cells:
        table = with_numbers(table)
    table, chosen, about = metric_columns(table, names_of(metrics), names_of(exclude_metrics) or ())
    if not chosen and metrics is None and not about:
        table.require(required_columns(Output))
    keys = tuple(identifier(table, column) for column in Output.key)
    texts = _text_rules(table)
    said = (*table.notes, *about)
    outputs = Outputs(table.name, chosen, tuple(table.schema), table, keys, texts, said)
    if not table.is_lazy:
        check(table, table.collect(table.rows), (*keys, *texts))
        outputs.check()
    return outputs


def read_judgments(
    source: Source | Table,
    *,
    columns: Mapping[str, str] | None = None,
    on_duplicate: OnDuplicate = "error",
    separator: str | None = None,
    decimal: str | None = None,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    exclude_systems: Sequence[str] | None = None,
    lower_is_better: Sequence[str] | None = None,
) -> Judgments:
    """Read judgments and check every one of them.

    Parameters
    ----------
    source : path, data frame, list of dicts, or dict of columns
        A file, by its extension and content: JSON Lines (``.jsonl``, ``.ndjson``), CSV, TSV, a JSON
        array (``.json``), each also ``.gz`` or ``.zst``; Excel (``book.xlsx``, ``book.xlsx#Sheet``);
        Parquet, also a folder or pattern (``parts/*.parquet``). Or any frame with the Arrow
        PyCapsule interface. Columns ``item``, ``system``, ``score``; ``rater`` and ``prompt``,
        without which raters are unknown and the only prompt is ``overall``; optional ``seconds``,
        ``time``, ``probability``, and of a preference ``other_system`` and ``first_system``; any
        others are kept, in CSV as text.
    columns, separator, decimal, systems, exclude_systems
        As in `read_outputs`.
    on_duplicate : {"error", "first", "last", "mean", "all"}
        What to do when a rater judged one output twice under one prompt: refuse, keep one, take the
        mean, or keep all as of unknown raters, where one name stands for several people.
    prompts : sequence of str, optional
        The prompts to read, before anything is checked; all of them if one has no judgments.
    lower_is_better : sequence of str, optional
        Prompts whose lower scores are better; a column ``lower_is_better`` may say so too.

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
    >>> read_judgments([{"item": 1, "system": "a", "score": 3}]).notes[0]
    'judgments: no column `rater`: raters are unknown'
    """
    check_on_duplicate(on_duplicate)
    table = open_table(
        source,
        label="judgments",
        contract=JUDGMENT_COLUMNS,
        columns=columns,
        separator=separator,
        decimal=decimal,
    )
    table.require(required_columns(Judgment))
    table, notes = _with_rater_and_prompt(table)
    table = selected(table, "prompt", prompts)
    table = selected(table, "system", systems, exclude_systems)
    rules = _judgment_rules(table)
    raw, blank = _scored(table, [rule for rule in rules if rule.column in Judgment.key])
    check(table, raw, rules)
    check(table, raw, [countable(rule) for rule in rules if rule.column == "score"])
    rows = raw.with_columns(rule.value for rule in rules)
    rows, about = settled(table, rows, on_duplicate)
    notes = (*notes, *about)
    lower, questions = directions(table.name, rows, names_of(lower_is_better))
    said = (*table.notes, *notes, *blank, *questions)
    return Judgments(table.name, rows, table, said).directed(lower)


def _scored(table: Table, keys: Sequence[ColumnRule]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the rows that have a score, and a note on the number of those that have none.

    A row without a score says at least whose it is: one that was cut off is none.

    Raises
    ------
    InvalidDataError
        If none has one.
    """
    rows = table.collect(table.rows)
    check(table, rows, keys)
    kept = rows.filter(~is_blank(table, "score"))
    blank = rows.height - kept.height
    if not kept.height:
        raise InvalidDataError(
            f"{table.name}, column {table.column('score')}: blank on all {blank:,} rows"
        )
    note = f"{table.name}: {blank:,} of {rows.height:,} rows are left out: their score is blank"
    return kept, (note,) if blank else ()


def _with_rater_and_prompt(table: Table) -> tuple[Table, tuple[str, ...]]:
    """Return judgments with a rater and a prompt, and a note on each that they do not name.

    Raises
    ------
    InvalidDataError
        If another column looks like it.
    """
    notes = []
    for column, value, meaning in (
        ("rater", UNKNOWN_RATER, "raters are unknown"),
        ("prompt", ONLY_PROMPT, f"all judgments are taken to be under one, {ONLY_PROMPT}"),
    ):
        if column in table.schema:
            continue
        others = [name for name in table.schema if name not in JUDGMENT_COLUMNS]
        if lookalike(column, others, misspelt=False) is not None:
            raise missing_columns(table.name, list(table.schema), [column], JUDGMENT_COLUMNS)
        notes.append(f"{table.name}: no column `{column}`: {meaning}")
        table = replace(
            table,
            rows=table.rows.with_columns(pl.lit(value).alias(column)),
            schema=pl.Schema({**table.schema, column: pl.String()}),
        )
    return table, tuple(notes)


def _text_rules(table: Table) -> tuple[ColumnRule, ...]:
    rules = []
    if "output" in table.schema:
        rules.append(text(table, "output", required=True))
    if "input" in table.schema:
        rules.append(text(table, "input", required=False))
    if "reference" in table.schema:
        rules.append(references(table, "reference"))
    return tuple(rules)


def _judgment_rules(table: Table) -> list[ColumnRule]:
    """Return what the columns of judgments must hold."""
    rules = [identifier(table, column) for column in Judgment.key]
    rules.append(number(table, "score", required=True))
    if "seconds" in table.schema:
        rules.append(number(table, "seconds", required=False))
    if LOWER in table.schema:
        rules.append(number(table, LOWER, required=False))
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
