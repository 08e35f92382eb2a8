"""The sentence that asks a judge for its answer, and what such an answer looks like."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["WorkedExample", "request"]


def request(
    answer: Literal["number", "json"],
    *,
    scale: tuple[int, int],
    labels: Sequence[str] = (),
    criteria: Sequence[str] = (),
) -> str:
    """Return the sentence that asks for a score, or for one by each criterion.

    Examples
    --------
    >>> request("number", scale=(1, 5))
    'Reply with one whole number from 1 to 5 and nothing else.'
    """
    score = f"whole number from {scale[0]} to {scale[1]}"
    if labels:
        score = f"of these words: {', '.join(labels)}"
    if answer == "number":
        return f"Reply with one {score}{'; and' if labels else ' and'} nothing else."
    start = "Reply with a JSON object and nothing else. It has"
    one = f"{'one' if labels else 'a'} {score}"
    if not criteria:
        return f'{start} two keys: first "reason", one sentence; then "score", {one}.'
    names = ", ".join(f'"{name}"' for name in criteria)
    return f'{start} these keys: first "reason", one sentence; then {names}, each {one}.'


class WorkedExample(BaseModel):
    """A question with its answer, shown to the judge before the one that it is to answer.

    Attributes
    ----------
    score : int, or dict of str to int
        The answer; with `Rubric.criteria` one by each of them.
    reason : str
        What is said about it, if the answer is a JSON object.
    texts : dict
        What stands in the placeholders of `Rubric.user`, each of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    score: int | dict[str, int]
    reason: str = ""
    texts: dict[str, str]

    def reply(self, *, answer: Literal["number", "json"], labels: Mapping[str, int]) -> str:
        """Return what a judge would have replied.

        Examples
        --------
        >>> one = WorkedExample(score=2, reason="The year is wrong.", texts={})
        >>> one.reply(answer="json", labels={"fair": 2})
        '{"reason": "The year is wrong.", "score": "fair"}'
        """
        words = {value: word for word, value in labels.items()}
        by_name = self.score if isinstance(self.score, dict) else {"score": self.score}
        found = {name: words.get(one, one) for name, one in by_name.items()}
        if answer == "number":
            return str(found["score"])
        return json.dumps({"reason": self.reason, **found}, ensure_ascii=False)
