"""``steelyard judge``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click
import polars as pl

from steelyard.cli.judge_asking import asked_columns, asked_of, keeping
from steelyard.cli.judge_campaign import campaign_questions
from steelyard.cli.judge_columns import (
    asked_once,
    check_options,
    check_pace,
    judge_columns,
    needed_rows,
    new_columns,
    shown_texts,
)
from steelyard.cli.judge_summary import Outcome, exit_by_missing, foreseen, print_outcomes
from steelyard.cli.options import by_file, column_mapping, file_options
from steelyard.cli.paths import InputPath, OutputFile, check_not_inputs, check_writable
from steelyard.judge.answer import ScoreKind
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.forecast import forecast
from steelyard.judge.judging import check_inquiry
from steelyard.judge.pairs import PREFERENCE_COLUMNS
from steelyard.judge.questions import Inquiry
from steelyard.scoring.beside import write_beside
from steelyard.tables import read_outputs, write_table

__all__ = ["judge"]

# One for all files of a folder: an output that is renamed pays nothing anew.
_CACHE = "judge.cache"
_EXAMPLE = """\b
Example:
  steelyard judge outputs.jsonl --endpoint http://localhost:8000/v1 --model my-model \\
    --rubric fluency -o judged.jsonl
"""


@click.command(epilog=_EXAMPLE)
@click.argument("outputs", type=InputPath())
@click.option(
    "--endpoint",
    "endpoints",
    required=True,
    multiple=True,
    metavar="URL",
    help="Address before /chat/completions, for example http://localhost:8000/v1; for several models "
    "once, or once each.",
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
    multiple=True,
    help="What is asked: fluency, correctness, preference, or your own .toml file; may be given several "
    "times, for a column each.",
)
@click.option(
    "--campaign",
    type=InputPath(),
    help="Campaign file of steelyard serve: ask what its raters are asked, as metrics for their judgments.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="File to write: OUTPUTS with the scores; another file than OUTPUTS.",
)
@click.option(
    "--name",
    help="Name of the only new column.  [default: judge.RUBRIC, or judge.MODEL.RUBRIC of several models and with "
    "--campaign]",
)
@click.option(
    "--preferences",
    type=OutputFile(),
    help="File to write what a rubric that compares prefers, for steelyard compare.",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare with the outputs of this system only.")
@file_options
@click.option(
    "--score",
    type=click.Choice(get_args(ScoreKind)),
    default="integer",
    show_default=True,
    help="The number that the model names, or its mean under the model's probabilities.",
)
@click.option(
    "--samples",
    type=int,
    default=1,
    show_default=True,
    help="Replies to average for each output; the rubric's temperature must be above 0.",
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
@click.option(
    "--api-key-env",
    "key_names",
    multiple=True,
    metavar="VAR",
    help="Environment variable with the API key; of several endpoints, once each.",
)
@click.option(
    "--api-key-header",
    default="Authorization",
    show_default=True,
    metavar="NAME",
    help="Header for the key; api-key for Azure.",
)
@click.option("--price-in", type=float, help="Price of a million tokens of questions.")
@click.option("--price-out", type=float, help="Price of a million tokens of replies.")
@click.option("--limit", type=int, help="Ask about the first outputs only, to see what it costs.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be asked and what it costs; ask and write nothing.",
)
@click.option(
    "--cache",
    type=OutputFile(),
    help="File that keeps replies.  [default: judge.cache beside the output]",
)
@click.option(
    "--retry-invalid", is_flag=True, help="Ask anew where a kept reply has no valid score."
)
@click.option(
    "--batch",
    is_flag=True,
    help="Ask through the endpoint's batch mode (/files and /batches), often at half the price; may take a day.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")
@click.pass_context
def judge(
    context: click.Context,
    outputs: Path,
    *,
    endpoints: tuple[str, ...],
    models: tuple[str, ...],
    rubrics: tuple[str, ...],
    campaign: Path | None,
    output: Path,
    name: str | None,
    preferences: Path | None,
    baseline: str | None,
    columns: tuple[str, ...],
    separators: tuple[str, ...],
    decimals: tuple[str, ...],
    score: ScoreKind,
    samples: int,
    concurrency: int,
    max_retries: int,
    timeout: float,
    requests_per_minute: float | None,
    tokens_per_minute: float | None,
    key_names: tuple[str, ...],
    api_key_header: str,
    price_in: float | None,
    price_out: float | None,
    limit: int | None,
    dry_run: bool,
    cache: Path | None,
    retry_invalid: bool,
    batch: bool,
    as_json: bool,
) -> None:
    """Score every output with a language model behind an OpenAI-compatible endpoint.

    Adds a numeric column to OUTPUTS for each rubric, or criterion of a rubric, and model, and a column NAME.reason that says why where there is no
    score; a judge that answers with JSON explains its score in NAME.explanation. A rubric with {other_output}, such as
    preference, compares the outputs of an item in both orders: the score is the share of preference that an output gets. All other columns stay as they are. Replies are kept as they come: run the same command again to go on after a stop, or
    to ask again what failed. The exit code is 3 if some outputs that were asked about have no score, and 1 if none has.
    """
    questions = campaign_questions(campaign)
    made = judge_columns(
        models, endpoints, key_names, rubrics=rubrics, campaign=questions, name=name
    )
    keeper = cache or output.with_name(_CACHE)
    written = [output, keeper, *([preferences] if preferences else [])]
    check_not_inputs("--output", written, [outputs, *map(Path, rubrics), *questions.files])
    # before anything is asked: what costs money must not fail at the end
    for option, path in (("--output", output), ("--preferences", preferences)):
        if path is not None:
            check_writable(option, path)
    check_options(made, limit=limit, baseline=baseline, preferences=preferences)
    check_pace(batch=batch, limits=(requests_per_minute, tokens_per_minute))
    reading: dict[str, Any] = {
        "columns": column_mapping(columns),
        "separator": by_file("--separator", separators).get("outputs"),
        "decimal": by_file("--decimal", decimals).get("outputs"),
    }
    rows = needed_rows(read_outputs(outputs, **reading), made)
    some = rows if limit is None else rows.head(limit)
    texts = {one.rubric.name: shown_texts(some, one.rubric, baseline=baseline) for one in made}
    counting: dict[str, Any] = {
        "score": score,
        "samples": samples,
        "price_in": price_in,
        "price_out": price_out,
        "cache": keeper,
    }
    if dry_run:
        foreseen(
            [
                (one, forecast(**asked_of(one, texts[one.rubric.name]), **counting))
                for one in asked_once(made)
            ],
            score=score,
            as_json=as_json,
        )
        return
    for column in made:
        # of all, before the first of them is paid for
        check_inquiry(Inquiry(column.rubric, column.model, score), samples=samples)
        Endpoint.of(column.endpoint, api_key_env=column.key_name, api_key_header=api_key_header)
    asking: dict[str, Any] = {
        "api_key_header": api_key_header,
        "concurrency": concurrency,
        "max_retries": max_retries,
        "timeout": timeout,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "retry_invalid": retry_invalid,
    }
    outcomes = asked_columns(
        made, texts, {**counting, **asking}, prices=(price_in, price_out), batch=batch
    )
    with keeping(keeper):
        _write(outputs, output, outcomes, n_outputs=rows.height, reading=reading)
        if preferences is not None:
            found = [row for one in outcomes if one.pairs for row in one.pairs.preferences]
            write_table(pl.DataFrame(found, schema=PREFERENCE_COLUMNS), preferences)
    print_outcomes(outcomes, output, n_outputs=rows.height, score=score, as_json=as_json)
    exit_by_missing(context, outcomes)


def _write(
    outputs: Path,
    target: Path,
    outcomes: Sequence[Outcome],
    *,
    n_outputs: int,
    reading: Mapping[str, Any],
) -> None:
    columns: dict[str, list[Any]] = {}
    for one in outcomes:
        columns |= new_columns(one.judged, one.column.name, n_outputs=n_outputs)
    write_beside(outputs, target, columns, reading=reading)
