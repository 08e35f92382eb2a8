"""Rubrics: what a judge is asked, and on which scale it answers."""

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.judge.request import WorkedExample, request

__all__ = ["Message", "Rubric", "WorkedExample", "built_in_rubrics", "read_rubric"]

Message = dict[str, str]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
# Texts that have their own argument; every other placeholder is a column of the file.
_KNOWN = ("input", "output", "reference", "other_output")
# What the request itself says; a rubric that said otherwise would change what a reply means.
_RESERVED = ("model", "messages", "n", "stream", "logprobs")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_RUBRICS = files(__package__) / "rubrics"


class Rubric(BaseModel):
    r"""A question to a judge, with the scale of its answers.

    Attributes
    ----------
    name : str
        Small letters, digits, dots, hyphens and underscores.
    low, high : int
        Least and greatest score.
    answer : {"number", "json"}
        How the answer is to be given: as a whole number alone, or as a JSON object with a
        ``reason`` and then a ``score``. The sentence that asks for it is added by `messages`.
    system : str
        The system message; none if empty. It holds no placeholders: texts that others wrote do
        not belong there.
    user : str
        The user message, with ``{output}`` and, if wanted, ``{input}``, ``{reference}`` and any other
        column of the file. With ``{other_output}`` it compares two outputs of an item: the greatest
        score says that the other one, shown second, is much better, the least that it is much worse.
    criteria : list of str
        What is scored, by name, if one question asks for several scores; with ``answer = "json"``.
    labels : dict
        Words for scores: the judge answers with one of them, and with no number.
    examples : list of WorkedExample
        Questions with their answers, as turns before the question.
    sampling : dict
        Sent along with every request as it stands: temperature, max_tokens, seed ...

    Examples
    --------
    >>> rubric = Rubric(name="brevity", low=1, high=3, user="How brief is this? {output}")
    >>> rubric.messages("{input} is not filled")[0]["content"]
    'How brief is this? {input} is not filled\n\nReply with one whole number from 1 to 3 and
    nothing else.'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(pattern=rf"^{_NAME.pattern}$")
    low: int
    high: int
    answer: Literal["number", "json"] = "number"
    system: str = ""
    user: str
    criteria: list[str] = []
    labels: dict[str, int] = {}
    examples: list[WorkedExample] = []
    sampling: dict[str, JsonValue] = {"temperature": 0.0, "max_tokens": 512}

    @field_validator("system")
    @classmethod
    def _holds_no_placeholder(cls, text: str) -> str:
        if _PLACEHOLDER.search(text):
            raise ValueError("must hold no placeholder: put the texts into `user`")
        return text.strip()

    @field_validator("user")
    @classmethod
    def _holds_the_output(cls, text: str) -> str:
        if "output" not in _PLACEHOLDER.findall(text):
            raise ValueError("must hold the placeholder {output}")
        return text.strip()

    @field_validator("sampling")
    @classmethod
    def _leaves_the_request_alone(cls, sampling: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in _RESERVED:
            if name in sampling:
                raise ValueError(f"must not set {name}: the request does")
        json.dumps(sampling, allow_nan=False)
        return sampling

    @model_validator(mode="after")
    def _has_a_scale(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"`low` must be below `high`; got {self.low} and {self.high}")
        return self

    @model_validator(mode="after")
    def _has_labels_on_the_scale(self) -> Self:
        if len({word.strip().casefold() for word in self.labels}) < len(self.labels):
            raise ValueError("`labels` must differ in more than capitals and spaces")
        for word, score in self.labels.items():
            if not word.strip() or not self.low <= score <= self.high:
                raise ValueError(
                    f"`labels` must be words for scores from {self.low} to {self.high}; got {word!r} "
                    f"for {score}"
                )
        return self

    @model_validator(mode="after")
    def _has_whole_examples(self) -> Self:
        for one in self.examples:
            if set(one.texts) != set(self.placeholders):
                raise ValueError(
                    f"`examples` must have `texts` for {', '.join(self.placeholders)}, as `user` has; "
                    f"got {', '.join(one.texts) or 'none'}"
                )
            by_name = one.score if isinstance(one.score, dict) else {"score": one.score}
            if set(by_name) != set(self.criteria or ["score"]):
                raise ValueError(
                    f"`examples` must have scores for {', '.join(self.criteria) or 'one question'}; got "
                    f"{one.score}"
                )
            for score in by_name.values():
                if not self.low <= score <= self.high or (
                    self.labels and score not in self.labels.values()
                ):
                    raise ValueError(f"`examples` must have scores of the scale; got {score}")
        return self

    @model_validator(mode="after")
    def _has_usable_criteria(self) -> Self:
        if not self.criteria:
            return self
        if self.answer != "json" or self.compares:
            raise ValueError(
                '`criteria` need `answer = "json"` and a question about one output, without {other_output}'
            )
        for name in self.criteria:
            if not _NAME.fullmatch(name) or name == "reason" or self.criteria.count(name) > 1:
                raise ValueError(f"`criteria` must be different names such as fluent; got {name!r}")
        return self

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the texts that the question shows, each once."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.user)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file that the question shows beside output, input and reference."""
        return tuple(name for name in self.placeholders if name not in _KNOWN)

    @property
    def compares(self) -> bool:
        """Whether the question is about two outputs."""
        return "other_output" in self.placeholders

    def needs(self, text: Literal["input", "reference"]) -> bool:
        """Whether the question asks for an input, or a reference, beside the output."""
        return text in self.placeholders

    def messages(
        self,
        output: str,
        references: Sequence[str] = (),
        input: str | None = None,  # noqa: A002
        *,
        others: Mapping[str, str] | None = None,
    ) -> list[Message]:
        """Return the messages that ask about one output.

        Placeholders are filled in one pass: braces in a text stay what they are.

        Parameters
        ----------
        output : str
            The text to judge.
        references : sequence of str
            Its references; several are separated by a blank line.
        input : str, optional
            What the output answers.
        others : mapping, optional
            The other texts that the question shows, by placeholder.

        Returns
        -------
        list of dict
            ``role`` and ``content`` of each message.
        """
        texts = {"output": output, "reference": "\n\n".join(references), "input": input or ""}
        turns = [{"role": "system", "content": self.system}] if self.system else []
        for one in self.examples:
            turns.append(self._asked(one.texts))
            said = one.reply(answer=self.answer, labels=self.labels)
            turns.append({"role": "assistant", "content": said})
        return [*turns, self._asked(texts | dict(others or {}))]

    def _asked(self, texts: Mapping[str, str]) -> Message:
        filled = _PLACEHOLDER.sub(lambda found: texts[found[1]], self.user)
        asked = request(
            self.answer,
            scale=(self.low, self.high),
            labels=list(self.labels),
            criteria=self.criteria,
        )
        return {"role": "user", "content": f"{filled}\n\n{asked}"}


def built_in_rubrics() -> tuple[str, ...]:
    """Return the names of the rubrics that come with Steelyard.

    Examples
    --------
    >>> built_in_rubrics()
    ('correctness', 'fluency', 'preference')
    """
    return tuple(sorted(Path(entry.name).stem for entry in _RUBRICS.iterdir()))


def read_rubric(source: str | os.PathLike[str]) -> Rubric:
    """Read a rubric by its name, if it is built in, or from a TOML file.

    Parameters
    ----------
    source : str or path
        ``fluency``, ``correctness``, ``preference``, or the path of a file that ends in ``.toml``.

    Returns
    -------
    Rubric

    Raises
    ------
    InvalidArgumentError
        If there is no such rubric.
    InvalidDataError
        If the file breaks the rules of `Rubric`; the message names file and key.

    Examples
    --------
    >>> rubric = read_rubric("fluency")
    >>> rubric.low, rubric.high, rubric.needs("reference")
    (1, 5, False)
    """
    if source in built_in_rubrics():
        return _rubric((_RUBRICS / f"{source}.toml").read_text(encoding="utf-8"), str(source))
    path = Path(source)
    if path.suffix.lower() != ".toml" or not path.is_file():
        raise InvalidArgumentError(
            f"`rubric` must be one of {', '.join(built_in_rubrics())}, or an existing .toml file; "
            f"got {str(source)!r}"
        )
    try:
        return _rubric(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: cannot be read: {error}") from error


def _rubric(text: str, name: str) -> Rubric:
    try:
        return Rubric(**tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidDataError(f"{name}: is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "rubric"
        raise InvalidDataError(
            f"{name}, key {key}: {first['msg']}: see Rubric for the keys and their rules"
        ) from error
