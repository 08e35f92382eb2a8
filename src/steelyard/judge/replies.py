"""Scores from the replies to all questions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.judge.answer import Answer, answer, averaged
from steelyard.judge.questions import Example, Inquiry
from steelyard.judge.reply import Reply
from steelyard.judge.result import Judged, Usage

__all__ = ["Replies"]


@dataclass(frozen=True, kw_only=True)
class Replies:
    """What came back.

    Attributes
    ----------
    rows : sequence of Example or str
        For each output what was asked about, or why nothing was.
    keys : sequence of lists of str
        Its questions.
    replies, failures : mapping
        Replies to questions, and why there is none.
    """

    rows: Sequence[Example | str]
    keys: Sequence[Sequence[str]]
    replies: Mapping[str, Reply]
    failures: Mapping[str, str]

    def judged(self, inquiry: Inquiry, *, usage: Usage, cost: float | None) -> Judged:
        """Return the scores, and those by each criterion."""
        return self._read(
            inquiry,
            None,
            usage=usage,
            cost=cost,
            criteria={
                name: self._read(inquiry, name, usage=usage, cost=cost)
                for name in inquiry.rubric.criteria
            },
        )

    def _read(
        self,
        inquiry: Inquiry,
        criterion: str | None,
        *,
        usage: Usage,
        cost: float | None,
        criteria: dict[str, Judged] | None = None,
    ) -> Judged:
        answers = {
            key: answer(reply, inquiry.rubric, inquiry.score, criterion=criterion)
            for key, reply in self.replies.items()
        }
        answers |= {
            key: Answer(math.nan, reason)
            for key, reason in self.failures.items()
            if key not in answers
        }
        found = [
            averaged([answers[key] for key in some]) if some else Answer(math.nan, str(row))
            for some, row in zip(self.keys, self.rows, strict=True)
        ]
        explains = inquiry.rubric.answer == "json"
        return Judged(
            scores=np.array([one.score for one in found], dtype=np.float64),
            reasons=tuple(one.reason for one in found),
            mass=np.array([one.mass for one in found]) if inquiry.score == "logits" else None,
            usage=usage,
            cost=cost,
            explanations=tuple(one.explanation for one in found) if explains else None,
            n_partly=sum(
                len({answers[key].reason is None for key in some}) > 1 for some in self.keys if some
            ),
            criteria=criteria or {},
        )
