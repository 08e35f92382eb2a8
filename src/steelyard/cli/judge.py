"""``steelyard judge``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np
import polars as pl
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from steelyard.cli.options import by_file, column_mapping, file_options
from steelyard.cli.paths import InputPath, OutputFile, check_not_inputs
from steelyard.cli.printing import plain_console, print_json
from steelyard.data import Outputs, read_outputs, write_table
from steelyard.data.formats import format_of
from steelyard.errors import InvalidArgumentError
from steelyard.judge import EndpointError, Judged, Rubric, Usage, read_rubric
from steelyard.judge import judge as judge_texts
from steelyard.judge.answer import ScoreKind
from steelyard.judge.result import Progress as Listener

__all__ = ["judge"]

# Exit code: the file is there, but some scores are not.
_SOME_MISSING = 3
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
    "--rubric", required=True, help="What is asked: fluency, correctness, or your own .toml file."
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="File to write: OUTPUTS with the scores; another file than OUTPUTS.",
)
@click.option("--name", help="Name of the new column.  [default: judge.RUBRIC]")
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
    help="File that keeps replies.  [default: FILE.cache beside the output]",
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
    rubric: str,
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

    Adds a numeric column to OUTPUTS, and a column NAME.reason that says why where there is no
    score. Replies are kept as they come: run the same command again to go on after a stop, or
    to ask again what failed. The exit code is 3 if some outputs that were asked about have no score, and 1 if none has.
    """
    chosen = read_rubric(rubric)
    column = name or f"judge.{chosen.name}"
    keeper = cache or output.with_name(f"{output.name}.cache")
    check_not_inputs("--output", [output, keeper], [outputs, Path(rubric)])
    # before anything is asked: what costs money must not fail at the end
    _check(output, column, limit)
    pool = read_outputs(
        outputs,
        columns=column_mapping(columns),
        separator=by_file("--separator", separators).get("outputs"),
        decimal=by_file("--decimal", decimals).get("outputs"),
    )
    rows = _rows(pool, column, chosen)
    some = rows if limit is None else rows.head(limit)
    with _progress(prices=(price_in, price_out)) as listener, _keeping(keeper):
        judged = judge_texts(
            some["output"].to_list(),
            some["reference"].to_list() if chosen.needs("reference") else None,
            some["input"].to_list() if chosen.needs("input") else None,
            endpoint=endpoint,
            model=model,
            rubric=chosen,
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
    write_table(_with_scores(rows, judged, column).rename(pool.mapped), output)
    summary = _summary(judged, column, n_outputs=rows.height)
    if as_json:
        print_json({"model": model, "rubric": chosen.name, "score": score, **summary}, None)
    else:
        click.echo(_shown(summary, output))
    if judged.n_missing == some.height:
        click.echo("steelyard: no output has a score; the reasons stand in the file", err=True)
        context.exit(1)
    if judged.n_missing:
        click.echo(
            f"steelyard: {judged.n_missing:,} of {some.height:,} outputs have no score; the reasons "
            "stand in the file",
            err=True,
        )
        context.exit(_SOME_MISSING)


def _check(output: Path, column: str, limit: int | None) -> None:
    format_of(output)
    if not column.startswith("judge.") or column == "judge.":
        raise InvalidArgumentError(f"`--name` must look like judge.fluency; got {column!r}")
    if not output.absolute().parent.is_dir():
        raise InvalidArgumentError(
            f"`--output` must lie in an existing folder; there is no {output.parent}"
        )
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"`--limit` must be at least 1; got {limit}")


def _rows(pool: Outputs, column: str, rubric: Rubric) -> pl.DataFrame:
    needed = ["output", *(name for name in ("input", "reference") if rubric.needs(name))]
    for name in needed:
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
    return pool.rows()


def _with_scores(rows: pl.DataFrame, judged: Judged, column: str) -> pl.DataFrame:
    beyond = rows.height - len(judged.scores)
    scores = [None if np.isnan(score) else float(score) for score in judged.scores]
    return rows.with_columns(
        pl.Series(column, [*scores, *[None] * beyond], dtype=pl.Float64),
        pl.Series(f"{column}.reason", [*judged.reasons, *[_NOT_ASKED] * beyond], dtype=pl.String),
    )


def _summary(judged: Judged, column: str, *, n_outputs: int) -> dict[str, Any]:
    usage, n_asked_about = judged.usage, len(judged.scores)
    mass = None
    if judged.mass is not None and judged.n_missing < n_asked_about:
        mass = {"mean": float(np.nanmean(judged.mass)), "least": float(np.nanmin(judged.mass))}
    whole = None
    if judged.cost is not None and n_asked_about < n_outputs and usage.asked:
        # what is in the cache costs nothing, so only what was asked tells the price of one
        whole = judged.cost / usage.asked * n_outputs
    return {
        "column": column,
        "n_outputs": n_outputs,
        "n_scored": n_asked_about - judged.n_missing,
        "n_missing": n_outputs - n_asked_about + judged.n_missing,
        "failures": judged.failures
        | ({"not asked": n_outputs - n_asked_about} if n_asked_about < n_outputs else {}),
        "asked": usage.asked,
        "from_cache": usage.from_cache,
        "requests": usage.requests,
        "tokens": {
            "in": usage.tokens_in,
            "out": usage.tokens_out,
            "uncounted_replies": usage.uncounted,
        },
        "cost": judged.cost,
        "cost_of_all": whole,
        "mass": mass,
    }


def _shown(summary: dict[str, Any], output: Path) -> str:
    tokens = summary["tokens"]
    scored = f"{summary['n_scored']:,} of {summary['n_outputs']:,} outputs"
    asked = f"asked {summary['asked']:,} questions in {summary['requests']:,} requests"
    lines = [
        f"{output}: {summary['column']} for {scored}",
        f"{asked}; {summary['from_cache']:,} from the cache",
    ]
    count = f"tokens {tokens['in']:,} in, {tokens['out']:,} out"
    if tokens["uncounted_replies"]:
        count += f" ({tokens['uncounted_replies']:,} replies came without a count)"
    if summary["cost"] is not None:
        count += f"; cost {summary['cost']:.4f}"
    if summary["cost_of_all"] is not None:
        count += f"; all outputs would cost about {summary['cost_of_all']:.2f}"
    lines.append(count)
    if summary["mass"] is not None:
        mass = summary["mass"]
        lines.append(
            f"probability on the scale: {mass['mean']:.3f} on average, {mass['least']:.3f} at least"
        )
    lines += [f"without a score: {count:,} {kind}" for kind, count in summary["failures"].items()]
    if summary["n_missing"]:
        lines.append(
            "An estimate needs a score on every output: run the same command again (replies without "
            "a valid score are asked for anew with --retry-invalid), or fill the gaps by a rule that "
            "does not look at judgments, such as the mean score"
        )
    return "\n".join(lines)


@contextmanager
def _keeping(cache: Path) -> Iterator[None]:
    """Say where the replies are when the endpoint ends the run."""
    try:
        yield
    except EndpointError as error:
        raise EndpointError(f"{error}; replies so far are kept in {cache}") from error


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
