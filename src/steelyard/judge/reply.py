"""A reply of a judge, as far as a score depends on it."""

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steelyard.judge.failures import Failure, Kind

__all__ = ["DigitToken", "Reply"]

_DIGIT = re.compile(r"[0-9]")
# Why a reply may have ended before it was one.
_ENDED = frozenset({"length", "content_filter"})
# A token that cannot be has the log probability minus infinity.
_KEPT = ConfigDict(frozen=True, ser_json_inf_nan="constants")


class DigitToken(BaseModel):
    """A generated token, and the log probabilities of it and of what could have stood in its place."""

    model_config = _KEPT

    text: str
    alternatives: list[tuple[str, float]]


class Reply(BaseModel):
    """What a judge said.

    Attributes
    ----------
    content : str
        The text; empty if there is none.
    finish : str or None
        Why it ended: ``stop``, ``length``, ``content_filter`` ...
    is_refusal : bool
        Whether the endpoint marked it as a refusal.
    digits : list of DigitToken, or None
        The tokens that hold a digit, in order; None if log probabilities did not come along.
        The others are left out: they fill a disk and say nothing about a score.
    tokens_in, tokens_out : int or None
        What was counted; None if the endpoint did not say.
    """

    model_config = _KEPT

    content: str
    finish: str | None = None
    is_refusal: bool = False
    digits: list[DigitToken] | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None

    @classmethod
    def of(cls, body: object) -> Self:
        """Read a chat completion, parsed as JSON.

        Raises
        ------
        Failure
            If it is not a chat completion with at least one choice, or says nothing without a reason.
        """
        try:
            completion = _Completion.model_validate(body)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "body"
            reason = f"not a chat completion: {place}: {first['msg']}"
            raise Failure(reason, Kind.PASSING) from error
        choice, usage = completion.choices[0], completion.usage
        counts = usage if isinstance(usage, dict) else {}
        reply = cls(
            content=choice.message.content or "",
            finish=choice.finish_reason if isinstance(choice.finish_reason, str) else None,
            is_refusal=bool(choice.message.refusal),
            digits=_digits(choice.logprobs),
            tokens_in=_count(counts.get("prompt_tokens")),
            tokens_out=_count(counts.get("completion_tokens")),
        )
        if not (reply.content.strip() or reply.is_refusal or reply.finish in _ENDED):
            raise Failure("empty reply", Kind.PASSING)
        return reply


class _Alternative(BaseModel):
    token: str
    # servers round: a token that is certain may come with a little more than 0
    logprob: Annotated[float, Field(strict=True, le=1e-3)]


class _Position(_Alternative):
    top_logprobs: list[_Alternative]


class _Logprobs(BaseModel):
    content: list[_Position] | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None
    logprobs: _Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


def _digits(logprobs: _Logprobs | None) -> list[DigitToken] | None:
    if logprobs is None or not logprobs.content:
        return None
    # a sampled token need not be among the most probable ones
    return [
        DigitToken(
            text=one.token,
            alternatives=list(
                {each.token: each.logprob for each in (one, *one.top_logprobs)}.items()
            ),
        )
        for one in logprobs.content
        if _DIGIT.search(one.token)
    ]


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count and isinstance(value, int) else None
