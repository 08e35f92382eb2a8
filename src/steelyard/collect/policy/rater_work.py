"""How raters work: time, edits, gold items, repeated answers, and agreement with others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from rapidfuzz.distance import Levenshtein
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.policy.rater_agreement import RaterAgreement, rater_agreement
from steelyard.collect.store.progress import newest
from steelyard.collect.store.records import SubmissionRow, submission_rows
from steelyard.collect.store.shown import each_score
from steelyard.collect.tasks import Task, grade_gold, score_bounds, visible_widgets
from steelyard.collect.tasks.conditions import holds
from steelyard.collect.tasks.screen import LETTERS, asked_about
from steelyard.collect.tasks.widgets import (
    Gate,
    Likert,
    PostEdit,
    Preference,
    Ranking,
    Slider,
    Spans,
)

__all__ = ["RaterWork", "RaterWorkCache", "rater_work"]


@dataclass(frozen=True)
class RaterWork:
    """How a rater works.

    Attributes
    ----------
    rater : str
        Id of the rater.
    judgments : int
        Submissions of drawn units.
    median_seconds : float or None
        Median time on a unit while the page was visible, over drawn units.
    edits : int
        Edits that were required.
    median_edit : float or None
        Median number of characters that these changed.
    gold, gold_missed : int
        Gold units answered, and answered wrongly.
    agreement : RaterAgreement or None
        Agreement with others; None when nobody else judged the same.
    same_answers : int
        Most units in a row with the same answers to all choices, gold too.
    """

    rater: str
    judgments: int
    median_seconds: float | None
    edits: int
    median_edit: float | None
    gold: int
    gold_missed: int
    agreement: RaterAgreement | None
    same_answers: int = 0


@dataclass
class RaterWorkCache:
    """How raters work, computed again only when there is something new.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    """

    campaign: Campaign
    _newest: int | None = field(default=None, init=False)
    _found: Mapping[str, RaterWork] = field(default_factory=dict, init=False)

    def __call__(self, connection: Connection) -> Mapping[str, RaterWork]:
        """Return how each rater with a submission works, by id."""
        found = newest(connection)
        if found != self._newest:
            self._found = rater_work(self.campaign, submission_rows(connection))
            self._newest = found
        return self._found


def rater_work(campaign: Campaign, submissions: Sequence[SubmissionRow]) -> dict[str, RaterWork]:
    """Tell how each rater with a submission works.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    submissions : sequence of SubmissionRow
        All submissions.

    Returns
    -------
    dict of str to RaterWork
        By id of the rater.
    """
    if not submissions:
        return {}
    task = campaign.task
    facts = pl.DataFrame(
        [
            {
                "rater": one.rater,
                "drawn": one.gold is None,
                "seconds": one.active_ms / 1000,
                "edit": _edited(task, one),
                "missed": one.gold is not None
                and not grade_gold(task, one.content, one.gold, one.answer),
            }
            for one in submissions
        ],
        schema={
            "rater": pl.String,
            "drawn": pl.Boolean,
            "seconds": pl.Float64,
            "edit": pl.Float64,
            "missed": pl.Boolean,
        },
    )
    drawn = pl.col("drawn")
    table = facts.group_by("rater", maintain_order=True).agg(
        judgments=drawn.sum(),
        median_seconds=pl.col("seconds").filter(drawn).median(),
        edits=pl.col("edit").filter(drawn).count(),
        median_edit=pl.col("edit").filter(drawn).median(),
        gold=(~drawn).sum(),
        gold_missed=pl.col("missed").sum(),
    )
    runs = _longest_runs(task, submissions)
    agreement = rater_agreement(_scores(submissions), bounds=score_bounds(task))
    return {
        row["rater"]: RaterWork(
            **row, same_answers=runs[row["rater"]], agreement=agreement.get(row["rater"])
        )
        for row in table.iter_rows(named=True)
    }


def _longest_runs(task: Task, submissions: Sequence[SubmissionRow]) -> dict[str, int]:
    """Return the most submissions in a row with the same choices, by rater, in order of arrival."""
    longest: dict[str, int] = {}
    last: dict[str, tuple[str, int]] = {}
    for one in submissions:
        pattern = _choices(task, one)
        before, length = last.get(one.rater, ("", 0))
        length = length + 1 if pattern == before else int(bool(pattern))
        last[one.rater] = pattern, length
        longest[one.rater] = max(longest.get(one.rater, 0), length)
    return longest


def _choices(task: Task, submission: SubmissionRow) -> str:
    """Write down the choices of an answer as the rater saw them; empty if there is none."""
    chosen = {
        name: submission.answer.get(name)
        for name, widget in visible_widgets(
            asked_about(task, submission.content), submission.answer
        ).items()
        if isinstance(widget, Likert | Gate | Preference | Ranking | Slider | Spans)
    }
    return json.dumps(chosen, sort_keys=True) if chosen else ""


def _edited(task: Task, submission: SubmissionRow) -> float | None:
    """Return how many characters the required edits of a submission changed; None without one."""
    changed = [
        Levenshtein.distance(submission.content[widget.field], submission.answer[widget.id])
        for widget in visible_widgets(task, submission.answer).values()
        if isinstance(widget, PostEdit)
        and isinstance(submission.answer.get(widget.id), str)
        and (
            widget.required
            if isinstance(widget.required, bool)
            else holds(widget.required, submission.answer)
        )
    ]
    return float(sum(changed)) if changed else None


def _scores(submissions: Sequence[SubmissionRow]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            # of a screen, each output is what raters agree on or not
            (one.id, one.unit * (len(LETTERS) + 1) + number, one.rater, prompt, score)
            for one in submissions
            if one.gold is None
            for number, prompt, score in each_score(one.scores)
        ],
        schema={
            "submission": pl.Int64,
            "unit": pl.Int64,
            "rater": pl.String,
            "prompt": pl.String,
            "score": pl.Float64,
        },
        orient="row",
    )
