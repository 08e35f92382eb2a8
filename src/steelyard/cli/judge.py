"""``steelyard judge``."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np
import polars as pl
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from steelyard.cli.judge_summary import exit_by_missing, shown, summary
from steelyard.cli.options import by_file, column_mapping, file_options
from steelyard.cli.paths import InputPath, OutputFile, check_not_inputs
from steelyard.cli.printing import plain_console, print_json
from steelyard.data import Outputs, read_outputs
from steelyard.data.formats import format_of
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.judge import EndpointError, Judged, Rubric, Usage, read_rubric
from steelyard.judge import judge as judge_texts
from steelyard.judge.answer import ScoreKind
from steelyard.judge.result import Progress as Listener
from steelyard.scoring.beside import write_beside

__all__ = ["judge"]

# One for all files of a folder: an output that is renamed pays nothing anew.
_CACHE = "judge.cache"
_NOT_ASKED = "not asked: beyond --limit"
_EXAMPLE = """\b
Example:
  steelyard judge outputs.jsonl --endpoint http://localhost:8000/v1 --model my-model \\
    --rubric fluency -o judged.jsonl
"""


@click.command(epilog=_EXAMPLE)
@click.argument("outputs", type=InputPath())
@click.option(
    "--endpoint",
    required=True,
    metavar="URL",
    help="Address before /chat/completions, for example http://localhost:8000/v1.",
)
@click.option("--model", required=True, help="Name of the model at the endpoint.")
@click.option(
    "--rubric",
    "rubrics",
    required=True,
    multiple=True,
    help="What is asked: fluency, correctness, or your own .toml file; may be given several times, "
    "for a column each.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="File to write: OUTPUTS with the scores; another file than OUTPUTS.",
)
@click.option("--name", help="Name of the new column of one rubric.  [default: judge.RUBRIC]")
@file_options
@click.option(
    "--score",
    type=click.Choice(get_args(ScoreKind)),
    default="integer",
    show_default=True,
    help="The number that the model names, or its mean under the model's probabilities.",
)
@click.option(
    "--concurrency", type=int, default=8, show_default=True, help="Questions under way at a time."
)
@click.option(
    "--max-retries", type=int, default=5, show_default=True, help="Attempts after the first."
)
@click.option(
    "--timeout", type=float, default=60, show_default=True, help="Seconds that a reply may take."
)
@click.option(
    "--requests-per-minute",
    type=float,
    help="Limit of the endpoint.  [default: found by its refusals]",
)
@click.option(
    "--tokens-per-minute", type=float, help="Limit of the endpoint, questions and replies together."
)
@click.option("--api-key-env", metavar="VAR", help="Environment variable with the API key.")
@click.option("--price-in", type=float, help="Price of a million tokens of questions.")
@click.option("--price-out", type=float, help="Price of a million tokens of replies.")
@click.option("--limit", type=int, help="Ask about the first outputs only, to see what it costs.")
@click.option(
    "--cache",
    type=OutputFile(),
    help="File that keeps replies.  [default: judge.cache beside the output]",
)
@click.option(
    "--retry-invalid", is_flag=True, help="Ask anew where a kept reply has no valid score."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")
@click.pass_context
def judge(
    context: click.Context,
    outputs: Path,
    *,
    endpoint: str,
    model: str,
    rubrics: tuple[str, ...],
    output: Path,
    name: str | None,
    columns: tuple[str, ...],
    separators: tuple[str, ...],
    decimals: tuple[str, ...],
    score: ScoreKind,
    concurrency: int,
    max_retries: int,
    timeout: float,
    requests_per_minute: float | None,
    tokens_per_minute: float | None,
    api_key_env: str | None,
    price_in: float | None,
    price_out: float | None,
    limit: int | None,
    cache: Path | None,
    retry_invalid: bool,
    as_json: bool,
) -> None:
    """Score every output with a language model behind an OpenAI-compatible endpoint.

    Adds a numeric column to OUTPUTS for each rubric, and a column NAME.reason that says why where there is no
    score; a judge that answers with JSON explains its score in NAME.explanation. All other columns stay as they are. Replies are kept as they come: run the same command again to go on after a stop, or
    to ask again what failed. The exit code is 3 if some outputs that were asked about have no score, and 1 if none has.
    """
    chosen = _named(rubrics, name)
    keeper = cache or output.with_name(_CACHE)
    check_not_inputs("--output", [output, keeper], [outputs, *map(Path, rubrics)])
    # before anything is asked: what costs money must not fail at the end
    _check(output, limit)
    reading: dict[str, Any] = {
        "columns": column_mapping(columns),
        "separator": by_file("--separator", separators).get("outputs"),
        "decimal": by_file("--decimal", decimals).get("outputs"),
    }
    pool = read_outputs(outputs, **reading)
    rows = _rows(pool, chosen)
    some = rows if limit is None else rows.head(limit)
    found = {}
    for column, rubric in chosen.items():
        with _progress(prices=(price_in, price_out)) as listener, _keeping(keeper):
            found[column] = judge_texts(
                some["output"].to_list(),
                some["reference"].to_list() if rubric.needs("reference") else None,
                some["input"].to_list() if rubric.needs("input") else None,
                endpoint=endpoint,
                model=model,
                rubric=rubric,
                score=score,
                concurrency=concurrency,
                max_retries=max_retries,
                timeout=timeout,
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                api_key_env=api_key_env,
                price_in=price_in,
                price_out=price_out,
                cache=keeper,
                retry_invalid=retry_invalid,
                progress=listener,
            )
    scores: dict[str, list[Any]] = {}
    for column, judged in found.items():
        scores |= _columns(judged, column, n_outputs=rows.height)
    with _keeping(keeper):
        write_beside(outputs, output, scores, reading=reading)
    summaries = [
        {"rubric": chosen[column].name, **summary(judged, column, n_outputs=rows.height)}
        for column, judged in found.items()
    ]
    if as_json:
        several = {"rubrics": summaries} if len(summaries) > 1 else {}
        print_json({"model": model, "score": score, **(several or summaries[0])}, None)
    else:
        click.echo("\n".join(shown(one, output) for one in summaries))
    n_missing = sum(judged.n_missing for judged in found.values())
    exit_by_missing(context, n_missing, some.height * len(found))


def _named(rubrics: Sequence[str], name: str | None) -> dict[str, Rubric]:
    """Return rubrics by the columns that they make."""
    read = [read_rubric(rubric) for rubric in dict.fromkeys(rubrics)]
    if name is None:
        found = {f"judge.{rubric.name}": rubric for rubric in read}
        if len(found) < len(read):
            raise InvalidArgumentError(
                "`--rubric` must name rubrics with different names, which their columns get; got "
                f"{', '.join(rubric.name for rubric in read)}"
            )
        return found
    if len(read) > 1:
        raise InvalidArgumentError(
            "`--name` is for one rubric; several name their columns themselves: leave it out"
        )
    if not name.startswith("judge.") or name == "judge.":
        raise InvalidArgumentError(f"`--name` must look like judge.fluency; got {name!r}")
    return {name: read[0]}


def _check(output: Path, limit: int | None) -> None:
    format_of(output)
    folder = output.absolute().parent
    if not folder.is_dir():
        raise InvalidArgumentError(
            f"`--output` must lie in an existing folder; there is no {output.parent}"
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidArgumentError(
            f"`--output` must lie in a folder that can be written to; {folder}: {error.strerror}"
        ) from error
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"`--limit` must be at least 1; got {limit}")


def _rows(pool: Outputs, rubrics: Mapping[str, Rubric]) -> pl.DataFrame:
    names = ["output"]
    for column, rubric in rubrics.items():
        needed = [name for name in ("input", "reference") if rubric.needs(name)]
        names += [name for name in needed if name not in names]
        for name in ("output", *needed):
            if name not in pool.columns:
                raise InvalidArgumentError(
                    f"`--rubric` {rubric.name} shows the judge a column `{name}`, which {pool.name} "
                    f"does not have: say which one it is with --column {name}=YOUR_COLUMN, add it, "
                    "or choose another rubric"
                )
        # with its reasons it was written by an earlier run: this one goes on
        if column in pool.columns and f"{column}.reason" not in pool.columns:
            raise InvalidArgumentError(
                f"`--name` must be new; {pool.name} has a column `{column}` that is not a judge's: "
                "choose another name"
            )
    return pool.rows(columns=names)


def _columns(judged: Judged, column: str, *, n_outputs: int) -> dict[str, list[Any]]:
    """Return the new columns of one rubric."""
    beyond = n_outputs - len(judged.scores)
    scores = [None if np.isnan(score) else float(score) for score in judged.scores]
    found: dict[str, list[Any]] = {
        column: [*scores, *[None] * beyond],
        f"{column}.reason": [*judged.reasons, *[_NOT_ASKED] * beyond],
    }
    if judged.explanations is not None:
        found[f"{column}.explanation"] = [*judged.explanations, *[None] * beyond]
    return found


@contextmanager
def _keeping(cache: Path) -> Iterator[None]:
    """Say where the replies are when the endpoint ends the run, or the file cannot be written."""
    try:
        yield
    except (EndpointError, InvalidDataError) as error:
        if str(cache) in str(error):
            raise
        raise type(error)(f"{error}; replies so far are kept in {cache}") from error


@contextmanager
def _progress(*, prices: tuple[float | None, float | None]) -> Iterator[Listener | None]:
    """Show a bar on a terminal, with the rate and what it costs so far; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    price_in, price_out = prices
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}"),
    )
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="", cost="")

        def listen(done: int, total: int, usage: Usage) -> None:
            speed = bar.tasks[0].speed
            cost = ""
            if price_in is not None and price_out is not None:
                cost = f"cost {usage.cost(price_in, price_out):.4f}"
            rate = "" if speed is None else f"{speed:.1f}/s"
            bar.update(task, completed=done, total=total, rate=rate, cost=cost)

        yield listen
