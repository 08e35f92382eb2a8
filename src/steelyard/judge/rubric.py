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

__all__ = ["Rubric", "built_in_rubrics", "read_rubric"]

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
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
    score : {"integer", "logits"}
        The whole number that the model names, or the mean of the scale under the model's
        probabilities of its answer.
    samples : int
        How often to ask about each output; the score is the mean of the valid replies. Above 1 the
        temperature must be above 0.
    timeout : float
        Seconds that a reply may take.
    system : str
        The system message; none if empty. It holds no placeholders: texts that others wrote do
        not belong there.
    user : str
        The user message, with ``{output}`` and, if wanted, ``{input}``, ``{reference}`` and any other
        column of the file. With ``{other_output}`` it compares two outputs of an item: the greatest
        score says that the other one, shown second, is much better, the least that it is much worse.
    baseline : str
        With ``{other_output}``, the system that all others are compared with; empty: all with all.
    criteria : list of str
        What is scored, by name, if one question asks for several scores; with ``answer = "json"``.
    labels : dict
        Words for scores: the judge answers with one of them, and with no number.
    sampling : dict
        Sent along with every request as it stands: temperature, max_tokens, seed ...

    Examples
    --------
    >>> rubric = Rubric(name="brevity", low=1, high=3, user="How brief is this? {output}")
    >>> rubric.messages({"output": "{input} is not filled"})[0]["content"]
    'How brief is this? {input} is not filled\n\nReply with one whole number from 1 to 3 and
    nothing else.'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(pattern=rf"^{_NAME.pattern}$")
    low: int
    high: int
    answer: Literal["number", "json"] = "number"
    score: Literal["integer", "logits"] = "integer"
    samples: int = Field(default=1, ge=1)
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    system: str = ""
    user: str
    baseline: str = ""
    criteria: list[str] = []
    labels: dict[str, int] = {}
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
    def _is_consistent(self) -> Self:
        for rule, holds in (
            (f"`low` must be below `high`; got {self.low} and {self.high}", self.low < self.high),
            (
                "`samples` above 1 need replies that vary: set a temperature above 0 under [sampling]",
                self.samples == 1 or self.sampling.get("temperature") != 0,
            ),
            (
                # of more digits, some tokenizers make several tokens: 1 could be the start of 10
                '`score` "logits" needs `answer = "number"`, scores of one digit and no labels',
                self.score == "integer"
                or (self.answer == "number" and not self.labels and 0 <= self.low < self.high <= 9),
            ),
            (
                "`labels` must differ in more than capitals and spaces",
                len({word.strip().casefold() for word in self.labels}) == len(self.labels),
            ),
            (
                f"`labels` must be words for scores from {self.low} to {self.high}; got {self.labels}",
                all(
                    word.strip() and self.low <= score <= self.high
                    for word, score in self.labels.items()
                ),
            ),
            (
                '`criteria` need `answer = "json"` and a question about one output, without {other_output}',
                not self.criteria or (self.answer == "json" and not self.compares),
            ),
            (
                f"`criteria` must be different names such as fluent; got {self.criteria}",
                len(set(self.criteria)) == len(self.criteria)
                and all(_NAME.fullmatch(name) and name != "reason" for name in self.criteria),
            ),
            (
                "`baseline` needs a question about two outputs, with {other_output}",
                self.compares or not self.baseline,
            ),
        ):
            if not holds:
                raise ValueError(rule)
        return self

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the texts that the question shows, each once."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.user)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file of outputs that a question is made of."""
        keys = ("item", "system") if self.compares else ()
        return (*keys, *(name for name in self.placeholders if name != "other_output"))

    @property
    def compares(self) -> bool:
        """Whether the question is about two outputs."""
        return "other_output" in self.placeholders

    def messages(self, texts: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the messages that ask about one output.

        Placeholders are filled in one pass: braces in a text stay what they are.

        Parameters
        ----------
        texts : mapping
            What stands in the placeholders, by name.

        Returns
        -------
        list of dict
            ``role`` and ``content`` of each message.
        """
        filled = _PLACEHOLDER.sub(lambda found: texts[found[1]], self.user)
        asked = {"role": "user", "content": f"{filled}\n\n{self._request()}"}
        return [{"role": "system", "content": self.system}, asked] if self.system else [asked]

    def _request(self) -> str:
        """The sentence that asks for a score, or for one by each criterion."""
        score = f"whole number from {self.low} to {self.high}"
        if self.labels:
            score = f"of these words: {', '.join(self.labels)}"
        if self.answer == "number":
            return f"Reply with one {score}{'; and' if self.labels else ' and'} nothing else."
        start = "Reply with a JSON object and nothing else. It has"
        each = f"{'one' if self.labels else 'a'} {score}"
        if not self.criteria:
            return f'{start} two keys: first "reason", one sentence; then "score", {each}.'
        names = ", ".join(f'"{name}"' for name in self.criteria)
        return f'{start} these keys: first "reason", one sentence; then {names}, each {each}.'


def built_in_rubrics() -> Sequence[str]:
    """Return the names of the rubrics that come with Steelyard.

    Examples
    --------
    >>> built_in_rubrics()
    ['correctness', 'fluency', 'preference']
    """
    return sorted(Path(entry.name).stem for entry in _RUBRICS.iterdir())


def read_rubric(source: str | os.PathLike[str]) -> Rubric:
    """Read a rubric by its name, if it is built in, or from a TOML file.

    Parameters
    ----------
    source : str or path
        ``fluency``, ``correctness``, ``preference``, or the path of a file that ends in ``.toml``.

    Raises
    ------
    InvalidArgumentError
        If there is no such rubric.
    InvalidDataError
        If the file breaks the rules of `Rubric`; the message names file and key.

    Examples
    --------
    >>> rubric = read_rubric("fluency")
    >>> rubric.low, rubric.high, rubric.columns
    (1, 5, ('output',))
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
