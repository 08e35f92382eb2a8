"""How raters work: time, edits, gold items, repeated answers, and agreement with others."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median
from typing import Any

import polars as pl
from rapidfuzz.distance import Levenshtein
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.store.progress import newest
from steelyard.collect.store.records import SubmissionRow, submission_rows
from steelyard.collect.store.shown import each_score
from steelyard.collect.tasks import grade_gold, score_bounds, visible_widgets
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
    Widget,
)

__all__ = ["RaterAgreement", "RaterWork", "RaterWorkCache", "rater_agreement", "rater_work"]

# Scores are means of a few numbers: what is equal on paper differs in the last digit.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RaterAgreement:
    """A rater beside the others.

    Attributes
    ----------
    rater : str
        Who.
    submissions : int
        Submissions that can be compared: somebody else judged the same unit.
    comparisons : int
        Pairs of a score of the rater and one of another on the same unit and prompt.
    share : float
        Share of the comparisons that agree.
    leniency : float
        Mean of the rater's score minus the others', as a share of the scores' range; over units and
        prompts, each once.
    """

    rater: str
    submissions: int
    comparisons: int
    share: float
    leniency: float


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
    task = campaign.task
    visible = {
        one.id: visible_widgets(
            asked_about(task, one.content) if task.side_by_side else task, one.answer
        )
        for one in submissions
    }
    of_raters: defaultdict[str, list[SubmissionRow]] = defaultdict(list)
    for one in submissions:
        of_raters[one.rater].append(one)
    agreement = rater_agreement(_scores(submissions), bounds=score_bounds(task))
    found = {}
    for rater, given in of_raters.items():
        drawn = [one for one in given if one.gold is None]
        gold = [one for one in given if one.gold is not None]
        edits = [
            size for one in drawn if (size := edited_characters(visible[one.id], one)) is not None
        ]
        patterns = groupby(_choices(visible[one.id], one.answer) for one in given)
        found[rater] = RaterWork(
            rater=rater,
            judgments=len(drawn),
            median_seconds=median(one.active_ms / 1000 for one in drawn) if drawn else None,
            edits=len(edits),
            median_edit=median(edits) if edits else None,
            gold=len(gold),
            gold_missed=sum(
                not grade_gold(task, one.content, one.gold or {}, one.answer) for one in gold
            ),
            agreement=agreement.get(rater),
            same_answers=max(
                (sum(1 for _ in run) for chosen, run in patterns if chosen), default=0
            ),
        )
    return found


def _choices(visible: Mapping[str, Widget], answer: Mapping[str, Any]) -> str:
    """Write down the choices of an answer as the rater saw them; empty if there is none."""
    chosen = {
        name: answer.get(name)
        for name, widget in visible.items()
        if isinstance(widget, Likert | Gate | Preference | Ranking | Slider | Spans)
    }
    return json.dumps(chosen, sort_keys=True) if chosen else ""


def edited_characters(visible: Mapping[str, Widget], submission: SubmissionRow) -> float | None:
    """Return how many characters the required edits of a submission changed; None without one."""
    changed = [
        Levenshtein.distance(submission.content[widget.field], submission.answer[widget.id])
        for widget in visible.values()
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
    judged = Counter(one.unit for one in submissions)
    return pl.DataFrame(
        [
            # of a screen, each output is what raters agree on or not
            (one.id, one.unit * (len(LETTERS) + 1) + number, one.rater, prompt, score)
            for one in submissions
            if judged[one.unit] > 1 and one.gold is None
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


def rater_agreement(
    rows: pl.DataFrame, *, bounds: Mapping[str, tuple[float, float]], distance: float = 0.25
) -> dict[str, RaterAgreement]:
    r"""Compare each rater with all others on the same unit and prompt.

    With :math:`y_{ij}` the score of rater :math:`j` on unit :math:`i`, the share of pairs
    :math:`(i, k)`, :math:`k \ne j`, with :math:`|y_{ij} - y_{ik}| \le \text{distance} \times \text{range}`.

    Parameters
    ----------
    rows : polars.DataFrame
        One row a judgment: ``submission``, ``unit``, ``rater``, ``prompt``, ``score``. A judgment
        that counts for several systems may be there once for each; it is taken once.
    bounds : mapping of str to (float, float)
        Least and greatest score of each prompt; prompts that are not there are left out.
    distance : float
        How far apart two scores may be that agree.

    Notes
    -----
    Excluded raters count among the others too: whether one rater is flagged then does not depend
    on the order in which raters are looked at.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "submission": [1, 2, 3, 4, 5], "unit": [1, 1, 2, 2, 3], "rater": list("ababa"),
    ...     "prompt": "p", "score": [0.0, 2.0, 1.0, 2.0, 0.0],
    ... })
    >>> rater_agreement(rows, bounds={"p": (0, 2)}, distance=0.5)["a"]
    RaterAgreement(rater='a', submissions=2, comparisons=2, share=0.5, leniency=-0.75)
    """
    ranges = pl.DataFrame(
        {
            "prompt": pl.Series(list(bounds), dtype=pl.String),
            "range": pl.Series([high - low for low, high in bounds.values()], dtype=pl.Float64),
        }
    )
    once = (
        rows.select("submission", "unit", "rater", "prompt", "score")
        .unique(["submission", "prompt"], maintain_order=True)
        .join(ranges, on="prompt", maintain_order="left")
    )
    others = once.select("unit", "prompt", other="rater", theirs="score")
    pairs = once.join(others, on=["unit", "prompt"], maintain_order="left").filter(
        pl.col("rater") != pl.col("other")
    )
    difference = pl.col("score") - pl.col("theirs")
    # one row a submission and prompt, so that much-judged units do not rule the leniency
    found = (
        pairs.group_by("rater", "submission", "prompt", maintain_order=True)
        .agg(
            comparisons=pl.len(),
            agreeing=(difference.abs() <= distance * pl.col("range") + _ROUNDING).sum(),
            difference=difference.mean() / pl.col("range").first(),
        )
        .group_by("rater", maintain_order=True)
        .agg(
            submissions=pl.col("submission").n_unique(),
            comparisons=pl.col("comparisons").sum(),
            share=pl.col("agreeing").sum() / pl.col("comparisons").sum(),
            leniency=pl.col("difference").mean(),
        )
    )
    return {row["rater"]: RaterAgreement(**row) for row in found.iter_rows(named=True)}
