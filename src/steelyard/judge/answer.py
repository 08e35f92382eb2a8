"""From a reply to a score: strictly, or not at all."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.judge.failures import Failure, shortened
from steelyard.judge.reply import Reply
from steelyard.judge.rubric import Rubric

__all__ = ["ReplyScore", "answer", "averaged"]

# Models that think aloud do so before they answer.
_THINKING = "(?:think|thinking|thought|reasoning)"
_OPEN, _CLOSE = r"[<\[\u25c1]", r"[>\]\u25b7]"
_THOUGHT = re.compile(f"{_OPEN}/{_THINKING}{_CLOSE}", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(f"{_OPEN}{_THINKING}{_CLOSE}", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_NUMERAL = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_DIGIT = re.compile("[0-9]")
# The numeral must stand alone: not 4th, 4%, 4/five, v4, ~4 or a dash that may be a minus.
_BEFORE = (
    "/.,<~\N{ALMOST EQUAL TO}\N{PLUS-MINUS SIGN}\N{LESS-THAN OR EQUAL TO}"
    "\N{GREATER-THAN OR EQUAL TO}\N{EN DASH}\N{EM DASH}\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
)
_INTEGER = re.compile(rf"(?<![\w{_BEFORE}])([-+\u2212]?)([0-9]{{1,9}})(\.0+)?(?![\w/%+])")
# "Score: 4/5", "4 out of 5", and nothing else: the second number is the end of the scale.
_LABEL = r"(?:(?:final|overall)\s+)?(?:score|rating|grade|answer)(?:\s+is)?"
_MARK = r"[\s*_`\"'()\[\].:=]*"
_FRACTION = re.compile(
    rf"{_MARK}(?:{_LABEL})?{_MARK}([0-9]{{1,9}})(?:\.0+)?[\s*_(]*(?:/|out\s+of|of)\s*([0-9]{{1,9}})(?:\.0+)?{_MARK}",
    re.IGNORECASE,
)
# Letters of an answer that is one word, with its marks.
_LONGEST_WORD = 200
_WORD = re.compile(
    rf"{_MARK}(?:{_LABEL}{_MARK}[:=\s]{_MARK})?(.*?){_MARK}", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ReplyScore:
    """A score, or the reason why there is none.

    Attributes
    ----------
    score : float
        NaN if there is none.
    reason : str or None
        Why there is none; None if there is one. What stands before the first colon names the
        kind of failure.
    mass : float
        Probability of the tokens that are scores; NaN unless it was asked for.
    explanation : str or None
        What the judge says about its score, with ``rubric.answer == "json"``.
    """

    score: float
    reason: str | None = None
    mass: float = math.nan
    explanation: str | None = None


def answer(reply: Reply, rubric: Rubric, *, criterion: str | None = None) -> ReplyScore:
    r"""Read the score of a reply.

    Parameters
    ----------
    reply : Reply
        What the judge said.
    rubric : Rubric
        What it was asked.
    criterion : str, optional
        Which of the rubric's criteria to read; by default the mean of all, if all are valid.

    Returns
    -------
    ReplyScore
        With ``rubric.answer == "number"`` the reply must hold one whole number on the scale and
        no other, or be a fraction of the greatest score and nothing else (4/5, 4 out of 5); with
        ``"json"`` it must be an object with such a number as ``score``. 4.0 is a whole number.
        With ``rubric.labels`` it must be one of them instead. With ``rubric.score == "logits"`` and
        :math:`p_s` the probability that the token of the answer is the score :math:`s`, the score is
        :math:`\sum_s s p_s / \sum_s p_s` over the scores of the scale.

    Notes
    -----
    What stands before ``</think>`` is not part of the answer, and there is none if thoughts begin
    and do not end. The mean under the model's own
    probabilities has fewer ties than the number it names, and usually a higher correlation with
    people's scores [1]_.

    References
    ----------
    .. [1] Liu et al. (2023), G-Eval: NLG evaluation using GPT-4 with better human alignment,
       EMNLP.

    Examples
    --------
    >>> rubric = Rubric(name="brevity", low=1, high=5, user="{output}")
    >>> def said(text):
    ...     return Reply(content=text)
    >>> answer(said("Score: 4."), rubric).score
    4.0
    >>> answer(said("4/5"), rubric).score
    4.0
    >>> answer(said("4 or 5"), rubric).reason
    "several numbers in the reply: '4 or 5'"
    """
    if rubric.criteria and criterion is None:
        found = [answer(reply, rubric, criterion=name) for name in rubric.criteria]
        failed = next((one for one in found if one.reason is not None), None)
        return failed or replace(averaged(found), explanation=found[0].explanation)
    try:
        return _answer(reply, rubric, key=criterion or "score")
    except Failure as error:
        return ReplyScore(math.nan, str(error))


def averaged(answers: Sequence[ReplyScore]) -> ReplyScore:
    """Return the mean of the valid answers to one question; the first reason if none is valid.

    Examples
    --------
    >>> averaged([ReplyScore(4.0), ReplyScore(math.nan, "empty reply"), ReplyScore(5.0)]).score
    4.5
    """
    valid = [one for one in answers if one.reason is None]
    if len(answers) == 1 or not valid:
        return answers[0]
    said = [one.explanation for one in valid if one.explanation is not None]
    return ReplyScore(
        math.fsum(one.score for one in valid) / len(valid),
        mass=math.fsum(one.mass for one in valid) / len(valid),
        explanation="\n".join(said) if said else None,
    )


def _answer(reply: Reply, rubric: Rubric, *, key: str) -> ReplyScore:
    if reply.is_refusal:
        raise Failure("the judge refused")
    if reply.finish == "content_filter":
        raise Failure("the endpoint filtered the reply")
    text = _THOUGHT.split(reply.content)[-1].strip()
    # one digit alone is whole even when nothing could follow it: no longer one is on the scale
    if reply.finish == "length" and not (rubric.score == "logits" and _DIGIT.fullmatch(text)):
        raise Failure("the reply was cut off: raise max_tokens in the rubric")
    if not text:
        raise Failure("empty reply")
    if _OPEN_THOUGHT.search(text):
        # a number in it may be any: of errors, of words, of a score that was not given in the end
        raise Failure(f"thoughts without an end: {shortened(text)!r}")
    explanation = None
    if rubric.answer == "number":
        score = _number(text, rubric)
    else:
        score, explanation = _json_score(text, rubric, key)
    if not rubric.low <= score <= rubric.high:
        raise Failure(f"score off the scale: {shortened(text)!r}")
    return (
        ReplyScore(float(score), explanation=explanation)
        if rubric.score == "integer"
        else _expected(reply, rubric, score)
    )


def _number(text: str, rubric: Rubric) -> int:
    if rubric.labels:
        return _labelled(text, rubric)
    fraction = _FRACTION.fullmatch(text)
    if fraction is not None and rubric.low >= 0 and int(fraction[2]) == rubric.high:
        return int(fraction[1])
    numerals = _NUMERAL.findall(text)
    if len(numerals) != 1:
        count = "several numbers" if numerals else "no number"
        raise Failure(f"{count} in the reply: {shortened(text)!r}")
    found = _INTEGER.search(text)
    if found is None or found[2] + (found[3] or "") != numerals[0]:
        raise Failure(f"not a whole number: {shortened(text)!r}")
    return int(found[2]) if found[1] in {"", "+"} else -int(found[2])


def _labelled(text: str, rubric: Rubric) -> int:
    """The score of a word that stands alone, in whatever marks: "A" in a sentence may be an article."""
    words = {word.strip().casefold(): score for word, score in rubric.labels.items()}
    found = _WORD.fullmatch(text) if len(text) <= _LONGEST_WORD else None
    said = found[1].strip().casefold() if found is not None else ""
    if text.strip().casefold() in words:
        return words[text.strip().casefold()]
    if said not in words:
        raise Failure(f"none of the labels: {shortened(text)!r}")
    return words[said]


def _json_score(text: str, rubric: Rubric, key: str) -> tuple[int, str | None]:
    fenced = _FENCE.fullmatch(text)
    try:
        found = json.loads(fenced[1] if fenced else text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise Failure(f"not a JSON object: {shortened(text)!r}") from None
    if not isinstance(found, dict) or key not in found:
        raise Failure(f"no key {key} in the reply: {shortened(text)!r}")
    score, reason = found[key], found.get("reason")
    explanation = reason if isinstance(reason, str) else None
    if rubric.labels:
        return _labelled(str(score), rubric), explanation
    if isinstance(score, str) and re.fullmatch(r"[-+0-9./ ]{1,20}", score.strip()):
        return _number(score, rubric), explanation
    if isinstance(score, float) and score.is_integer():
        return int(score), explanation
    if not isinstance(score, int) or isinstance(score, bool):
        raise Failure(f"not a whole number: {shortened(text)!r}")
    return score, explanation


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _expected(reply: Reply, rubric: Rubric, score: int) -> ReplyScore:
    if reply.digits is None:
        raise Failure("no log probabilities: the endpoint sent none")
    # the answer is the last number of the reply: only thoughts can stand before it
    if not reply.digits or reply.digits[-1].text.strip() != str(score):
        raise Failure("no token of the reply is the score")
    probability: dict[int, float] = {}
    for text, log_probability in reply.digits[-1].alternatives:
        digit = text.strip()
        if _DIGIT.fullmatch(digit) and rubric.low <= int(digit) <= rubric.high:
            probability.setdefault(int(digit), 0.0)
            probability[int(digit)] += math.exp(log_probability)
    mass = sum(probability.values())
    if not mass > 0:
        raise Failure("no probability on the scale")
    expected = sum(value * weight for value, weight in probability.items()) / mass
    return ReplyScore(expected, mass=min(mass, 1.0))
