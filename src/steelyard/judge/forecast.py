"""What asking would cost, before anything is asked."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.judge.answer import ScoreKind
from steelyard.judge.cache import Cache
from steelyard.judge.judging import check_inquiry, questions_of
from steelyard.judge.questions import Column, Inquiry, examples
from steelyard.judge.reply import Reply
from steelyard.judge.result import Usage
from steelyard.judge.rubric import Rubric
from steelyard.judge.submissions import Submissions

__all__ = ["Forecast", "forecast"]

# Letters of a token of English, roughly.
_LETTERS = 4
# Tokens of a reply that is a number or a label, and of one with a sentence about it.
_SHORT, _LONG = 3, 60


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be asked.

    Attributes
    ----------
    n_outputs, n_unaskable : int
        Outputs, and those that lack a text which the rubric shows.
    questions : int
        Different questions that would be asked now.
    from_cache : int
        Those whose reply is kept.
    in_batches : int
        Those that are in a batch which is not fetched yet: they are paid for.
    tokens_in, tokens_out : int
        Expected tokens of questions and of replies.
    most_tokens_out : int or None
        What the replies can come to at most; None if the rubric sets no bound.
    is_measured : bool
        Whether tokens are inferred from replies that are kept, and not only from the length of texts.
    cost : float or None
        The price of the expected tokens; None if prices were not given.
    """

    n_outputs: int
    n_unaskable: int
    questions: int
    from_cache: int
    in_batches: int
    tokens_in: int
    tokens_out: int
    most_tokens_out: int | None
    is_measured: bool
    cost: float | None


def forecast(
    outputs: Sequence[str],
    references: Sequence[str | Sequence[str] | None] | None = None,
    inputs: Sequence[str | None] | None = None,
    *,
    columns: Mapping[str, Column] | None = None,
    model: str,
    rubric: Rubric,
    score: ScoreKind = "integer",
    samples: int = 1,
    price_in: float | None = None,
    price_out: float | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Forecast:
    """Count the questions that `judge` would ask, and their tokens; nothing is asked or written.

    Parameters
    ----------
    outputs, references, inputs, columns, model, rubric, score, samples, price_in, price_out, cache
        As for `judge`.

    Notes
    -----
    A token is taken for four letters. With replies of the same rubric and model in the cache, the tokens
    that the endpoint counted for them give the tokens per letter, and the length of a reply.
    """
    inquiry = Inquiry(rubric, model, score)
    check_inquiry(inquiry, samples=samples, prices=(price_in, price_out))
    rows = examples(outputs, references, inputs, columns=columns, rubric=rubric)
    _, distinct = questions_of(inquiry, rows, samples)
    kept: dict[str, Reply] = {}
    unsent = list(distinct)
    if cache is not None and Path(cache).is_file():
        with Cache(cache) as replies:
            kept = replies.replies(list(distinct))
            unsent = Submissions(replies).unsent(distinct)
    letters = {key: len(json.dumps(inquiry.question(one))) for key, one in distinct.items()}
    known = [
        (letters[key], reply.tokens_in, reply.tokens_out)
        for key, reply in kept.items()
        if reply.tokens_in and reply.tokens_out is not None
    ]
    per_letter, each = 1 / _LETTERS, float(_SHORT if rubric.answer == "number" else _LONG)
    if known:
        per_letter = sum(one[1] for one in known) / sum(one[0] for one in known)
        each = sum(one[2] for one in known) / len(known)
    left = [key for key in unsent if key not in kept]
    usage = Usage(
        tokens_in=round(sum(letters[key] for key in left) * per_letter),
        tokens_out=round(len(left) * each),
    )
    bound = rubric.sampling.get("max_tokens", rubric.sampling.get("max_completion_tokens"))
    return Forecast(
        n_outputs=len(rows),
        n_unaskable=sum(isinstance(row, str) for row in rows),
        questions=len(left),
        from_cache=len(kept),
        in_batches=len(distinct) - len(unsent),
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        most_tokens_out=bound * len(left) if isinstance(bound, int) else None,
        is_measured=bool(known),
        cost=usage.cost(price_in, price_out)
        if price_in is not None and price_out is not None
        else None,
    )
