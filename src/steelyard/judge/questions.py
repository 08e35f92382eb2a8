"""From texts to questions: one for each different text, and a reason where there is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InvalidArgumentError
from steelyard.judge.answer import ScoreKind, answer
from steelyard.judge.cache import question_key
from steelyard.judge.reply import Reply
from steelyard.judge.rubric import Rubric

__all__ = ["Example", "Inquiry", "examples"]

# As many alternatives to a token as OpenAI and vLLM give.
_ALTERNATIVES = 20


@dataclass(frozen=True, slots=True)
class Example:
    """An output, with what the judge may see beside it."""

    output: str
    references: tuple[str, ...] = ()
    input: str | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What all questions of a run have in common.

    Attributes
    ----------
    rubric : Rubric
        What is asked.
    model : str
        Who is asked.
    score : {"integer", "logits"}
        What the score is read from.
    """

    rubric: Rubric
    model: str
    score: ScoreKind

    def question(self, example: Example) -> dict[str, Any]:
        """Return the body of the request about an example."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self.rubric.messages(example.output, example.references, example.input),
        }
        if self.score == "logits":
            body |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        return body | self.rubric.sampling

    def is_answered(self, reply: Reply) -> bool:
        """Whether a reply holds a valid score."""
        return answer(reply, self.rubric, self.score).reason is None

    def key(self, example: Example) -> str:
        """Return what the reply is kept under: not where it was asked, but all that was."""
        rubric = self.rubric.model_dump(exclude={"name"})
        return question_key({"rubric": rubric, "question": self.question(example)})


def examples(
    outputs: Sequence[str],
    references: Sequence[str | Sequence[str] | None] | None,
    inputs: Sequence[str | None] | None,
    *,
    rubric: Rubric,
) -> list[Example | str]:
    """Put the texts that belong together side by side.

    Parameters
    ----------
    outputs, references, inputs : sequences
        As for `steelyard.judge.judge`.
    rubric : Rubric
        Says which of them are needed. The others are left out.

    Returns
    -------
    list of Example or str
        For each output an example, or the reason why it cannot be asked about.

    Raises
    ------
    InvalidArgumentError
        If a sequence is missing, has another length, or holds something that is not a text.
    """
    if isinstance(outputs, str):
        raise InvalidArgumentError("`outputs` must be a list of texts; got a single text")
    others = {"references": references, "inputs": inputs}
    for name, column in others.items():
        text = name.removesuffix("s")
        if column is None:
            if rubric.needs("input" if text == "input" else "reference"):
                raise InvalidArgumentError(
                    f"`{name}` must be given: the rubric {rubric.name!r} shows the {text}"
                )
        elif isinstance(column, str) or len(column) != len(outputs):
            raise InvalidArgumentError(
                f"`{name}` must have one entry for each output; got {len(column)} for "
                f"{len(outputs)} outputs"
            )
    return [
        _example(
            position,
            output,
            references[position] if references is not None else None,
            inputs[position] if inputs is not None else None,
            rubric=rubric,
        )
        for position, output in enumerate(outputs)
    ]


def _example(
    position: int, output: object, reference: object, given: object, *, rubric: Rubric
) -> Example | str:
    if reference is None or isinstance(reference, str):
        several: tuple[object, ...] = () if reference is None else (reference,)
    else:
        several = tuple(reference) if isinstance(reference, Iterable) else (reference,)
    texts = [text for text in several if isinstance(text, str)]
    for name, is_text in (
        ("outputs", isinstance(output, str)),
        ("references", len(texts) == len(several)),
        ("inputs", isinstance(given, str | None)),
    ):
        if not is_text:
            raise InvalidArgumentError(
                f"`{name}` must hold texts; got something else at position {position}"
            )
    if rubric.needs("reference") and not texts:
        return "no reference to show to the judge"
    if rubric.needs("input") and given is None:
        return "no input to show to the judge"
    assert isinstance(output, str)
    return Example(output, tuple(texts), given if isinstance(given, str) else None)
