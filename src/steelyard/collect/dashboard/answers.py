"""The work itself: answers with the texts that they are about, to look at and to decide upon."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, func, select

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.observer import View
from steelyard.collect.dashboard.raters_table import raters_table
from steelyard.collect.policy.rater_work import RaterWork
from steelyard.collect.store import settings
from steelyard.collect.store.decisions import latest
from steelyard.collect.store.hand_backs import all_hand_backs
from steelyard.collect.store.progress import rater_rows
from steelyard.collect.store.records import SubmissionRow, submission_rows, unit_scores
from steelyard.collect.store.shown import each_score
from steelyard.collect.store.tables import raters, submissions, units
from steelyard.collect.tasks import Task, grade_gold, score_bounds, visible_widgets
from steelyard.collect.tasks.screen import LETTERS, asked_about, field_at
from steelyard.collect.tasks.widgets import Comment, Passages, PostEdit, Ranking, Spans, Widget
from steelyard.collect.web.media import MediaFolder
from steelyard.collect.web.presentation import plain_text, presented

__all__ = ["FAR", "Show", "answers", "answers_of", "comments_of", "distances"]

Show = Literal["all", "comment", "disagreement", "gold-missed", "flagged", "excluded"]

# A score is far from the others' if it differs by half of the scale or more.
FAR = 0.5
_PAGE = 25


@dataclass(frozen=True)
class _Page:
    """Which submissions to show: how many there are in all, and the numbers of those on a page."""

    total: int
    submissions: Sequence[int]


def answers(
    view: View, *, rater: int | None, item: str | None, show: Show, offset: int
) -> dict[str, Any]:
    """Return a page of answers, for an observer; see `answers_of`."""
    return view.store.read(
        lambda connection: answers_of(
            connection,
            view.campaign,
            work=view.work(connection),
            rater=rater,
            item=item,
            show=show,
            offset=offset,
        )
    )


def answers_of(
    connection: Connection,
    campaign: Campaign,
    *,
    work: Mapping[str, RaterWork],
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
    work : mapping of str to RaterWork
        How raters work, by id.
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
    known = rater_rows(connection)
    people = {
        one["number"]: one
        for one in raters_table(campaign, known, work=work, decided=latest(connection))
    }
    names = {one.number: one.external_id for one in known}
    page = _page(connection, campaign, people, rater=rater, item=item, show=show, offset=offset)
    chosen = submission_rows(connection, where=submissions.c.id.in_(page.submissions))[::-1]
    far = distances(connection, score_bounds(campaign.task), units={one.unit for one in chosen})
    settled = settings.current(connection)
    media = None
    if campaign.media is not None and settled is not None:
        media = MediaFolder(campaign.media, settled.secret)
    numbers = {one.number for one in chosen} | {one for one in people if one == rater}
    return {
        "total": page.total,
        "offset": offset,
        "page": _PAGE,
        "answers": [_answer(campaign.task, media, one, far.get(one.id)) for one in chosen],
        "reports": _reports(connection, rater=rater, item=item)
        if show in {"all", "comment"}
        else [],
        "raters": {number: people[number] | {"panel_id": names[number]} for number in numbers},
    }


def _page(
    connection: Connection,
    campaign: Campaign,
    people: Mapping[int, Mapping[str, Any]],
    *,
    rater: int | None,
    item: str | None,
    show: Show,
    offset: int,
) -> _Page:
    """Choose submissions by what the database knows; only what must be read to be known is read."""
    fits: list[ColumnElement[bool]] = []
    if rater is not None:
        fits.append(raters.c.number == rater)
    if item is not None:
        fits.append(units.c.item == item)
    if show == "excluded":
        fits.append(raters.c.excluded.is_(True))
    if show == "flagged":
        flagged = [number for number, one in people.items() if one["flags"]]
        fits.append(raters.c.number.in_(flagged))
    if show == "gold-missed":
        fits.append(units.c.gold.is_not(None))
    found = (
        select(submissions.c.id)
        .join_from(submissions, units, units.c.id == submissions.c.unit)
        .join(raters, raters.c.id == submissions.c.rater)
        .where(*fits)
    )
    newest = found.order_by(submissions.c.id.desc())
    if show in {"all", "excluded", "flagged"}:
        total = connection.execute(select(func.count()).select_from(found.subquery())).scalar_one()
        return _Page(total, connection.execute(newest.limit(_PAGE).offset(offset)).scalars().all())
    if show == "disagreement":
        far = distances(connection, score_bounds(campaign.task))
        chosen = {number for number, distance in far.items() if distance >= FAR}
    elif show == "comment":
        chosen = _commented(connection, campaign.task)
    else:
        gold = submission_rows(connection, where=submissions.c.id.in_(found))
        chosen = {one.id for one in gold if _missed(campaign.task, one)}
    ids = [one for one in connection.execute(newest).scalars() if one in chosen]
    return _Page(len(ids), ids[offset : offset + _PAGE])


def _commented(connection: Connection, task: Task) -> set[int]:
    """Return the numbers of submissions in which somebody wrote a comment."""
    whole = task.on_screen(len(LETTERS)) if task.side_by_side else task
    names = [one.id for one in whole.widgets if isinstance(one, Comment)]
    given = connection.execute(select(submissions.c.id, submissions.c.answer)) if names else ()
    return {number for number, text in given if any(map(json.loads(text).get, names))}


def _missed(task: Task, one: SubmissionRow) -> bool:
    return one.gold is not None and not grade_gold(task, one.content, one.gold, one.answer)


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
            "holds": one.holds,
        }
        for one in all_hand_backs(connection)[::-1]
        if (rater is None or one.number == rater) and (item is None or one.item == item)
    ]


def distances(
    connection: Connection,
    bounds: Mapping[str, tuple[float, float]],
    *,
    units: Collection[int] | None = None,
) -> dict[int, float]:
    """Return how far submissions lie from the mean of the others', as a share of the scale.

    Those of gold are left out: there the answer is known, and how many miss it says nothing of those
    who do not.
    """
    scores: dict[tuple[int, int, str], dict[int, float]] = {}
    for submission, unit, given in unit_scores(connection, of=units):
        for number, prompt, score in each_score(given):
            if prompt in bounds:
                scores.setdefault((unit, number, prompt), {})[submission] = score
    found: dict[int, float] = {}
    for (_, _, prompt), given_by in scores.items():
        low, high = bounds[prompt]
        width = high - low if math.isfinite(high) else 1.0
        total, count = sum(given_by.values()), len(given_by)
        for submission, score in given_by.items() if count > 1 else ():
            distance = abs(score - (total - score) / (count - 1)) / width
            found[submission] = max(found.get(submission, 0.0), min(1.0, distance))
    return found


def _answer(
    task: Task,
    media: MediaFolder | None,
    row: SubmissionRow,
    distance: float | None,
) -> dict[str, Any]:
    trees = presented(task, media, row.content)
    missed = _missed(task, row)
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
                "shown": trees.get(field) or plain_text(row.content[field]),
            }
            for field in task.fields
            if field not in task.suggested
        ],
        "answers": _all_in_words(task, row.content, row.answer),
        "earlier": [_all_in_words(task, row.content, each["answer"]) for each in row.earlier],
        "scores": dict(row.scores),
        "seconds": row.active_ms / 1000,
        "time": row.time,
        "gold": row.gold is not None,
        "missed": missed,
        "distance": distance,
        "far": distance is not None and distance >= FAR,
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
        return _order_in_words(value)
    for choice in getattr(widget, "choices", ()):
        if choice.value == value:
            return str(getattr(choice, "label", None) or value)
    return {True: "confirmed"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _marked(text: str, mark: Mapping[str, Any]) -> str:
    return "missing" if mark.get("missing") else f"“{text[mark['start'] : mark['end']]}”"


def _kind(mark: Mapping[str, Any]) -> str:
    return ", ".join(str(mark[key]) for key in ("severity", "category") if mark.get(key))


def _order_in_words(numbers: Mapping[str, int]) -> str:
    """Return an order, best first.

    >>> _order_in_words({"A": 2, "B": 1, "C": 2})
    'B, then A and C alike'
    """
    rows: dict[int, list[str]] = {}
    for letter, place in sorted(numbers.items()):
        rows.setdefault(place, []).append(letter)
    return ", then ".join(
        " and ".join(rows[place]) + (" alike" if len(rows[place]) > 1 else "")
        for place in sorted(rows)
    )
