"""``steelyard convert``."""

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import click
import polars as pl

from steelyard.cli.paths import InputPath, check_not_inputs
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.foreign import AUTO, FORMATS, Options, converted
from steelyard.foreign.documents import open_document
from steelyard.foreign.format import Conversion
from steelyard.foreign.prolific import approved_raters
from steelyard.foreign.values import number
from steelyard.tables import write_table
from steelyard.tables.duplicates import OnDuplicate

__all__ = ["convert"]

_EXAMPLE = """\b
Examples:
  steelyard convert logs/*.eval --output converted
  steelyard convert ratings.csv --wide "{rater}_{system}" --scale "bad=0,ok=0.5,good=1" -o converted
"""


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=InputPath())
@click.option(
    "--from",
    "source",
    default=AUTO,
    show_default=True,
    metavar="FORMAT",
    help=f"Format of FILE: {AUTO}, {', '.join(FORMATS)}.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to; made if it is not there.",
)
@click.option(
    "--system",
    metavar="NAME",
    help="The system of all outputs, where the tool does not record it; {file} is the file's name.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Where item, system, output, rater and so on stand: a key or a dotted path; score=gold, score=rater* "
    "where one table of yours holds scores too.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="WHAT=VALUE",
    help="Take one of several: epoch, filter, trial, repetition, pair, prompt.",
)
@click.option(
    "--wide",
    multiple=True,
    metavar="PATTERN",
    help="What the columns of a wide table are called: {rater}, {system}, {prompt}, {metric}; "
    "{rater:ann|bob} takes these names only.",
)
@click.option("--scale", metavar="WORD=NUMBER,...", help="What words are worth as scores.")
@click.option(
    "--raters-from",
    type=InputPath(),
    metavar="FILE",
    help="Submissions as Prolific exports them: keep the judgments of approved participants.",
)
@click.option(
    "--on-duplicate",
    type=click.Choice(get_args(OnDuplicate)),
    default="error",
    show_default=True,
    help="What to do with a rater's second judgment of an output: keep one, take their mean, or keep all as of "
    "unknown raters.",
)
@click.option(
    "--separator", metavar="CHARACTER", help="What stands between cells of CSV, such as ';' or tab."
)
@click.option("--decimal", metavar="MARK", help="What stands before decimals in text: . or ,")
def convert(
    files: tuple[Path, ...],
    *,
    source: str,
    output: Path,
    system: str | None,
    columns: tuple[str, ...],
    only: tuple[str, ...],
    wide: tuple[str, ...],
    scale: str | None,
    raters_from: Path | None,
    on_duplicate: OnDuplicate,
    separator: str | None,
    decimal: str | None,
) -> None:
    """Turn other tools' files, and odd ones of your own, into files of outputs and judgments.

    Writes outputs.jsonl, judgments.jsonl and preferences.jsonl, whichever FILE holds, and says what
    was merged, renamed or left out. Scores that a model gave become metrics; only what people said
    becomes judgments.
    """
    options = Options(
        system=system,
        columns=_pairs("--column", columns),
        only=_pairs("--only", only),
        scale=_scale(scale),
        wide=wide,
        raters=None if raters_from is None else approved_raters(open_document(raters_from)),
        raters_from="" if raters_from is None else str(raters_from),
        on_duplicate=on_duplicate,
        separator=separator,
        decimal=decimal,
    )
    chosen, found = converted(files, source, options)
    if source == AUTO:
        click.echo(f"format: {chosen.name} ({chosen.title})", err=True)
    tables = {one.name: _tables(one, output) for one in found}
    written = {path: frame for named in tables.values() for path, frame in named.items()}
    inputs = (*files, *([] if raters_from is None else [raters_from]))
    check_not_inputs("--output", written, inputs)
    stale = _write(output, written)
    for one in found:
        for path, frame in tables[one.name].items():
            click.echo(f"{path}: {frame.height:,} {path.stem.rpartition('-')[2]}")
        for remark in one.remarks:
            click.echo(f"  {remark}", err=True)
        click.echo(_next(list(tables[one.name])))
    for path in stale:
        click.echo(f"  {path} is from an earlier conversion, not from this one", err=True)


def _tables(one: Conversion, folder: Path) -> dict[Path, pl.DataFrame]:
    prefix = f"{one.name}-" if one.name else ""
    named = {"outputs": one.outputs, "judgments": one.judgments, "preferences": one.preferences}
    return {
        folder / f"{prefix}{kind}.jsonl": frame
        for kind, frame in named.items()
        if not frame.is_empty()
    }


def _write(folder: Path, written: Mapping[Path, pl.DataFrame]) -> list[Path]:
    """Write all files or none; return files of such names that were there and are not replaced."""
    for path in written:
        if path.is_dir():
            raise InvalidArgumentError(f"`--output` {folder}: {path.name} is a folder there")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".converting-") as place:
            for path, frame in written.items():
                write_table(frame, Path(place) / path.name)
            for path in written:
                (Path(place) / path.name).replace(path)
    except OSError as error:
        raise InvalidDataError(
            f"`--output` {folder}: cannot be written: {error.strerror or error}"
        ) from error
    names = ("outputs.jsonl", "judgments.jsonl", "preferences.jsonl")
    return [
        folder / name for name in names if (folder / name).exists() and folder / name not in written
    ]


def _next(paths: list[Path]) -> str:
    """Return the command to go on with."""
    kinds = {path.stem.rpartition("-")[2]: shlex.quote(str(path)) for path in paths}
    command = "estimate" if "judgments" in kinds else "compare"
    judged = kinds.get("judgments", kinds.get("preferences"))
    if judged is None:
        return f"Next: steelyard sample {kinds['outputs']} -n 100 --seed 1 --output sample.jsonl"
    if "outputs" in kinds:
        return f"Next: steelyard {command} {kinds['outputs']} {judged}"
    return f"Next: a file of all outputs, and then: steelyard {command} OUTPUTS {judged}"


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise InvalidArgumentError(
                f"`{option}` must be two names with '=' between; got {pair!r}"
            )
        if ours in found:
            raise InvalidArgumentError(f"`{option}` names {ours!r} twice")
        found[ours] = theirs
    return found


def _scale(given: str | None) -> dict[str, float]:
    """Return what words are worth; words in small letters."""
    found: dict[str, float] = {}
    for pair in given.split(",") if given is not None else ():
        word, equals, worth = pair.rpartition("=")
        value = number(worth)
        word = word.strip().casefold()
        if not equals or value is None or not word:
            raise InvalidArgumentError(
                f"`--scale` must be words with numbers, such as bad=0,ok=0.5,good=1; got {pair!r}"
            )
        if found.get(word, value) != value:
            raise InvalidArgumentError(f"`--scale` gives two numbers for {word!r}")
        found[word] = value
    return found
