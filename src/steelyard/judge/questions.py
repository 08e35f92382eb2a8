"""From texts to questions: one for each different text, and a reason where there is none."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.errors import InvalidArgumentError
from steelyard.judge.answer import ScoreKind, answer
from steelyard.judge.cache import question_key
from steelyard.judge.reply import Reply
from steelyard.judge.rubric import Rubric

__all__ = ["Column", "Example", "Inquiry", "examples", "sampled"]

Column = Sequence[object]

# As many alternatives to a token as OpenAI and vLLM give.
_ALTERNATIVES = 20
# Parts of a rubric that caches of the first version do not know.
_LATER = frozenset({"labels", "examples", "criteria"})


@dataclass(frozen=True, slots=True)
class Example:
    """An output, with what the judge may see beside it, and how often it was asked before."""

    output: str
    references: tuple[str, ...] = ()
    input: str | None = None
    others: tuple[tuple[str, str], ...] = ()
    sample: int = 0


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
            "messages": self.rubric.messages(
                example.output, example.references, example.input, others=dict(example.others)
            ),
        }
        if self.score == "logits":
            body |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        body |= self.rubric.sampling
        seed = body.get("seed")
        if example.sample and isinstance(seed, int):
            # with the same seed it would say the same again
            body["seed"] = seed + example.sample
        return body

    def is_answered(self, reply: Reply) -> bool:
        """Whether a reply holds a valid score."""
        return answer(reply, self.rubric, self.score).reason is None

    def is_kept(self, reply: Reply) -> bool:
        """Whether a reply is kept: not if it has no score and another time it may have one."""
        return self.is_answered(reply) or not reply.is_unfinished

    def key(self, example: Example) -> str:
        """Return what the reply is kept under: not where it was asked, but all that was."""
        rubric = self.rubric.model_dump(exclude={"name"})
        # what a rubric does not use leaves its key as it was before there was such a thing
        used = {name: value for name, value in rubric.items() if value or name not in _LATER}
        nth = {"sample": example.sample} if example.sample else {}
        return question_key({"rubric": used, "question": self.question(example), **nth})


def examples(
    outputs: Sequence[str],
    references: Sequence[str | Sequence[str] | None] | None,
    inputs: Sequence[str | None] | None,
    *,
    columns: Mapping[str, Column] | None = None,
    rubric: Rubric,
) -> list[Example | str]:
    """Put the texts that belong together side by side.

    Parameters
    ----------
    outputs, references, inputs, columns
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
    shown = _shown(columns or {}, rubric)
    named: dict[str, Column | None] = {"references": references, "inputs": inputs}
    for name, column in (named | shown).items():
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
    found = []
    for position, output in enumerate(outputs):
        example = _example(
            position,
            output,
            references[position] if references is not None else None,
            inputs[position] if inputs is not None else None,
            rubric=rubric,
        )
        others = {name: _text(column[position]) for name, column in shown.items()}
        found.append(_with_others(example, others))
    return found


def _shown(columns: Mapping[str, Column], rubric: Rubric) -> dict[str, Column]:
    for name in rubric.columns + (("other_output",) if rubric.compares else ()):
        if name not in columns:
            raise InvalidArgumentError(
                f"`columns` must have {name!r}: the rubric {rubric.name!r} shows it"
            )
    return {name: columns[name] for name in rubric.placeholders if name in columns}


def _with_others(example: Example | str, others: Mapping[str, str | None]) -> Example | str:
    if isinstance(example, str):
        return example
    lacking = next((name for name, text in others.items() if text is None), None)
    if lacking is not None:
        return f"no {lacking} to show to the judge"
    return replace(example, others=tuple((name, text or "") for name, text in others.items()))


def sampled(example: Example, samples: int) -> list[Example]:
    """Return an example as often as it is asked about."""
    return [replace(example, sample=sample) for sample in range(samples)]


def _text(value: object) -> str | None:
    """A cell as the judge reads it: a list line by line, a number as it is written."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return "\n\n".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


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
