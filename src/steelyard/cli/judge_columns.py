"""What ``steelyard judge`` asks whom, and the columns that come of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.cli.judge_campaign import CampaignQuestions
from steelyard.errors import InvalidArgumentError
from steelyard.judge import Judged, Rubric, read_rubric
from steelyard.judge.pairs import Pairing
from steelyard.judge.questions import Column
from steelyard.tables import Outputs

__all__ = [
    "JudgeColumn",
    "Texts",
    "asked_once",
    "check_options",
    "check_pace",
    "judge_columns",
    "needed_rows",
    "new_columns",
    "shown_texts",
]

_NOT_ASKED = "not asked: beyond --limit"


@dataclass(frozen=True)
class JudgeColumn:
    """A column to make: who is asked what, and where.

    Attributes
    ----------
    name : str
        The column.
    rubric : Rubric
        What is asked.
    model, endpoint : str
        Who is asked, and where.
    key_name : str or None
        The environment variable with the key for that place.
    criterion : str or None
        Which of the rubric's criteria it is; columns of one rubric and model come of one question.
    """

    name: str
    rubric: Rubric
    model: str
    endpoint: str
    key_name: str | None
    criterion: str | None = None


def asked_once(columns: Sequence[JudgeColumn]) -> list[JudgeColumn]:
    """Return the columns that need questions: the first one of each rubric and model."""
    return list({(one.model, one.rubric.name): one for one in reversed(columns)}.values())[::-1]


@dataclass(frozen=True, eq=False)
class Texts:
    """What the questions of one rubric show, one entry for each question."""

    outputs: list[str]
    references: list[Any] | None
    inputs: list[Any] | None
    columns: dict[str, Column]
    pairing: Pairing | None


def judge_columns(
    models: Sequence[str],
    endpoints: Sequence[str],
    key_names: Sequence[str],
    *,
    rubrics: Sequence[str],
    campaign: CampaignQuestions,
    name: str | None,
) -> list[JudgeColumn]:
    """Return a column for each rubric, or question of a campaign, and model.

    Raises
    ------
    InvalidArgumentError
        If the options do not go together.
    """
    models = list(dict.fromkeys(models))
    places = _each("--endpoint", endpoints, len(models))
    # a key must not reach a place that it was not meant for
    keys = _each("--api-key-env", key_names, len(models), alone_is_enough=len(set(endpoints)) == 1)
    read = [read_rubric(rubric) for rubric in dict.fromkeys(rubrics)] + campaign.rubrics
    if not read:
        raise InvalidArgumentError("`--rubric` or --campaign must be given: what is asked?")
    if len({rubric.name for rubric in read}) < len(read):
        raise InvalidArgumentError(
            "`--rubric` must name rubrics with different names, which their columns get, and other names than "
            "the prompts of --campaign; got "
            f"{', '.join(rubric.name for rubric in read)}"
        )
    if name is not None:
        if len(models) * sum(len(rubric.criteria) or 1 for rubric in read) > 1:
            raise InvalidArgumentError(
                "`--name` is for one rubric, criterion and model; several name their columns themselves: leave "
                "it out"
            )
        if not name.startswith("judge.") or name == "judge.":
            raise InvalidArgumentError(f"`--name` must look like judge.fluency; got {name!r}")
    # people answer a campaign's questions too: its columns always say who did
    alone = len(models) == 1 and not campaign.rubrics
    columns = [
        JudgeColumn(
            name
            or ".".join(filter(None, ("judge", "" if alone else model, rubric.name, criterion))),
            rubric,
            model,
            place or "",
            key,
            criterion or None,
        )
        for model, place, key in zip(models, places, keys, strict=True)
        for rubric in read
        for criterion in rubric.criteria or [""]
    ]
    for column in columns:
        if column.name in campaign.prompts:
            raise InvalidArgumentError(
                f"`--campaign` has people's judgments named {column.name}, and a model's scores are none: "
                "give another --name"
            )
    return columns


def _each(
    option: str, values: Sequence[str], count: int, *, alone_is_enough: bool = True
) -> list[str | None]:
    """One value for each model: the only one for all, or as many as models."""
    if not values:
        return [None] * count
    if len(values) == count:
        return list(values)
    if len(values) == 1 and alone_is_enough:
        return [values[0]] * count
    raise InvalidArgumentError(
        f"`{option}` must be given once for each --model, in their order"
        f"{', or once for all' if alone_is_enough else ': each endpoint has its own key'}; got "
        f"{len(values)} for {count}"
    )


def check_options(
    columns: Sequence[JudgeColumn],
    *,
    limit: int | None,
    baseline: str | None,
    preferences: Path | None,
) -> None:
    """Raise where options do not go with the rubrics."""
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"`--limit` must be at least 1; got {limit}")
    for option, value in (("--baseline", baseline), ("--preferences", preferences)):
        if value is not None and not any(one.rubric.compares for one in columns):
            raise InvalidArgumentError(
                f"`{option}` is for a rubric that compares two outputs, with {{other_output}}; none of "
                f"these does: {', '.join(dict.fromkeys(one.rubric.name for one in columns))}"
            )


def check_pace(*, batch: bool, limits: Sequence[float | None]) -> None:
    """Raise where a pace is given that nobody would keep."""
    if batch and any(limit is not None for limit in limits):
        raise InvalidArgumentError(
            "`--batch` goes at the pace of the endpoint: leave out --requests-per-minute and "
            "--tokens-per-minute"
        )


def needed_rows(pool: Outputs, columns: Sequence[JudgeColumn]) -> pl.DataFrame:
    """Return the rows with all columns that a rubric shows."""
    names = ["output"]
    for column in columns:
        rubric = column.rubric
        keys = ["item", "system"] if rubric.compares else []
        needed = [name for name in rubric.placeholders if name != "other_output"]
        for name in ("output", *needed):
            if name not in pool.columns:
                raise InvalidArgumentError(
                    f"`--rubric` {rubric.name} shows the judge a column `{name}`, which {pool.name} "
                    f"does not have: say which one it is with --column {name}=YOUR_COLUMN, add it, "
                    "or choose another rubric"
                )
        names += [name for name in dict.fromkeys(keys + needed) if name not in names]
        # with its reasons it was written by an earlier run: this one goes on
        if column.name in pool.columns and f"{column.name}.reason" not in pool.columns:
            raise InvalidArgumentError(
                f"`--name` must be new; {pool.name} has a column `{column.name}` that is not a judge's: "
                "choose another name"
            )
    return pool.rows(columns=names)


def shown_texts(rows: pl.DataFrame, rubric: Rubric, *, baseline: str | None) -> Texts:
    """Return what the questions show: a row for each output, or for each pair in either order."""
    pairing, outputs = None, rows["output"].to_list()
    columns: dict[str, Column] = {}
    if rubric.compares:
        items, systems = (rows[name].cast(pl.String).to_list() for name in ("item", "system"))
        pairing = Pairing.of(items, systems, outputs, baseline=baseline)
        shown = [pair[0] for pair in pairing.asked]
        columns["other_output"] = [outputs[pair[1]] for pair in pairing.asked]
        rows = rows[shown]
        outputs = [outputs[position] for position in shown]
    columns |= {name: rows[name].to_list() for name in rubric.columns}
    return Texts(
        outputs,
        rows["reference"].to_list() if rubric.needs("reference") else None,
        rows["input"].to_list() if rubric.needs("input") else None,
        columns,
        pairing,
    )


def new_columns(judged: Judged, column: str, *, n_outputs: int) -> dict[str, list[Any]]:
    """Return scores, reasons and explanations as columns of the file."""
    beyond = n_outputs - len(judged.scores)
    scores = [None if np.isnan(score) else float(score) for score in judged.scores]
    found: dict[str, list[Any]] = {
        column: [*scores, *[None] * beyond],
        f"{column}.reason": [*judged.reasons, *[_NOT_ASKED] * beyond],
    }
    if judged.explanations is not None:
        found[f"{column}.explanation"] = [*judged.explanations, *[None] * beyond]
    return found
