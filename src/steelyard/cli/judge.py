"""``steelyard judge``."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import polars as pl

from steelyard.cli.options import column_mapping
from steelyard.cli.paths import InputPath, OutputFile, check_not_inputs, check_writable
from steelyard.cli.printing import print_json, progress_bar
from steelyard.errors import InvalidArgumentError, InvalidDataError, MissingDependencyError
from steelyard.judge import EndpointError, Judged, Rubric, Usage, forecast, read_rubric
from steelyard.judge import judge as ask
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.judging import Foreseen
from steelyard.judge.pairs import PREFERENCE_COLUMNS
from steelyard.scoring.beside import write_beside
from steelyard.tables import Outputs, read_outputs, write_table
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS

__all__ = ["judge"]

# One for all files of a folder: an output that is renamed pays nothing anew.
_CACHE = "judge.cache"
_NOT_ASKED = "not asked: beyond --limit"
# Exit code: the file is there, but some scores are not.
_SOME_MISSING = 3
# Seconds between two lines of a log; a run that is over before prints none.
_EVERY = 30.0
_EXAMPLE = """\b
Example:
  steelyard judge outputs.jsonl --endpoint http://localhost:8000/v1 --model my-model \\
    --rubric fluency -o judged.jsonl
"""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Who is asked what, where, and the column that comes of it."""

    column: str
    model: str
    endpoint: str
    api_key_env: str | None
    rubric: Rubric

    @property
    def named(self) -> dict[str, str]:
        """How it stands in JSON."""
        return {"model": self.model, "rubric": self.rubric.name, "column": self.column}

    @property
    def asked(self) -> dict[str, Any]:
        """What `steelyard.judge.forecast` and `steelyard.judge.judge` take."""
        return {"model": self.model, "rubric": self.rubric}


@click.command(epilog=_EXAMPLE)
@click.argument("outputs", type=InputPath())
@click.option(
    "--endpoint",
    "endpoints",
    required=True,
    multiple=True,
    metavar="URL",
    help="Address before /chat/completions; for several models once, or once each.",
)
@click.option(
    "--model",
    "models",
    required=True,
    multiple=True,
    help="Name of the model at the endpoint; may be given several times, for a column each.",
)
@click.option(
    "--rubric",
    "rubrics",
    required=True,
    multiple=True,
    help="What is asked: fluency, correctness, preference, your own .toml file, or the .yaml file of a "
    "campaign, for what its raters are asked; may be given several times, for a column each.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="File to write: OUTPUTS with the scores; another file than OUTPUTS.",
)
@click.option(
    "--preferences",
    type=OutputFile(),
    help="File to write what a rubric that compares prefers, for steelyard compare.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=YOURS",
    help="Your name of one of our columns, for example item=doc_id.",
)
@click.option(
    "--api-key-env",
    "keys",
    multiple=True,
    metavar="VAR",
    help="Environment variable with the API key, or HEADER=VAR as in api-key=AZURE_KEY; of several "
    "endpoints, once each.",
)
@click.option(
    "--concurrency", type=int, default=8, show_default=True, help="Questions under way at a time."
)
@click.option(
    "--requests-per-minute",
    type=float,
    help="Limit of the endpoint.  [default: found by its refusals]",
)
@click.option(
    "--prices", type=(float, float), help="Of a million tokens of questions and of replies."
)
@click.option("--limit", type=click.IntRange(min=1), help="Ask about the first outputs only.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and what it costs.")
@click.option(
    "--cache",
    type=OutputFile(),
    help="File that keeps replies.  [default: judge.cache beside the output]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")
@click.pass_context
def judge(
    context: click.Context,
    outputs: Path,
    *,
    endpoints: Sequence[str],
    models: Sequence[str],
    rubrics: Sequence[str],
    output: Path,
    preferences: Path | None,
    columns: Sequence[str],
    keys: Sequence[str],
    concurrency: int,
    requests_per_minute: float | None,
    prices: tuple[float, float] | None,
    limit: int | None,
    dry_run: bool,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Score every output with a language model behind an OpenAI-compatible endpoint.

    Adds a numeric column judge.RUBRIC to OUTPUTS for each rubric (and criterion, and model), and a column
    NAME.reason that says why where there is no score. All other columns stay as they are. Replies are
    kept as they come: run the same command again to go on after a stop, or to ask again what failed. The
    exit code is 3 if some outputs that were asked about have no score, and 1 if none has.
    """
    judges = _judges(endpoints, models, keys, rubrics)
    kept = cache or output.with_name(_CACHE)
    written = [output, kept, *([preferences] if preferences else [])]
    check_not_inputs("--output", written, [outputs, *map(Path, rubrics)])
    reading: dict[str, Any] = {"columns": column_mapping(columns)}
    pool = read_outputs(outputs, **reading)
    _check(judges, pool, preferences)
    # before anything is asked: what costs money must not fail at the end
    for path in written:
        if path != kept:
            check_writable("--output" if path == output else "--preferences", path)
    shown = {name for one in judges for name in one.rubric.columns}
    every = pool.rows(columns=sorted(shown))
    rows = every.head(limit or every.height)
    beyond = every.height - rows.height
    counting: dict[str, Any] = {"prices": prices, "cache": kept}
    if dry_run:
        _foresee(judges, rows, counting, as_json=as_json)
        return
    pace = {"concurrency": concurrency, "requests_per_minute": requests_per_minute}
    found = [(one, _asked(one, rows, counting | pace)) for one in judges]
    cells = {
        name: [*values, *[_NOT_ASKED if name.endswith(".reason") else None] * beyond]
        for one, judged in found
        for name, values in judged.columns(one.column).items()
    }
    with _keeping(kept):
        table = open_table(outputs, label="outputs", contract=OUTPUT_COLUMNS, **reading)
        write_beside(table, output, pl.DataFrame([_column(*cell) for cell in cells.items()]))
        if preferences is not None:
            duels = [row for _, judged in found for row in judged.preferences]
            write_table(pl.DataFrame(duels, schema=PREFERENCE_COLUMNS), preferences)
    if as_json:
        print_json([asdict(judged.summary(**one.named)) for one, judged in found])
    else:
        click.echo("\n".join(line for one, judged in found for line in judged.lines(one.column)))
    _exit_by_missing(context, [judged for _, judged in found], output)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    is_text = any(isinstance(value, str) for value in values) or name.endswith(
        (".reason", ".explanation")
    )
    return pl.Series(name, values, dtype=pl.String if is_text else pl.Float64)


def _exit_by_missing(context: click.Context, found: Sequence[Judged], output: Path) -> None:
    n_missing, n_asked = sum(one.n_missing for one in found), sum(len(one.scores) for one in found)
    which = f"{n_missing:,} of {n_asked:,} scores are missing"
    if n_missing == n_asked:
        which = "no output has a score"
    if n_missing:
        click.echo(f"steelyard: {which}; the reasons stand in {output}", err=True)
        context.exit(1 if n_missing == n_asked else _SOME_MISSING)


def _judges(
    endpoints: Sequence[str], models: Sequence[str], keys: Sequence[str], rubrics: Sequence[str]
) -> list[Judge]:
    """Return who is asked what: each model by each rubric."""
    if len(endpoints) not in {1, len(models)}:
        raise InvalidArgumentError(
            f"`--endpoint` must be given once, or once for each --model; got {len(endpoints)} for {len(models)}"
        )
    # a key must not reach a place that it was not meant for
    is_enough = len(keys) == len(models) or (len(keys) == 1 == len(set(endpoints)))
    if keys and not is_enough:
        raise InvalidArgumentError(
            f"`--api-key-env` must be given once for each --endpoint, which has its own key; got {len(keys)}"
        )
    read = [one for name in dict.fromkeys(rubrics) for one in _rubrics(name)]
    if len({rubric.name for rubric in read}) < len(read):
        raise InvalidArgumentError(
            "`--rubric` must name rubrics with different names, which their columns get; got "
            f"{', '.join(rubric.name for rubric in read)}"
        )
    # a question of a campaign has the name of people's judgments, which no metric may have
    is_long = len(models) > 1 or any(_is_campaign(name) for name in rubrics)
    return [
        Judge(
            column=f"judge.{model}.{rubric.name}" if is_long else f"judge.{rubric.name}",
            model=model,
            endpoint=endpoints[nth % len(endpoints)],
            api_key_env=keys[nth % len(keys)] if keys else None,
            rubric=rubric,
        )
        for nth, model in enumerate(models)
        for rubric in read
    ]


def _is_campaign(rubric: str) -> bool:
    return rubric.endswith((".yaml", ".yml"))


def _rubrics(name: str) -> list[Rubric]:
    """Return a rubric, or the questions of a campaign file that one number or word answers."""
    if not _is_campaign(name):
        return [read_rubric(name)]
    try:
        # they need the extra
        from steelyard.collect.config.campaign import load_campaign  # noqa: PLC0415
        from steelyard.collect.rubrics import task_rubrics  # noqa: PLC0415
    except ImportError as error:
        if error.name is None or error.name.startswith("steelyard"):
            raise
        raise MissingDependencyError(
            f"a campaign needs {error.name}: pip install 'steelyard[serve]'"
        ) from error
    asked = task_rubrics(load_campaign(Path(name)).task)
    reasons = [f"{prompt} is not asked: {reason}" for prompt, reason in asked.left_out.items()]
    if not asked.rubrics:
        raise InvalidArgumentError(
            f"`--rubric` {name} asks nothing that one number or word answers: {'; '.join(reasons)}"
        )
    for reason in reasons:
        click.echo(f"steelyard: {Path(name).name}: {reason}", err=True)
    return list(asked.rubrics.values())


def _check(judges: Sequence[Judge], pool: Outputs, preferences: Path | None) -> None:
    """Raise for all that would be refused, before the first of them is paid for."""
    if preferences is not None and not any(one.rubric.compares for one in judges):
        raise InvalidArgumentError(
            "`--preferences` is for a rubric that compares two outputs, with {other_output}"
        )
    for one in judges:
        Endpoint.of(one.endpoint, api_key_env=one.api_key_env)
        for name in one.rubric.columns:
            if name not in pool.columns:
                raise InvalidArgumentError(
                    f"`--rubric` {one.rubric.name} shows the judge a column `{name}`, which {pool.name} "
                    f"does not have: say which one it is with --column {name}=YOUR_COLUMN, add it, "
                    "or choose another rubric"
                )
        # with its reasons it was written by an earlier run: this one goes on
        if one.column in pool.columns and f"{one.column}.reason" not in pool.columns:
            raise InvalidArgumentError(
                f"{pool.name} has a column `{one.column}` that is not a judge's: rename it, or the rubric"
            )


def _foresee(
    judges: Sequence[Judge], rows: pl.DataFrame, counting: dict[str, Any], *, as_json: bool
) -> None:
    found = [(one, forecast(rows, **one.asked, **counting)) for one in judges]
    if as_json:
        print_json([asdict(Foreseen(**one.named, forecast=what)) for one, what in found])
        return
    for one, what in found:
        click.echo(f"{one.column}: {what.sentence}")
    click.echo("Nothing was asked. The same command without --dry-run asks.")


def _asked(one: Judge, rows: pl.DataFrame, options: dict[str, Any]) -> Judged:
    with _progress(one.column) as listener, _keeping(options["cache"]):
        return ask(
            rows,
            **one.asked,
            **options,
            endpoint=one.endpoint,
            api_key_env=one.api_key_env,
            progress=listener,
        )


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """Show how far the questions of one column are: a bar on a terminal, lines in a log."""
    start = last = time.monotonic()
    with progress_bar(name) as bar:

        def listen(done: int, total: int, _: Usage) -> None:
            nonlocal last
            bar(done, total)
            now = time.monotonic()
            if now - last >= _EVERY and not sys.stderr.isatty():
                last, rate = now, done / (now - start)
                click.echo(
                    f"steelyard: {name}: {done:,} of {total:,} questions, {rate:.1f}/s", err=True
                )

        yield listen


@contextmanager
def _keeping(cache: Path) -> Iterator[None]:
    """Say where the replies are when the endpoint ends the run, or the file cannot be written."""
    try:
        yield
    except (EndpointError, InvalidDataError) as error:
        if str(cache) in str(error):
            raise
        raise type(error)(f"{error}; replies so far are kept in {cache}") from error
