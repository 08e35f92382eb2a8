"""The work itself: answers with the texts that they are about, to look at and to decide upon."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from sqlalchemy import Connection

from steelyard.collect.campaign import Campaign
from steelyard.collect.conduct import conducts
from steelyard.collect.live.observer import View
from steelyard.collect.live.people import raters_table
from steelyard.collect.media import MediaFolder, media_fields
from steelyard.collect.store import settings
from steelyard.collect.store.corrections import Earlier, earlier
from steelyard.collect.store.decisions import latest
from steelyard.collect.store.overview import rater_rows
from steelyard.collect.store.records import SubmissionRow, submission_rows
from steelyard.collect.store.reports import all_reports
from steelyard.collect.store.sides import each_score
from steelyard.collect.tasks import Task, grade_gold, score_bounds, visible_widgets
from steelyard.collect.tasks.orders import order_in_words
from steelyard.collect.tasks.screen import asked_about, field_at
from steelyard.collect.tasks.widgets import Comment, Passages, PostEdit, Ranking, Spans, Widget

__all__ = ["FAR", "Show", "answers", "answers_of", "comments_of"]

Show = Literal["all", "comment", "disagreement", "gold-missed", "flagged", "excluded"]

# A score is far from the others' if it differs by half of the scale or more.
FAR = 0.5
_PAGE = 25


@dataclass(frozen=True)
class _Found:
    """A submission with what was made of it."""

    row: SubmissionRow
    distance: float | None
    missed: bool
    comments: Sequence[tuple[str, str]]


def answers(
    view: View, *, rater: int | None, item: str | None, show: Show, offset: int
) -> dict[str, Any]:
    """Return a page of answers, for an observer; see `answers_of`."""
    return view.store.read(
        lambda connection: answers_of(
            connection, view.campaign, rater=rater, item=item, show=show, offset=offset
        )
    )


def answers_of(
    connection: Connection,
    campaign: Campaign,
    *,
    rater: int | None = None,
    item: str | None = None,
    show: Show = "all",
    offset: int = 0,
) -> dict[str, Any]:
    """Return answers as they were given, the newest first, with the people who gave them.

    Parameters
    ----------
    connection : Connection
        To read from.
    campaign : Campaign
        The campaign.
    rater : int, optional
        Number of the rater whose answers to return.
    item : str, optional
        The item that the answers are about.
    show : str
        ``comment``: those with a comment; ``disagreement``: those far from the others';
        ``gold-missed``, ``flagged`` and ``excluded``: those that missed gold, or whose rater is
        flagged or left out; ``all``.
    offset : int
        How many to pass over.

    Returns
    -------
    dict
        ``total``, ``offset``, ``page``, ``answers``, ``reports`` (texts that were handed back) and
        ``raters``: those of the answers, by number, with their panel ids, flags and decisions.
    """
    submissions, known = submission_rows(connection), rater_rows(connection)
    people = {
        one["number"]: one
        for one in raters_table(
            campaign,
            known,
            conduct=conducts(campaign, submissions),
            decided=latest(connection),
        )
    }
    names = {one.number: one.external_id for one in known}
    found = [
        one
        for one in _found(campaign.task, submissions)
        if (rater is None or one.row.number == rater)
        and (item is None or one.row.item == item)
        and _is_shown(one, show, people)
    ][::-1]
    chosen, changed = found[offset : offset + _PAGE], earlier(connection)
    known_secret = settings.current(connection)
    media = None
    if campaign.media is not None and known_secret is not None:
        media = MediaFolder(campaign.media, known_secret.secret)
    numbers = {one.row.number for one in chosen}
    if rater is not None and rater in people:
        numbers.add(rater)
    return {
        "total": len(found),
        "offset": offset,
        "page": _PAGE,
        "answers": [
            _answer(campaign.task, media, one, changed.get(one.row.id, ())) for one in chosen
        ],
        "reports": _reports(connection, rater=rater, item=item)
        if show in {"all", "comment"}
        else [],
        "raters": {number: people[number] | {"panel_id": names[number]} for number in numbers},
    }


def comments_of(task: Task, submission: SubmissionRow) -> list[tuple[str, str]]:
    """Return what a rater wrote in fields for comments: the question and the text."""
    return [
        (widget.label or name, str(submission.answer[name]))
        for name, widget in visible_widgets(
            asked_about(task, submission.content), submission.answer
        ).items()
        if isinstance(widget, Comment) and submission.answer.get(name)
    ]


def _reports(
    connection: Connection, *, rater: int | None, item: str | None
) -> list[dict[str, Any]]:
    return [
        {
            "item": one.item,
            "rater": one.number,
            "kind": one.kind,
            "reason": one.reason,
            "time": one.time,
        }
        for one in all_reports(connection)[::-1]
        if (rater is None or one.number == rater) and (item is None or one.item == item)
    ]


def _found(task: Task, submissions: Sequence[SubmissionRow]) -> list[_Found]:
    by_unit: dict[int, list[SubmissionRow]] = {}
    for one in submissions:
        by_unit.setdefault(one.unit, []).append(one)
    return [
        _Found(
            row=one,
            distance=_distance(task, one, by_unit[one.unit]),
            missed=one.gold is not None and not grade_gold(task, one.content, one.gold, one.answer),
            comments=comments_of(task, one),
        )
        for one in submissions
    ]


def _distance(
    task: Task, submission: SubmissionRow, same_unit: Sequence[SubmissionRow]
) -> float | None:
    """Return how far a submission lies from the mean of the others, as a share of the scale."""
    if submission.gold is not None:
        # the answer is known: how many miss it says nothing of those who do not
        return None
    others = [one for one in same_unit if one.rater != submission.rater]
    theirs: dict[tuple[int, str], list[float]] = {}
    for number, prompt, score in (each for one in others for each in each_score(one.scores)):
        theirs.setdefault((number, prompt), []).append(score)
    bounds, distances = score_bounds(task), []
    for number, prompt, score in each_score(submission.scores):
        known = theirs.get((number, prompt))
        if known and prompt in bounds:
            low, high = bounds[prompt]
            width = high - low if math.isfinite(high) else 1.0
            distances.append(min(1.0, abs(score - fmean(known)) / width))
    return max(distances, default=None)


def _is_shown(one: _Found, show: Show, people: Mapping[int, Mapping[str, Any]]) -> bool:
    match show:
        case "comment":
            return bool(one.comments)
        case "disagreement":
            return one.distance is not None and one.distance >= FAR
        case "gold-missed":
            return one.missed
        case "flagged":
            return bool(people[one.row.number]["flags"])
        case "excluded":
            return one.row.excluded
        case "all":
            return True


def _media(media: MediaFolder | None, task: Task, field: str, value: Any) -> dict[str, Any] | None:
    """Return what kind of file a field shows, and the names under which they are served."""
    kind = media_fields(task).get(field)
    return None if kind is None or media is None else {"kind": kind, "names": media.names(value)}


def _answer(
    task: Task, media: MediaFolder | None, one: _Found, before: Sequence[Earlier]
) -> dict[str, Any]:
    row = one.row
    task = asked_about(task, row.content)
    labels = {shown.field: shown.label or shown.field for shown in task.show}
    for letter, systems in row.letters.items():
        labels[field_at(letter)] = f"{letter} ({', '.join(systems)})" if systems else letter
    # in the order of the texts that the rater saw
    seen = list(row.systems[::-1] if row.swapped else row.systems)
    if task.pair:
        for field, system in zip(("first", "second"), seen, strict=False):  # gold has no systems
            labels[field] = f"{labels.get(field, field)} ({system})"
    return {
        "submission": row.id,
        "item": row.item,
        "systems": seen,
        "rater": row.number,
        "visit": row.panel_session,
        "texts": [
            {
                "label": labels.get(field, field),
                "text": row.content[field],
                "media": _media(media, task, field, row.content[field]),
            }
            for field in task.fields
            if field not in task.suggested
        ],
        "answers": _all_in_words(task, row.content, row.answer),
        "earlier": [_all_in_words(task, row.content, each.answer) for each in before],
        "scores": dict(row.scores),
        "seconds": row.active_ms / 1000,
        "time": row.time,
        "gold": row.gold is not None,
        "missed": one.missed,
        "distance": one.distance,
        "far": one.distance is not None and one.distance >= FAR,
        "excluded": row.excluded,
        "surplus": row.surplus,
    }


def _all_in_words(
    task: Task, content: Mapping[str, Any], answer: Mapping[str, Any]
) -> list[dict[str, str]]:
    return [
        {"question": widget.label or name, "answer": _chosen(task, widget, content, answer[name])}
        for name, widget in visible_widgets(task, answer).items()
        if answer.get(name) not in (None, "")
    ]


def _chosen(task: Task, widget: Widget, content: Mapping[str, Any], value: Any) -> str:
    """Return an answer as the rater's page has it: which of two texts by its label, or no error."""
    if widget.kind == "preference":
        labels = {shown.field: shown.label for shown in task.show} | {"tie": "both alike"}
        return labels.get(value) or str(value)
    if widget.kind == "spans" and not value:
        return "no error"
    return _in_words(widget, content, value)


def _in_words(widget: Widget, content: Mapping[str, Any], value: Any) -> str:
    """Return an answer as somebody reads it."""
    if isinstance(widget, PostEdit | Comment):
        return str(value)
    if isinstance(widget, Spans):
        text = content[widget.field]
        return "; ".join(f"{_marked(text, mark)} ({_kind(mark)})" for mark in value)
    if isinstance(widget, Passages):
        return "; ".join(f"{place}: {one['verdict']}" for place, one in enumerate(value, start=1))
    if isinstance(widget, Ranking):
        return order_in_words(value, alike=" alike")
    for choice in getattr(widget, "choices", ()):
        if choice.value == value:
            return str(getattr(choice, "label", None) or value)
    return {True: "confirmed"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _marked(text: str, mark: Mapping[str, Any]) -> str:
    return "missing" if mark.get("missing") else f"“{text[mark['start'] : mark['end']]}”"


def _kind(mark: Mapping[str, Any]) -> str:
    return ", ".join(str(mark[key]) for key in ("severity", "category") if mark.get(key))
