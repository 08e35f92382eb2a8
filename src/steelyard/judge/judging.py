"""Judge texts with a language model."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.judge.cache import Cache
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.judged import Judged, Progress, Usage
from steelyard.judge.questions import Columns, Questions
from steelyard.judge.rubric import Rubric, read_rubric

__all__ = ["Forecast", "forecast", "judge"]

Outputs = Sequence[str] | Columns | pl.DataFrame

# Letters of a token of English, roughly.
_LETTERS = 4
# Tokens of a reply that is a number or a label, and of one with a sentence about it.
_SHORT, _LONG = 3, 60


def judge(
    outputs: Outputs,
    *,
    endpoint: str,
    model: str,
    rubric: Rubric | str | os.PathLike[str],
    api_key_env: str | None = None,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    prices: tuple[float, float] | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Score outputs by asking a language model about each of them.

    Equal questions are asked once. A reply with a valid score is kept in `cache` when it comes, so that
    the next run with the same model, rubric and texts asks only what has none.

    Parameters
    ----------
    outputs : sequence of str, mapping of columns, or DataFrame
        Texts to judge; or a column ``output`` and what else the rubric shows: ``input``, ``reference``,
        any other column, and ``item`` and ``system`` if it compares.
    endpoint : str
        The address before ``/chat/completions``: ``http://localhost:8000/v1``. A query, as in
        ``https://.../deployments/NAME?api-version=2024-06-01``, is sent along.
    model : str
        The model's name at the endpoint.
    rubric : Rubric, str or path
        What is asked: a rubric, the name of a built-in one, or a TOML file.
    api_key_env : str, optional
        The environment variable that holds the API key, or ``HEADER=VARIABLE``, as in
        ``api-key=AZURE_KEY``. The key is sent and otherwise used nowhere.
    concurrency : int
        Questions under way at a time.
    requests_per_minute : float, optional
        Limit of the endpoint, if it is known. Without it the pace is found by its refusals.
    prices : pair of float, optional
        Of a million tokens of questions and of replies.
    cache : path, optional
        File to keep replies in. Without it, they are forgotten after this run.
    progress : callable, optional
        Called after each question with the number done, the number to ask, and the usage so far.

    Returns
    -------
    Judged
        Scores, with NaN and a reason where there is no valid reply: never a number that the
        model did not give.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    EndpointError
        If every question would fail: access refused (401, 403), nothing there (404), no
        connection, a quota that is used up, or a rate limit that lets nothing through for minutes.
    MissingDependencyError
        If httpx or tenacity is not installed.

    Notes
    -----
    A rate limit (429) slows down all questions together and loses none: nobody asks until the wait
    that the endpoint names is over, and then only as fast as it accepted before. Asked again, up to
    five times, after 408, 409 and 5xx, when the time is over, the connection breaks, the reply is
    empty, or the body is cut off, no JSON or no completion; with exponential back-off and full jitter
    [1]_. An error in the body of a success counts as the status that it names. After 30 failures in a
    row no more is asked.

    References
    ----------
    .. [1] Brooker (2015), Exponential backoff and jitter, AWS Architecture Blog.
    """
    questions = _questions(outputs, rubric, model)
    _check_prices(prices)
    place = Endpoint.of(endpoint, api_key_env=api_key_env)
    for name in ("httpx", "tenacity"):
        if find_spec(name) is None:
            raise MissingDependencyError(
                f"asking a judge needs {name}: install it with pip install 'steelyard[judge]'"
            )
    from steelyard.judge.asking import ask  # noqa: PLC0415

    with Cache(cache) as kept:
        replies = kept.replies(questions.bodies)
        left = [key for key in questions.bodies if key not in replies]
        asked = ask(
            questions,
            left,
            endpoint=place,
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
            cache=kept,
            progress=progress or (lambda *_: None),
        )
    asked.usage.from_cache = len(replies)
    found = questions.judged(replies | asked.replies, asked.failures)
    return replace(found, usage=asked.usage, cost=asked.usage.cost(prices))


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be asked: different questions, and what they and their replies cost.

    Of the outputs (pairs in either order, if the rubric compares) some lack a text that the rubric shows;
    questions whose reply is kept are paid for. Tokens are measured
    if they are inferred from replies that are kept, and not only from the length of texts.
    """

    n_outputs: int
    n_unaskable: int
    questions: int
    from_cache: int
    tokens_in: int
    tokens_out: int
    most_tokens_out: int | None
    is_measured: bool
    cost: float | None

    @property
    def sentence(self) -> str:
        """What it says, in words."""
        words = [f"would ask {self.questions:,} questions"]
        words += [f"{self.from_cache:,} are in the cache"] if self.from_cache else []
        if self.n_unaskable:
            words.append(f"{self.n_unaskable:,} outputs lack a text to show")
        basis = "from replies in the cache" if self.is_measured else "from four letters a token"
        words.append(f"tokens about {self.tokens_in:,} in, {self.tokens_out:,} out ({basis})")
        words += [f"out at most {self.most_tokens_out:,}"] if self.most_tokens_out else []
        words += [f"cost about {self.cost:.4f}"] if self.cost is not None else []
        return "; ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What one model would be asked by one rubric."""

    model: str
    rubric: str
    column: str
    forecast: Forecast


def forecast(
    outputs: Outputs,
    *,
    model: str,
    rubric: Rubric | str | os.PathLike[str],
    prices: tuple[float, float] | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Forecast:
    """Count the questions that `judge` would ask, and their tokens; nothing is asked or written.

    A token is taken for four letters. With replies to these questions in the cache, the tokens that
    the endpoint counted for them give the tokens per letter, and the length of a reply.

    Parameters
    ----------
    outputs, model, rubric, prices, cache
        As for `judge`.
    """
    questions = _questions(outputs, rubric, model)
    _check_prices(prices)
    replies = {}
    if cache is not None and Path(cache).is_file():
        with Cache(cache) as kept:
            replies = kept.replies(questions.bodies)
    letters = {key: len(json.dumps(body)) for key, body in questions.bodies.items()}
    known = [
        (letters[key], reply.tokens_in, reply.tokens_out)
        for key, reply in replies.items()
        if reply.tokens_in and reply.tokens_out is not None
    ]
    asked = questions.rubric
    per_letter, each = 1 / _LETTERS, float(_SHORT if asked.answer == "number" else _LONG)
    if known:
        per_letter = sum(one[1] for one in known) / sum(one[0] for one in known)
        each = sum(one[2] for one in known) / len(known)
    left = [key for key in questions.bodies if key not in replies]
    usage = Usage(
        tokens_in=round(sum(letters[key] for key in left) * per_letter),
        tokens_out=round(len(left) * each),
    )
    bound = asked.sampling.get("max_tokens", asked.sampling.get("max_completion_tokens"))
    return Forecast(
        n_outputs=len(questions.keys),
        n_unaskable=sum(reason is not None for reason in questions.lacking),
        questions=len(left),
        from_cache=len(replies),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        most_tokens_out=bound * len(left) if isinstance(bound, int) else None,
        is_measured=bool(known),
        cost=usage.cost(prices),
    )


def _questions(outputs: Outputs, rubric: Rubric | str | os.PathLike[str], model: str) -> Questions:
    if isinstance(outputs, str):
        raise InvalidArgumentError(
            "`outputs` must be a list of texts, or columns; got a single text"
        )
    columns: Columns
    if isinstance(outputs, pl.DataFrame):
        columns = {column.name: column.to_list() for column in outputs}
    else:
        columns = outputs if isinstance(outputs, Mapping) else {"output": outputs}
    asked = rubric if isinstance(rubric, Rubric) else read_rubric(rubric)
    return Questions.about(columns, asked, model)


def _check_prices(prices: tuple[float, float] | None) -> None:
    if any(not (math.isfinite(price) and price >= 0) for price in prices or ()):
        raise InvalidArgumentError(f"`prices` must be two prices of a million tokens; got {prices}")
