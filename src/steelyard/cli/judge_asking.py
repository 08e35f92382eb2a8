"""Asks for the columns of ``steelyard judge``, one after the other."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard.cli.judge_columns import JudgeColumn, Texts, asked_once
from steelyard.cli.judge_progress import progress
from steelyard.cli.judge_summary import Outcome
from steelyard.errors import InvalidDataError
from steelyard.judge import EndpointError, Judged, Usage, judge

__all__ = ["asked_columns", "asked_of", "keeping"]


def asked_columns(
    columns: Sequence[JudgeColumn],
    texts: Mapping[str, Texts],
    options: Mapping[str, Any],
    *,
    prices: tuple[float | None, float | None],
    batch: bool,
) -> list[Outcome]:
    """Ask for all columns.

    Parameters
    ----------
    columns : sequence of JudgeColumn
        What to ask whom.
    texts : mapping
        What questions show, by rubric.
    options : mapping
        As for `steelyard.judge.judge`, the same for all columns.
    prices : pair of float or None
        Of a million tokens of questions and of replies.
    batch : bool
        Whether to ask in batches.
    """
    cache = Path(options["cache"])
    if batch:
        # all are under way before the first of them is waited for
        for column in asked_once(columns)[1:]:
            with keeping(cache):
                judge(**_questions(column, texts), **options, batch=True, wait=False)
    outcomes: list[Outcome] = []
    for column in asked_once(columns):
        with progress(column.name, prices=prices) as listener, keeping(cache):
            judged = judge(**_questions(column, texts), **options, batch=batch, progress=listener)
        pairing = texts[column.rubric.name].pairing
        if pairing is not None:
            pairs = pairing.compared(judged, column.rubric, model=column.model)
            outcomes.append(Outcome(column, pairs.judged, pairs))
        else:
            outcomes += _by_criterion(column, judged, columns)
    return outcomes


def _by_criterion(
    first: JudgeColumn, judged: Judged, columns: Sequence[JudgeColumn]
) -> list[Outcome]:
    """The outcomes of one question: what was asked is counted once."""
    if not judged.criteria:
        return [Outcome(first, judged, None)]
    # the first column has the bill; the others come of the same replies
    free = Usage(from_cache=judged.usage.asked + judged.usage.from_cache)
    found: list[Outcome] = []
    for column in columns:
        if (column.model, column.rubric.name) == (first.model, first.rubric.name):
            one = judged.criteria[column.criterion or ""]
            if found:
                one = replace(one, usage=free, cost=None if one.cost is None else 0.0)
            found.append(Outcome(column, one, None))
    return found


def asked_of(column: JudgeColumn, texts: Texts) -> dict[str, Any]:
    """Return what is asked of whom, as `judge` and `forecast` take it."""
    return {
        "outputs": texts.outputs,
        "references": texts.references,
        "inputs": texts.inputs,
        "columns": texts.columns,
        "model": column.model,
        "rubric": column.rubric,
    }


def _questions(column: JudgeColumn, texts: Mapping[str, Texts]) -> dict[str, Any]:
    place = {"endpoint": column.endpoint, "api_key_env": column.key_name}
    return asked_of(column, texts[column.rubric.name]) | place


@contextmanager
def keeping(cache: Path) -> Iterator[None]:
    """Say where the replies are when the endpoint ends the run, or the file cannot be written."""
    try:
        yield
    except (EndpointError, InvalidDataError) as error:
        if str(cache) in str(error):
            raise
        raise type(error)(f"{error}; replies so far are kept in {cache}") from error
