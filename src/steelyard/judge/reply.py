"""A reply of a judge, as far as a score depends on it."""

import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any, Self

__all__ = ["MalformedReplyError", "Reply", "Token"]

_DIGIT = re.compile(r"[0-9]")
# Why a reply may have ended before it was one.
_ENDED = frozenset({"length", "content_filter"})


class MalformedReplyError(ValueError):
    """The endpoint sent JSON that is not a chat completion."""


@dataclass(frozen=True, slots=True)
class Token:
    """A generated token, and what could have stood in its place.

    Attributes
    ----------
    text : str
        The token.
    alternatives : tuple of (str, float)
        Tokens and their log probabilities; the token itself is among them.
    """

    text: str
    alternatives: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge said.

    Attributes
    ----------
    content : str
        The text; empty if there is none.
    finish : str or None
        Why it ended: ``stop``, ``length``, ``content_filter`` ...
    is_refusal : bool
        Whether the endpoint marked it as a refusal.
    digits : tuple of Token, or None
        The tokens that hold a digit, in order; None if log probabilities did not come along.
        The others are left out: they fill a disk and say nothing about a score.
    tokens_in, tokens_out : int or None
        What was counted; None if the endpoint did not say.
    """

    content: str
    finish: str | None
    is_refusal: bool
    digits: tuple[Token, ...] | None
    tokens_in: int | None
    tokens_out: int | None

    @classmethod
    def of(cls, body: object) -> Self:
        """Read a chat completion.

        Parameters
        ----------
        body : object
            What the endpoint sent, parsed as JSON.

        Raises
        ------
        MalformedReplyError
            If it is not a chat completion with at least one choice.
        """
        if not isinstance(body, dict):
            raise MalformedReplyError("expected an object")
        choices = body.get("choices")
        if not isinstance(choices, list):
            raise MalformedReplyError("expected a list `choices`")
        if not choices:
            raise MalformedReplyError("`choices` is empty")
        choice = choices[0]
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise MalformedReplyError("expected an object `choices[0].message`")
        content, finish = message.get("content"), choice.get("finish_reason")
        if not isinstance(content, str | None):
            raise MalformedReplyError("expected a text `choices[0].message.content`")
        usage = body.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return cls(
            content=content or "",
            finish=finish if isinstance(finish, str) else None,
            is_refusal=bool(message.get("refusal")),
            digits=_digits(choice.get("logprobs")),
            tokens_in=_count(counts.get("prompt_tokens")),
            tokens_out=_count(counts.get("completion_tokens")),
        )

    @property
    def is_unfinished(self) -> bool:
        """Whether the endpoint refused, filtered or cut it off: another time it may not."""
        return self.is_refusal or self.finish in _ENDED or not self.content.strip()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said, without any reason for it."""
        return not (self.content.strip() or self.is_refusal or self.finish in _ENDED)

    def to_json(self) -> str:
        """Return the reply as JSON, in ASCII."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the reply that `to_json` wrote."""
        fields = json.loads(text)
        if fields["digits"] is not None:
            fields["digits"] = tuple(
                Token(one["text"], tuple((name, value) for name, value in one["alternatives"]))
                for one in fields["digits"]
            )
        return cls(**fields)


def _digits(logprobs: object) -> tuple[Token, ...] | None:
    entries = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(entries, list) or not entries:
        return None
    tokens = []
    for entry in entries:
        text = _text(entry)
        if not _DIGIT.search(text):
            continue
        # a sampled token need not be among the most probable ones
        found = {text: _log_probability(entry)}
        others = entry.get("top_logprobs")
        if not isinstance(others, list):
            raise MalformedReplyError("expected a list `top_logprobs`")
        found |= {_text(other): _log_probability(other) for other in others}
        tokens.append(Token(text, tuple(found.items())))
    return tuple(tokens)


def _text(entry: Any) -> str:
    text = entry.get("token") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise MalformedReplyError("expected a text `token` in `logprobs`")
    return text


def _log_probability(entry: Any) -> float:
    value = entry.get("logprob")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # servers round: a token that is certain may come with a little more than 0
    if not is_number or math.isnan(value) or value > 1e-3:
        raise MalformedReplyError("expected a log probability `logprob` in `logprobs`")
    return float(value)


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count and isinstance(value, int) else None
