"""Judge texts with a language model."""

import asyncio
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from steelyard.errors import InvalidArgumentError, MissingDependencyError
from steelyard.judge.answer import ScoreKind
from steelyard.judge.cache import Cache
from steelyard.judge.endpoint import Endpoint, Sleep
from steelyard.judge.pace import Limits
from steelyard.judge.questions import Column, Example, Inquiry, examples, sampled
from steelyard.judge.replies import Replies
from steelyard.judge.reply import Reply
from steelyard.judge.result import Judged, Progress
from steelyard.judge.rubric import Rubric, read_rubric

if TYPE_CHECKING:
    from steelyard.judge.asking import Asked

__all__ = ["check_inquiry", "judge", "kept_replies", "questions_of"]

_NOT_DONE = "in a batch that is not done yet"


def judge(
    outputs: Sequence[str],
    references: Sequence[str | Sequence[str] | None] | None = None,
    inputs: Sequence[str | None] | None = None,
    *,
    columns: Mapping[str, Column] | None = None,
    endpoint: str,
    model: str,
    rubric: Rubric | str | os.PathLike[str],
    score: ScoreKind = "integer",
    samples: int = 1,
    concurrency: int = 8,
    max_retries: int = 5,
    timeout: float = 60.0,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    api_key_env: str | None = None,
    api_key_header: str = "Authorization",
    price_in: float | None = None,
    price_out: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    retry_invalid: bool = False,
    batch: bool = False,
    wait: bool = True,
    progress: Progress | None = None,
    sleep: Sleep = asyncio.sleep,
    rng: np.random.Generator | None = None,
) -> Judged:
    """Score outputs by asking a language model about each of them.

    Equal questions are asked once. A reply is kept in `cache` when it comes, so that the next
    run with the same model, rubric and texts asks only what has no reply yet.

    Parameters
    ----------
    outputs : sequence of str, length n
        Texts to judge.
    references : sequence of length n, optional
        A text, a sequence of texts, or None, for each output; needed if the rubric shows them.
    inputs : sequence of length n, optional
        What each output answers; needed if the rubric shows it.
    columns : mapping of str to sequences of length n, optional
        What the rubric shows beside them, by placeholder; None where there is nothing.
    endpoint : str
        The address before ``/chat/completions``: ``http://localhost:8000/v1``. A query, as in
        ``https://.../deployments/NAME?api-version=2024-06-01``, is sent along.
    model : str
        The model's name at the endpoint.
    rubric : Rubric, str or path
        What is asked: a rubric, the name of a built-in one, or a TOML file.
    score : {"integer", "logits"}
        The whole number that the model names, or the mean of the scale under the model's
        probabilities of its answer; see `steelyard.judge.answer.answer`.
    samples : int
        How often to ask about each output; the score is the mean of the valid replies. Above 1 the
        rubric must have a temperature above 0.
    concurrency : int
        Questions under way at a time.
    max_retries : int
        How often a question is asked again after a passing failure.
    timeout : float
        Seconds that a reply may take.
    requests_per_minute, tokens_per_minute : float, optional
        Limits of the endpoint, if they are known. Without them the pace is found by its refusals.
    api_key_env : str, optional
        The environment variable that holds the API key. It is sent and otherwise used nowhere.
    api_key_header : str
        The header that it is sent in; another one than ``Authorization`` holds the key alone.
    price_in, price_out : float, optional
        Prices of a million tokens of questions and of replies.
    cache : path, optional
        File to keep replies in. Without it, they are forgotten after this run. Replies that the
        endpoint refused, filtered or cut off are not kept.
    retry_invalid : bool
        Whether to forget replies without a valid score, and ask for them anew.
    batch : bool
        Whether to send the questions as files, through the endpoint's batch mode, and to wait until they are
        done, which may take a day. `concurrency` and limits do not matter then. A run that was stopped
        goes on with the batches that it sent.
    wait : bool
        Whether to wait until batches are done. Otherwise outputs whose replies are not there have no score,
        and the next run fetches them.
    progress : callable, optional
        Called after each question with the number done, the number to ask, and the usage so far.
    sleep : callable
        Awaited with the seconds to wait before asking again.
    rng : Generator, optional
        Draws those waits; scores do not depend on it.

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
        If httpx is not installed.

    Notes
    -----
    A rate limit (429) slows down all questions together and loses none: nobody asks until the wait
    that the endpoint names is over, and then only as fast as it accepted before. Asked again, up
    to `max_retries` times, after 408, 409 and 5xx, when the time is over, the connection breaks,
    the reply is empty, or the body is cut off, no JSON or no completion; with exponential back-off
    and full jitter. An error in the body of a success counts as the status that it names. Other
    failures, and replies without a valid score, are final in this run. After 30 failures in a row
    no more is asked.
    """
    inquiry = Inquiry(rubric if isinstance(rubric, Rubric) else read_rubric(rubric), model, score)
    place = Endpoint.of(
        endpoint,
        api_key_env=api_key_env,
        api_key_header=api_key_header,
        timeout=timeout,
        max_retries=max_retries,
    )
    limits = Limits(requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute)
    check_inquiry(inquiry, samples=samples, concurrency=concurrency, prices=(price_in, price_out))
    rows = examples(outputs, references, inputs, columns=columns, rubric=inquiry.rubric)
    keys, distinct = questions_of(inquiry, rows, samples)
    if find_spec("httpx") is None:
        raise MissingDependencyError(
            "asking a judge needs httpx: install it with pip install 'steelyard[judge]'"
        )
    with Cache(cache) as kept:
        replies = kept_replies(kept, distinct, inquiry, retry_invalid=retry_invalid)
        asked = _asked(
            inquiry,
            {key: row for key, row in distinct.items() if key not in replies},
            batch=batch,
            wait=wait,
            concurrency=concurrency,
            limits=limits,
            endpoint=place,
            cache=kept,
            progress=progress,
            sleep=sleep,
            rng=np.random.default_rng() if rng is None else rng,
        )
    usage = replace(asked.usage, from_cache=asked.usage.from_cache + len(replies))
    cost = None
    if price_in is not None and price_out is not None:
        cost = usage.cost(price_in, price_out)
    return Replies(
        rows=rows,
        keys=keys,
        replies=replies | asked.replies,
        failures=dict.fromkeys(distinct, _NOT_DONE) | asked.failures,
    ).judged(inquiry, usage=usage, cost=cost)


def _asked(
    inquiry: Inquiry,
    examples: Mapping[str, Example],
    *,
    batch: bool,
    wait: bool,
    concurrency: int,
    limits: Limits,
    cache: Cache,
    **options: Any,
) -> "Asked":
    if batch:
        from steelyard.judge.batching import ask_in_batches  # noqa: PLC0415

        return ask_in_batches(inquiry, examples, cache=cache, wait=wait, **options)
    from steelyard.judge.asking import ask  # noqa: PLC0415

    cache.check_not_batched(list(examples))
    return ask(inquiry, examples, concurrency=concurrency, limits=limits, cache=cache, **options)


def kept_replies(
    cache: Cache, questions: Mapping[str, Example], inquiry: Inquiry, *, retry_invalid: bool
) -> dict[str, Reply]:
    """Return the replies that are kept; with `retry_invalid`, those without a valid score are forgotten."""
    replies = cache.replies(list(questions))
    invalid = [key for key in replies if retry_invalid and not inquiry.is_answered(replies[key])]
    cache.forget(invalid)
    return {key: reply for key, reply in replies.items() if key not in set(invalid)}


def questions_of(
    inquiry: Inquiry, rows: Sequence[Example | str], samples: int
) -> tuple[list[list[str]], dict[str, Example]]:
    """Return the keys of the questions about each row, none where it cannot be asked about, and all questions."""
    keys: list[list[str]] = []
    distinct: dict[str, Example] = {}
    for row in rows:
        some = (
            {} if isinstance(row, str) else {inquiry.key(one): one for one in sampled(row, samples)}
        )
        keys.append(list(some))
        distinct |= some
    return keys, distinct


def check_inquiry(
    inquiry: Inquiry,
    *,
    samples: int,
    concurrency: int = 1,
    prices: tuple[float | None, float | None] = (None, None),
) -> None:
    """Raise for what would be refused, before anything is asked."""
    _check_samples(inquiry.rubric, samples)
    if not inquiry.model.strip():
        raise InvalidArgumentError("`model` must name a model; got an empty text")
    if concurrency < 1:
        raise InvalidArgumentError(f"`concurrency` must be at least 1; got {concurrency}")
    for name, price in zip(("price_in", "price_out"), prices, strict=True):
        if price is not None and not (math.isfinite(price) and price >= 0):
            raise InvalidArgumentError(f"`{name}` must be a price of a million tokens; got {price}")
    if (prices[0] is None) != (prices[1] is None):
        raise InvalidArgumentError("`price_in` and `price_out` must be given both or not at all")
    if inquiry.score not in get_args(ScoreKind):
        raise InvalidArgumentError(
            f"`score` must be one of {', '.join(get_args(ScoreKind))}; got {inquiry.score!r}"
        )
    rubric = inquiry.rubric
    if inquiry.score == "logits" and (
        rubric.answer != "number" or rubric.labels or rubric.low < 0 or rubric.high > 9
    ):
        # Of more digits, some tokenizers make several tokens: 1 could be the start of 10.
        raise InvalidArgumentError(
            "`score`: logits need a rubric whose answer is a number of one digit; "
            f"{rubric.name!r} answers with a {'label' if rubric.labels else rubric.answer} from "
            f"{rubric.low} to {rubric.high}"
        )


def _check_samples(rubric: Rubric, samples: int) -> None:
    if samples < 1:
        raise InvalidArgumentError(f"`samples` must be at least 1; got {samples}")
    if samples > 1 and rubric.sampling.get("temperature") == 0:
        raise InvalidArgumentError(
            f"`samples` above 1 need a rubric whose replies vary; {rubric.name!r} has temperature 0: set "
            "one above 0 under [sampling]"
        )
