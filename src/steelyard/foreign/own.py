"""Outputs and judgments in our own form, read as the user says: once, for all other commands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from steelyard.errors import InvalidDataError, SteelyardError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Conversion, Format, Options
from steelyard.records import UNKNOWN_RATER
from steelyard.tables import Judgments, Outputs, read_judgments, read_outputs
from steelyard.tables.column_names import Role
from steelyard.tables.kinds import CONTRACT, TableKind, kind_of, only_numbers, own_names, together
from steelyard.tables.one_table import human_columns, split_table
from steelyard.tables.opening import open_table, renamed
from steelyard.tables.rules import identifier
from steelyard.tables.tables import Table

__all__ = ["FORMAT"]


def _recognises(document: ToolFile) -> bool:
    try:
        table = open_table(document.path, label="outputs", contract=CONTRACT)
    except SteelyardError:
        return False
    return kind_of(table, None)[0] in {"outputs", "judgments", "one table"}


def _convert(documents: Sequence[ToolFile], options: Options) -> list[Conversion]:
    tables = [_opened(document, options) for document in documents]
    kinds = [kind_of(table, options.columns) for table in tables]
    roles = together([kind for kind, _ in kinds])
    outputs, judgments, notes = pl.DataFrame(), pl.DataFrame(), []
    for table, role, (_, human) in zip(tables, roles, kinds, strict=True):
        pool, judged, said = _read(table, role, human, options)
        if (pool is not None and outputs.width) or (judged is not None and judgments.width):
            raise InvalidDataError(
                f"{table.name}: a second file of {role}: put the rows into one file"
            )
        outputs = outputs if pool is None else pool.rows()
        judgments = judgments if judged is None else _judgments(judged)
        notes += [*said, *(pool.notes if pool else ()), *(judged.notes if judged else ())]
    options.found.update(options.columns)
    return [Conversion("", outputs, judgments, tuple(dict.fromkeys(notes)))]


def _opened(document: ToolFile, options: Options) -> Table:
    return open_table(
        document.path,
        label="outputs",
        contract=CONTRACT,
        separator=options.separator,
        decimal=options.decimal,
    )


def _read(
    table: Table, kind: TableKind, human: Sequence[str], options: Options
) -> tuple[Outputs | None, Judgments | None, list[str]]:
    """Return the outputs and the judgments of a file, whichever it holds, and what was taken for granted."""
    if kind == "one table":
        columns = {ours: own for ours, own in options.columns.items() if own not in human}
        table, said = _named(table, "outputs", replace(options, columns=columns))
        table = _scaled(table, human_columns(table, human), options.scale)
        pool, judged, notes = split_table(table, human)
        return read_outputs(pool), _judged(judged, options), [*said, *notes]
    if kind == "outputs":
        table, said = _named(table, "outputs", options)
        return read_outputs(table), None, said
    if kind == "judgments":
        table, said = _named(table, "judgments", options)
        return None, _judged(_scaled(table, ["score"], options.scale), options), said
    raise InvalidDataError(
        f"{table.name}: not seen which column holds what: say what yours are called with --column, the "
        "one that people filled as score, or what the columns of a wide table are called with --wide"
    )


def _named(table: Table, role: Role, options: Options) -> tuple[Table, list[str]]:
    """Return the table under our names, and a note on each that was guessed."""
    names = own_names(table, role, options.columns)
    if role == "judgments" and "score" not in names:
        names |= only_numbers(table, names)
    mapped = {ours: theirs for ours, theirs in names.items() if ours != theirs}
    guessed = [f"`{theirs}` is taken for `{ours}`" for ours, theirs in mapped.items()]
    told = {*options.columns.values()}
    said = [
        note for note, theirs in zip(guessed, mapped.values(), strict=True) if theirs not in told
    ]
    return replace(renamed(table, mapped), role=role), said


def _scaled(table: Table, columns: Sequence[str], scale: Mapping[str, float]) -> Table:
    """Return the table with numbers for the words that are worth some."""
    texts = [name for name in columns if scale and table.schema.get(name) == pl.String]
    worth = {word: str(number) for word, number in scale.items()}
    spelled = {name: pl.col(name).str.strip_chars().str.to_lowercase() for name in texts}
    cells = [
        pl.when(word.is_in([*worth]))
        .then(word.replace_strict(worth, default=None, return_dtype=pl.String))
        .otherwise(pl.col(name))
        .alias(name)
        for name, word in spelled.items()
    ]
    return replace(table, rows=table.rows.with_columns(cells))


def _judged(table: Table, options: Options) -> Judgments:
    prompts = options.only.get("prompt")
    if options.raters is not None and "rater" in table.schema:
        known = identifier(table, "rater").value.is_in(sorted(options.raters))
        table = replace(table, rows=table.rows.filter(known))
    return read_judgments(
        table,
        on_duplicate=options.on_duplicate,
        prompts=None if prompts is None else [one.strip() for one in prompts.split(",")],
    )


def _judgments(judged: Judgments) -> pl.DataFrame:
    """Return the rows; raters that are not known are left out, so that none repeats another."""
    rows = judged.frame
    return rows.drop("rater") if (rows["rater"] == UNKNOWN_RATER).all() else rows


FORMAT = Format(
    name="own",
    title="Outputs and judgments in our own form, or in one table",
    expects="columns item and system, and output, metrics or score",
    recognises=_recognises,
    convert=_convert,
    columns=("*",),
)
