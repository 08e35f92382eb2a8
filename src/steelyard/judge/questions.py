"""From outputs to questions, one for each different text, and from replies to scores."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.judge.answer import ReplyScore, answer, averaged
from steelyard.judge.judged import Judged
from steelyard.judge.pairs import Pairing
from steelyard.judge.reply import Reply
from steelyard.judge.rubric import Rubric

__all__ = ["Columns", "Questions"]

# Columns of a file of outputs, by name.
Columns = Mapping[str, Sequence[Any]]

# As many alternatives to a token as OpenAI and vLLM give.
_ALTERNATIVES = 20
# What a reply means: a rubric that differs in one of them asks anew.
_MEANING = {"low", "high", "answer", "score", "criteria", "labels"}


@dataclass(frozen=True, eq=False)
class Questions:
    """All questions of a run.

    `bodies` has each different request by the key that its reply is kept under: not where it is asked, but
    all that is. `keys` has the questions about each output, or each pair in either order, and `lacking`
    why there are none.
    """

    rubric: Rubric
    model: str
    bodies: dict[str, dict[str, Any]]
    keys: list[list[str]]
    lacking: list[str | None]
    pairing: Pairing | None

    @classmethod
    def about(cls, outputs: Columns, rubric: Rubric, model: str) -> Self:
        """Ask what a rubric asks about outputs.

        Raises
        ------
        InvalidArgumentError
            If a column that the rubric shows is missing or has another length, no model is named, or
            there is nothing to compare.
        """
        if not model.strip():
            raise InvalidArgumentError("`model` must name a model; got an empty text")
        _check(outputs, rubric)
        shown = {name: outputs[name] for name in rubric.columns if name in rubric.placeholders}
        pairing = None
        if rubric.compares:
            pairing = Pairing.of(
                outputs["item"], outputs["system"], outputs["output"], baseline=rubric.baseline
            )
            order = pairing.asked
            shown = {name: [cells[a] for a, _ in order] for name, cells in shown.items()}
            shown["other_output"] = [outputs["output"][b] for _, b in order]
        bodies: dict[str, dict[str, Any]] = {}
        keys, lacking = [], []
        meaning = rubric.model_dump(include=_MEANING)
        for cells in zip(*shown.values(), strict=True):
            texts = {name: _text(cell) for name, cell in zip(shown, cells, strict=True)}
            missing = next((name for name, text in texts.items() if text is None), None)
            lacking.append(None if missing is None else f"no {missing} to show to the judge")
            some = {} if missing else _bodies(rubric, model, texts, meaning)
            keys.append(list(some))
            bodies |= some
        return cls(rubric, model, bodies, keys, lacking, pairing)

    def is_answer(self, reply: Reply) -> bool:
        """Whether a reply holds a valid score: only then it is kept."""
        return answer(reply, self.rubric).reason is None

    def judged(self, replies: Mapping[str, Reply], failures: Mapping[str, str]) -> Judged:
        """Return the scores, and those by each criterion."""
        found = self._read(replies, failures, None)
        if self.pairing is not None:
            return self.pairing.compared(found, self.rubric, model=self.model)
        for name in self.rubric.criteria:
            found.criteria[name] = self._read(replies, failures, name)
        return found

    def _read(
        self, replies: Mapping[str, Reply], failures: Mapping[str, str], criterion: str | None
    ) -> Judged:
        answers = {key: ReplyScore(math.nan, reason) for key, reason in failures.items()}
        for key, reply in replies.items():
            answers[key] = answer(reply, self.rubric, criterion=criterion)
        found = [
            averaged([answers[key] for key in some]) if some else ReplyScore(math.nan, reason)
            for some, reason in zip(self.keys, self.lacking, strict=True)
        ]
        has_mass, explains = self.rubric.score == "logits", self.rubric.answer == "json"
        return Judged(
            scores=np.array([one.score for one in found], dtype=np.float64),
            reasons=tuple(one.reason for one in found),
            mass=np.array([one.mass for one in found]) if has_mass else None,
            explanations=tuple(one.explanation for one in found) if explains else None,
            n_partly=sum(
                len({answers[key].reason is None for key in some}) > 1 for some in self.keys
            ),
        )


def _check(outputs: Columns, rubric: Rubric) -> None:
    count = len(outputs.get("output", ()))
    for name in rubric.columns:
        if name not in outputs:
            raise InvalidArgumentError(
                f"`outputs` must have a column {name!r}: the rubric {rubric.name!r} shows it"
            )
        if len(outputs[name]) != count:
            raise InvalidArgumentError(
                f"`outputs` must have one {name} for each output; got {len(outputs[name])} for {count}"
            )


def _bodies(
    rubric: Rubric, model: str, texts: Mapping[str, str | None], meaning: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The requests about one output, one for each sample, by key."""
    messages = rubric.messages({name: text or "" for name, text in texts.items()})
    body: dict[str, Any] = {"model": model, "messages": messages}
    if rubric.score == "logits":
        body |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
    body |= rubric.sampling
    bodies = {}
    for nth in range(rubric.samples):
        # with the same seed it would say the same again
        seed = {"seed": body["seed"] + nth} if nth and isinstance(body.get("seed"), int) else {}
        asked = body | seed
        kept = {"meaning": meaning, "question": asked, "sample": nth}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"), allow_nan=False)
        bodies[hashlib.sha256(text.encode("ascii")).hexdigest()] = asked
    return bodies


def _text(cell: object) -> str | None:
    """A cell as the judge reads it: a list of texts with blank lines between them, a number as it is written."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, Sequence) and all(isinstance(one, str) for one in cell):
        return "\n\n".join(cell) if cell else None
    return json.dumps(cell, ensure_ascii=False, default=str)
