"""Rubrics: what a judge is asked, and on which scale it answers."""

import json
import os
import re
import tomllib
from collections.abc import Sequence
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

__all__ = ["Message", "Rubric", "built_in_rubrics", "read_rubric"]

Message = dict[str, str]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_KNOWN = ("input", "output", "reference")
# What the request itself says; a rubric that said otherwise would change what a reply means.
_RESERVED = ("model", "messages", "n", "stream", "logprobs")
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
        The user message, with ``{output}`` and, if wanted, ``{input}`` and ``{reference}``.
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

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    low: int
    high: int
    answer: Literal["number", "json"] = "number"
    system: str = ""
    user: str
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
        names = _PLACEHOLDER.findall(text)
        for name in names:
            if name not in _KNOWN:
                raise ValueError(f"must hold no placeholder but {', '.join(_KNOWN)}; got {name}")
        if "output" not in names:
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

    def needs(self, text: Literal["input", "reference"]) -> bool:
        """Whether the question asks for an input, or a reference, beside the output."""
        return text in _PLACEHOLDER.findall(self.user)

    def messages(
        self,
        output: str,
        references: Sequence[str] = (),
        input: str | None = None,  # noqa: A002
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

        Returns
        -------
        list of dict
            ``role`` and ``content`` of each message.
        """
        texts = {"output": output, "reference": "\n\n".join(references), "input": input or ""}
        filled = _PLACEHOLDER.sub(lambda found: texts[found[1]], self.user)
        user = {"role": "user", "content": f"{filled}\n\n{self._request()}"}
        return [{"role": "system", "content": self.system}, user] if self.system else [user]

    def _request(self) -> str:
        score = f"whole number from {self.low} to {self.high}"
        if self.answer == "number":
            return f"Reply with one {score} and nothing else."
        return (
            "Reply with a JSON object and nothing else. It has two keys: first "
            f'"reason", one sentence; then "score", a {score}.'
        )


def built_in_rubrics() -> tuple[str, ...]:
    """Return the names of the rubrics that come with Steelyard.

    Examples
    --------
    >>> built_in_rubrics()
    ('correctness', 'fluency')
    """
    return tuple(sorted(Path(entry.name).stem for entry in _RUBRICS.iterdir()))


def read_rubric(source: str | os.PathLike[str]) -> Rubric:
    """Read a rubric by its name, if it is built in, or from a TOML file.

    Parameters
    ----------
    source : str or path
        ``fluency``, ``correctness``, or the path of a file that ends in ``.toml``.

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
