"""What leaves a campaign: judgments, submissions, the ledger, and a codebook that explains them.

Raters appear under a pseudonym everywhere but in the ledger and the payments, which are for paying them.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.answers import comments_of
from steelyard.collect.dashboard.codebook import codebook
from steelyard.collect.dashboard.marked_errors import marked_errors
from steelyard.collect.dashboard.observer import View
from steelyard.collect.policy.payment import bonuses, ledger, payments, pseudonym
from steelyard.collect.rankings import as_preferences, ranked_prompts
from steelyard.collect.store import Reader
from steelyard.collect.store.hand_backs import all_hand_backs
from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.rater_answers import all_answers
from steelyard.collect.store.records import SubmissionRow, iso_time, submission_rows
from steelyard.collect.tasks import grade_gold
from steelyard.errors import InvalidArgumentError
from steelyard.records import DRAW_COLUMNS, PLACE
from steelyard.tables.formulas import without_formulas

__all__ = [
    "NAMES",
    "Export",
    "ExportName",
    "Rows",
    "export",
    "judgments",
    "pseudonym",
    "view_export",
]

Rows = Literal["estimate", "all"]
ExportName = Literal[
    "judgments.jsonl",
    "judgments.csv",
    "judgments.parquet",
    "submissions.jsonl",
    "comments.csv",
    "questions.csv",
    "errors.jsonl",
    "ledger.csv",
    "payments.csv",
    "bonuses.csv",
    "codebook.md",
]
NAMES: tuple[ExportName, ...] = get_args(ExportName)
_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "md": "text/markdown; charset=utf-8",
}
_COLUMNS = (
    *("item", "system", "rater", "prompt", "score", "seconds", "time"),
    *DRAW_COLUMNS,
    *("submission", "unit", "use", "excluded"),
)
# Of a preference between two systems.
_PAIR_COLUMNS = ("other_system", "first_system")


@dataclass(frozen=True)
class Export:
    """A file to download.

    Attributes
    ----------
    filename : str
        What to call it.
    media_type : str
        What it is.
    body : bytes
        All of it.
    """

    filename: str
    media_type: str
    body: bytes


def export(name: str, store: Reader, campaign: Campaign, *, rows: Rows = "estimate") -> Export:
    """Return one of the files that a campaign gives.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    store : Reader
        The campaign's database.
    campaign : Campaign
        The campaign.
    rows : {"estimate", "all"}
        Of judgments, those that enter the estimate, or all of them: the column ``use`` tells.

    Returns
    -------
    Export

    Raises
    ------
    InvalidArgumentError
        If there is no such file.
    """
    if name not in NAMES:
        raise InvalidArgumentError(f"`name` must be one of {', '.join(NAMES)}; got {name!r}")
    if rows not in get_args(Rows):
        raise InvalidArgumentError(f"`rows` must be estimate or all; got {rows!r}")
    stem, kind = name.split(".")
    if stem == "judgments":
        body = _written(judgments(store, campaign, rows=rows), kind)
        stem = stem if rows == "estimate" else "judgments-all"
    elif stem == "errors":
        body = _written(marked_errors(store, campaign, judgments(store, campaign, rows=rows)), kind)
        stem = stem if rows == "estimate" else "errors-all"
    elif stem == "submissions":
        body = _submissions(store, campaign)
    elif stem == "bonuses":
        body = without_formulas(bonuses(store, campaign)).write_csv(include_header=False).encode()
    elif stem in _TABLES:
        body = _written(_TABLES[stem](store, campaign), kind)
    else:
        body = codebook(store, campaign).encode()
    return Export(f"{stem}.{kind}", _TYPES[kind], body)


def view_export(view: View, *, name: str, rows: Rows) -> Export:
    """Return the same, for an observer."""
    return export(name, view.store, view.campaign, rows=rows)


def judgments(store: Reader, campaign: Campaign, *, rows: Rows = "estimate") -> pl.DataFrame:
    """Return the judgments as a table, in the order of arrival.

    Parameters
    ----------
    store, campaign, rows
        As in `export`.

    Returns
    -------
    polars.DataFrame
        The columns of a file of judgments and of a draw, and ``submission``, ``unit``, ``use`` and
        ``excluded``; for a task about pairs, or for orders, ``other_system`` and ``first_system``,
        for one side by side ``position``;
        where documents are judged, ``cluster``, the document.
    """
    frame = store.read(judgment_rows)
    if rows == "estimate":
        frame = frame.filter(pl.col("use") == "used")
    ranked = ranked_prompts(campaign)
    if ranked:
        frame = as_preferences(frame, ranked)
    pair = _PAIR_COLUMNS if campaign.task.pair or ranked else ()
    screen = ("position",) if campaign.task.side_by_side else ()
    documents = ("cluster",) if campaign.documents is not None else ()
    spread = (PLACE,) if frame[PLACE].is_not_null().any() else ()
    named = frame.with_columns(pl.format("rater-{}", "number").alias("rater"))
    return named.select(*_COLUMNS, *pair, *screen, *documents, *spread)


def _written(frame: pl.DataFrame, kind: str) -> bytes:
    if kind == "jsonl":
        return frame.write_ndjson().encode()
    if kind == "csv":
        return without_formulas(frame).write_csv().encode()
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _submissions(store: Reader, campaign: Campaign) -> bytes:
    lines = [
        json.dumps(_submission(campaign, one), ensure_ascii=False)
        for one in store.read(submission_rows)
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _submission(campaign: Campaign, one: SubmissionRow) -> Mapping[str, Any]:
    is_right = (
        None if one.gold is None else grade_gold(campaign.task, one.content, one.gold, one.answer)
    )
    return {
        "submission": one.id,
        "unit": one.unit,
        "item": one.item,
        "systems": list(one.systems),
        "rater": pseudonym(one.number),
        "content": one.content,
        "answer": one.answer,
        "scores": one.scores,
        "gold": one.gold is not None,
        "gold_right": is_right,
        "swapped": one.swapped,
        **({"letters": one.letters} if one.letters else {}),
        "seconds": one.active_ms / 1000,
        "started": iso_time(one.started),
        "time": iso_time(one.time),
        "surplus": one.surplus,
        "excluded": one.excluded,
        "earlier": [
            {
                "answer": before["answer"],
                "scores": before["scores"],
                "seconds": before["active_ms"] / 1000,
                "until": iso_time(before["time"]),
            }
            for before in one.earlier
        ],
    }


def _comments(store: Reader, campaign: Campaign) -> pl.DataFrame:
    """Return what raters wrote in fields for comments, and why they handed texts back."""
    rows: list[tuple[int | None, *tuple[str, ...]]] = [
        (
            one.id,
            one.item,
            ", ".join(one.systems),
            pseudonym(one.number),
            *comment,
            iso_time(one.time),
        )
        for one in store.read(submission_rows)
        for comment in comments_of(campaign.task, one)
    ]
    rows += [
        (None, one.item, "", pseudonym(one.number), one.kind, one.reason, iso_time(one.time))
        for one in store.read(all_hand_backs)
    ]
    names = ("submission", "item", "systems", "rater", "question", "comment", "time")
    schema = dict.fromkeys(names, pl.String) | {"submission": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _questions(store: Reader, campaign: Campaign) -> pl.DataFrame:
    """Return what raters answered before the work and at its end, one question a row."""
    del campaign
    rows = [
        (pseudonym(one.number), one.part, name, _cell(value), one.passed, iso_time(one.time))
        for one in store.read(all_answers)
        for name, value in one.answer.items()
    ]
    names = ("rater", "part", "question", "answer", "passed", "time")
    schema = dict.fromkeys(names, pl.String) | {"passed": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_TABLES = {"comments": _comments, "questions": _questions, "ledger": ledger, "payments": payments}
