"""Battles of an arena: which of two systems a person preferred."""

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered
from steelyard.foreign.values import at, identifier, number, objects

__all__ = ["FORMAT"]

_SIDES = (("model_a", "model_b"), ("left", "right"))
_RESULTS = ("winner", "choice")
_KAGGLE = ("winner_model_a", "winner_model_b", "winner_tie")
_RATERS = ("voter_id", "judge", "judge_user_id", "evaluator", "rater", "user_id", "worker")
_ITEMS = ("item", "item_id", "question_id", "battle_id", "id", "conversation_id", "uid")
_BOTH_BAD = frozenset({"tie (bothbad)", "both_bad", "bothbad", "both bad", "tie (both bad)"})
_TIES = frozenset({"tie", "ties", "draw", "equal", "both_good", "both good"})
_UNKNOWN, _PROMPT = "unknown", "preference"


def _recognises(document: ToolFile) -> bool:
    if document.kind not in ("json", "lines", "table"):
        return False
    has_sides = any(document.has(*sides) for sides in _SIDES)
    return has_sides and (any(map(document.has, _RESULTS)) or document.has(*_KAGGLE))


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    number_of_battle = 0
    for document in documents:
        for record in document.records:
            number_of_battle += 1
            _add(gathered, record, number_of_battle)


def _add(gathered: Gathered, record: Mapping[str, Any], battle: int) -> None:
    options = gathered.options
    names = next((sides for sides in _SIDES if sides[0] in record), _SIDES[0])
    first, second = (identifier(record.get(name)) for name in names)
    score = _score(gathered, record, names, (first, second))
    if first is None or second is None or first == second:
        return gathered.drop("battles without two different systems")
    if score is None:
        return gathered.drop("battles without a winner or a tie")
    rater = options.value(record, "rater", *_RATERS)
    if isinstance(rater, list):
        return gathered.drop("battles judged by a model")
    if identifier(rater) is None:
        gathered.remark(f"some battles do not name who voted: the rater is {_UNKNOWN!r}")
    item = identifier(options.value(record, "item", *_ITEMS))
    if item is None:
        gathered.remark("no id of the question: each battle is an item, by its number")
        item = str(battle)
    for system, side in ((first, "a"), (second, "b")):
        output = _text(record, side)
        if output is not None:
            question = at(record, "prompt") or at(record, f"conversation_{side}.0.content")
            gathered.output(item, system, output, input=question, again=True)
    return gathered.preference(
        item,
        (first, second),
        score,
        rater=identifier(rater) or _UNKNOWN,
        prompt=identifier(options.value(record, "prompt", "")) or _PROMPT,
        time=options.value(record, "time", "tstamp", "timestamp", "time"),
    )


def _score(
    gathered: Gathered, record: Mapping[str, Any], names: tuple[str, str], sides: tuple[Any, Any]
) -> float | None:
    """Return the score of the first system: 1 if it won, 1/2 for a tie, 0 if it lost."""
    result = next((record[name] for name in _RESULTS if record.get(name) is not None), None)
    if result is None:
        won = [number(record.get(name)) for name in _KAGGLE]
        return {(1, 0, 0): 1.0, (0, 1, 0): 0.0, (0, 0, 1): 0.5}.get(tuple(won))  # type: ignore[arg-type]
    word = str(result).strip()
    if word.casefold() in _BOTH_BAD:
        gathered.remark("battles in which both were bad count as ties")
        return 0.5
    if word.casefold() in _TIES:
        return 0.5
    if word in (names[0], sides[0]):
        return 1.0
    return 0.0 if word in (names[1], sides[1]) else None


def _text(record: Mapping[str, Any], side: str) -> Any:
    plain = at(record, f"response_{side}")
    if plain is not None:
        return plain
    said = [
        one for one in objects(at(record, f"conversation_{side}")) if one.get("role") == "assistant"
    ]
    return said[-1].get("content") if said else None


FORMAT = Format(
    name="arena",
    title="Arena battles: preferences between two systems",
    expects="`model_a`, `model_b` and `winner` (or `left`, `right` and `winner` or `choice`)",
    recognises=_recognises,
    read=_read,
    way_out="name items and raters with --column item=COLUMN and --column rater=COLUMN",
    columns=("item", "rater", "prompt", "time"),
)
