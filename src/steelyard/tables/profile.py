"""What is in one file: which kind, how much, and every problem counted, before anything fails."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.records import Judgment, Output
from steelyard.tables.column_names import Columns, Role
from steelyard.tables.duplicates import duplicate_key, way_to_settle
from steelyard.tables.gaps import is_gap
from steelyard.tables.kinds import CONTRACT, Kind, first_rows, kind_of, only_numbers, own_names
from steelyard.tables.metric_columns import metric_columns, with_numbers
from steelyard.tables.opening import open_table, renamed
from steelyard.tables.problems import Problem, bad_cells, near_equal_names, repeated_keys
from steelyard.tables.rules import countable, identifier, is_blank, number, scale_of
from steelyard.tables.separators import has_decimal_comma
from steelyard.tables.tables import ROW, Table, shown

__all__ = ["FileProfile", "profile_file"]

_NEEDED = {"outputs": ("item", "system"), "judgments": ("item", "system", "score")}
_NEEDED_FOR = {
    "item": "say which one it is with --column item=YOUR_COLUMN",
    "system": "add one that names the system of each row",
    "score": "say which one it is with --column score=YOUR_COLUMN",
}
_ALREADY = Problem("", 0, 0, way_out="keep one of them, or tell their items apart")
# One rater with a larger share makes the answer largely that rater's.
_LARGE_SHARE = 0.3
# Scores are looked at for strangers from so many on; a value is usual that is there twice at least,
# and from this share on.
_ENOUGH, _USUAL = 50, 0.01
# More different strangers than this are a long tail, as of counted errors, and no slips.
_SLIPS = 5
# A score that so small a share gave may be followed by one that hardly anybody gave.
_THIN = 0.05


@dataclass(frozen=True, kw_only=True)
class PerOutput:
    """Judgments of an output under a prompt."""

    mean: float | None
    most: int | None
    outputs_with_two: int


@dataclass(frozen=True, kw_only=True)
class ScoreEnds:
    """The scores of judgments."""

    low: float | None
    high: float | None
    different: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What a file holds, as far as its kind has it.

    Attributes
    ----------
    items : int or None
        Different items.
    systems, prompts : dict of str to int, or None
        Rows of each.
    metrics, texts
        The metrics of outputs, and whether there are texts.
    raters : int or None
        None also where there is no column of raters.
    judged_outputs, judgments_per_output, scores
        Of judgments.
    preferences : dict of str to tuple
        Wins, ties and losses of each system, where two outputs were compared.
    first_rows, may_be
        Of a table in no form that is known: its first cells as text, and what each column may be.
    """

    items: int | None = None
    systems: dict[str, int] | None = None
    metrics: tuple[str, ...] | None = None
    texts: bool | None = None
    raters: int | None = None
    prompts: dict[str, int] | None = None
    judged_outputs: int | None = None
    judgments_per_output: PerOutput | None = None
    scores: ScoreEnds | None = None
    preferences: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    first_rows: tuple[dict[str, str], ...] = ()
    may_be: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FileProfile:
    """What is in one file.

    Attributes
    ----------
    name : str
        The file as the user named it.
    kind : {"outputs", "judgments", "one table", "wide table", "another form"}
        What it is; one table holds outputs and human scores.
    rows : int
        Its rows; 0 where it cannot be read as a table.
    columns : tuple of str
        Its columns, as they are called there.
    counts : Counts
        How many items, systems, raters, prompts and so on.
    problems : tuple of Problem
        What is wrong or may be, each kind of problem counted.
    options : tuple of str
        What a command must be given so that it can read the file.
    tool : str
        The format of another tool, or of a wide table, as ``convert --from`` takes it; empty for our
        own.
    conversion : tuple of str
        What else ``convert`` must be given.
    human : tuple of str
        The columns of human scores of one table, or a pattern of them.
    """

    name: str
    kind: Kind
    rows: int = 0
    columns: tuple[str, ...] = ()
    counts: Counts = Counts()
    problems: tuple[Problem, ...] = ()
    options: tuple[str, ...] = ()
    tool: str = ""
    conversion: tuple[str, ...] = ()
    human: tuple[str, ...] = ()


def profile_file(
    path: Path,
    *,
    columns: Columns | None = None,
    bounds: tuple[float, float] | None = None,
    role: Role | None = None,
) -> FileProfile:
    """Say what is in a file and what is wrong with it.

    Parameters
    ----------
    path : Path
        The file, sheet, folder or pattern.
    columns : mapping, optional
        As in `read_outputs`.
    bounds : (float, float), optional
        Least and greatest possible score.
    role : {"outputs", "judgments"}, optional
        What it is, where other files show it.

    Raises
    ------
    InvalidDataError
        If the file cannot be opened.
    """
    table = open_table(path, label="outputs", contract=CONTRACT)
    kind, human = (role, ()) if role is not None else kind_of(table, columns)
    rows = table.collect(table.rows.select(pl.len())).item()
    known = FileProfile(str(path), kind, rows, tuple(table.schema), human=human)
    if kind not in {"outputs", "judgments"}:
        names = own_names(table, "outputs", columns) if kind == "one table" else {}
        return replace(
            known, counts=Counts(**first_rows(table)), options=_renaming(names, columns, None)
        )
    own_role: Role = "outputs" if kind == "outputs" else "judgments"
    names = own_names(table, own_role, columns)
    if own_role == "judgments" and "score" not in names:
        names |= only_numbers(table, names)
    known = replace(known, options=_renaming(names, columns, own_role))
    missing = [name for name in _NEEDED[own_role] if name not in names]
    if missing:
        problems = [
            Problem(f"no column `{name}`", 0, 0, way_out=_NEEDED_FOR[name], stops=True)
            for name in missing
        ]
        return replace(known, counts=Counts(**first_rows(table)), problems=tuple(problems))
    mapped = {ours: theirs for ours, theirs in names.items() if ours != theirs}
    own = replace(renamed(table, mapped), role=own_role)
    try:
        counts, problems = _of_outputs(own) if own_role == "outputs" else _of_judgments(own, bounds)
    except InvalidDataError as error:
        # a column has a type that it cannot have
        what = str(error).removeprefix(f"{table.name}, ")
        counts, problems = Counts(), [Problem(what, 0, 0, options=error.options, stops=True)]
    return replace(known, counts=counts, problems=tuple(problems))


def _renaming(
    names: Mapping[str, str], columns: Columns | None, role: Role | None
) -> tuple[str, ...]:
    """Return the options without which a command would not find our columns."""
    options: list[str] = []
    for ours, theirs in names.items():
        if ours != theirs and not {ours, f"{role}:{ours}"} & {*(columns or {})}:
            options += ["--column", f"{role}:{ours}={theirs}" if role else f"{ours}={theirs}"]
    return tuple(options)


def _of_outputs(table: Table) -> tuple[Counts, list[Problem]]:
    """Return the counts and the problems of outputs.

    Parameters
    ----------
    table : Table
        Outputs under our column names: item and system at least.
    """
    if table.has_blank_cells:
        table = with_numbers(table)
    table, metrics, notes = metric_columns(table, None)
    keys = [identifier(table, column) for column in Output.key]
    has_texts = "output" in table.schema
    rows = table.collect(table.rows.select(ROW, *Output.key, *metrics))
    problems = [Problem(one, 0, 0) for one in notes]
    problems += [one for rule in keys for one in bad_cells(table, rows, rule, "fill it in")]
    rows = rows.with_columns(rule.value for rule in keys)
    sizes = rows.drop_nulls("system").group_by("system", maintain_order=True).len()
    problems += repeated_keys(
        table, rows, Output.key, "outputs that are there more than once", _ALREADY
    )
    problems += near_equal_names("system", sizes["system"])
    problems += _gaps(table, rows, metrics)
    if has_texts and table.schema["output"].is_nested():
        what = f"column {table.column('output')}: expected text, got {table.schema['output']}"
        problems.append(Problem(what, rows.height, rows.height, way_out="bring texts", stops=True))
    counts = Counts(
        items=rows["item"].drop_nulls().n_unique(),
        systems=dict(sizes.iter_rows()),
        metrics=tuple(metrics),
        texts=has_texts,
    )
    return counts, problems


def _gaps(table: Table, rows: pl.DataFrame, metrics: tuple[str, ...]) -> list[Problem]:
    problems = []
    for name in metrics:
        missing = rows.filter(is_gap(name))
        if missing.height:
            item, system = missing.select(Output.key).row(0)
            problems.append(
                Problem(
                    f"gap in metric {table.column(name)}",
                    missing.height,
                    rows.height,
                    (f"item {item}, system {system}",),
                    way_out="score them, go on without it there, or fill the gaps: "
                    f"{table.conversion('--fill', f'{name}=mean')}",
                )
            )
        elif rows[name].n_unique() == 1 and rows.height > 1:
            problems.append(
                Problem(
                    f"metric {table.column(name)} is the same on all outputs: it cannot correct",
                    0,
                    0,
                )
            )
    return problems


def _of_judgments(table: Table, bounds: tuple[float, float] | None) -> tuple[Counts, list[Problem]]:
    """Return the counts and the problems of judgments.

    Parameters
    ----------
    table : Table
        Judgments under our column names: item, system and score at least.
    bounds : (float, float) or None
        Least and greatest possible score, where they are known.
    """
    named = [column for column in Judgment.key if column in table.schema]
    keys = [identifier(table, column) for column in named]
    compared = [column for column in ("other_system",) if column in table.schema]
    others = [pl.col(column).cast(pl.String).fill_null("") for column in compared]
    rows = table.collect(table.rows.select(ROW, *named, "score", *others))
    problems = [one for rule in keys for one in bad_cells(table, rows, rule, "fill it in")]
    rows = rows.with_columns(rule.value for rule in keys)
    rule = number(table, "score", required=True)
    problems += _bad_scores(table, rows)
    problems += bad_cells(table, rows, countable(rule), "correct it")
    rows = rows.with_columns(rule.value)
    if "rater" in named:
        words, option = way_to_settle(rows)
        way_out = Problem("", 0, 0, way_out=words, options=("--on-duplicate", option))
        what = "judgments that repeat another of the same rater"
        key = [column for column in duplicate_key(rows) if column in rows.columns]
        problems += repeated_keys(table, rows, key, what, way_out)
        problems += _large_share(rows)
    for column in ("system", "rater", "prompt"):
        if column in named:
            problems += near_equal_names(
                column, rows[column].drop_nulls().unique(maintain_order=True)
            )
    problems += _off_scale(table, rows, bounds)
    counts = _counts(rows, named)
    if compared and rows["other_system"].drop_nulls().len():
        counts = replace(counts, **_preferences(rows))
    return counts, problems


def _counts(rows: pl.DataFrame, named: list[str]) -> Counts:
    prompts = ["prompt"] if "prompt" in named else []
    groups = rows.drop_nulls(Output.key).group_by([*Output.key, *prompts]).len()
    each, twice = groups["len"], groups.filter(pl.col("len") > 1)
    finite = rows["score"].drop_nulls().drop_nans()
    # Plus 0.0, so that no -0 is shown; polars would leave it out.
    ends = [float(end) + 0.0 for end in finite.sort()[[0, -1]]] if len(finite) else [None, None]
    mean, most = each.mean(), each.max()
    return Counts(
        items=rows["item"].drop_nulls().n_unique(),
        systems=_sizes(rows, "system"),
        raters=rows["rater"].drop_nulls().n_unique() if "rater" in named else None,
        prompts=_sizes(rows, "prompt") if prompts else None,
        judged_outputs=rows.drop_nulls(Output.key).select(pl.struct(Output.key).n_unique()).item(),
        judgments_per_output=PerOutput(
            mean=None if mean is None else float(mean),  # type: ignore[arg-type]
            most=None if most is None else int(most),  # type: ignore[arg-type]
            outputs_with_two=twice.select(pl.struct(Output.key).n_unique()).item(),
        ),
        scores=ScoreEnds(low=ends[0], high=ends[1], different=finite.n_unique()),
    )


def _preferences(rows: pl.DataFrame) -> dict[str, Any]:
    """Return how often each system won, tied and lost, and judgments of either side by system."""
    pairs = rows.filter(pl.col("other_system") != "")
    prompt = ["prompt"] if "prompt" in pairs.columns else []
    rater = ["rater"] if "rater" in pairs.columns else []
    sides = [
        pairs.select("item", *rater, *prompt, system="system", other="other_system", score="score"),
        pairs.select(
            "item",
            *rater,
            *prompt,
            system="other_system",
            other="system",
            score=1 - pl.col("score"),
        ),
    ]
    # A judgment may be there twice, once for either system.
    both = pl.concat(sides).unique(
        ["item", *rater, *prompt, "system", "other"], maintain_order=True
    )
    by_system = both.group_by("system", maintain_order=True).agg(
        wins=(pl.col("score") > 0.5).sum(),
        ties=(pl.col("score") == 0.5).sum(),
        losses=(pl.col("score") < 0.5).sum(),
    )
    rest = _sizes(rows.filter(pl.col("other_system") == ""), "system")
    found = {name: (wins, ties, losses) for name, wins, ties, losses in by_system.iter_rows()}
    sizes = {name: sum(found.get(name, ())) + rest.get(name, 0) for name in {**found, **rest}}
    return {"systems": sizes, "preferences": found}


def _sizes(rows: pl.DataFrame, column: str) -> dict[str, int]:
    sizes = rows.drop_nulls(column).group_by(column, maintain_order=True).len()
    return dict(sizes.iter_rows())


def _bad_scores(table: Table, rows: pl.DataFrame) -> list[Problem]:
    """Return what is wrong with scores: missing ones, words, and decimal commas, each apart."""
    rule = number(table, "score", required=True)
    broken = rows.filter(rule.broken)
    column = f"column {table.column('score')}"
    missing = broken.filter(is_blank(table, "score"))
    others = broken.join(missing, on=ROW, how="anti")
    problems = []
    if missing.height:
        places = tuple(table.where(*missing[ROW].head(3).to_list()))
        way_out = "these rows are left out"
        every = missing.height == rows.height
        problems.append(
            Problem(
                f"{column}: no score", missing.height, rows.height, places, way_out, stops=every
            )
        )
    if others.is_empty():
        return problems
    counts = others["score"].cast(pl.String).value_counts(sort=True, name="n").head(5)
    if has_decimal_comma(others["score"].cast(pl.String)[0]):
        what, way_out = "numbers with commas", "say that they stand before decimals"
        options: tuple[str, ...] = ("--decimal", ",")
    else:
        what, way_out = "words as scores", "say what each is worth"
        options = scale_of(others["score"])
    examples = tuple(f"{shown(word)} ({n:,})" for word, n in counts.iter_rows())
    problems.append(
        Problem(
            f"{column}: {what}",
            others.height,
            rows.height,
            examples,
            way_out,
            options=options,
            stops=True,
        )
    )
    return problems


def _large_share(rows: pl.DataFrame) -> list[Problem]:
    sizes = _sizes(rows, "rater")
    if len(sizes) < 2:
        return []
    rater = max(sizes, key=lambda name: sizes[name])
    if sizes[rater] <= max(_LARGE_SHARE, 1.5 / len(sizes)) * rows.height:
        return []
    return [
        Problem(
            "one rater gave a large share of all judgments",
            sizes[rater],
            rows.height,
            (f"rater {rater}",),
            way_out="the answer is largely that rater's; let others judge too",
        )
    ]


def _is_tail(counts: pl.DataFrame, usual: pl.Series, beyond: pl.Series) -> bool:
    """Whether rare scores lie one step beside an end of the scale that few gave: a tail that thins out."""
    given = dict(counts.select("score", "n").iter_rows())
    steps = sorted(usual)
    step = max(after - before for before, after in pairwise(steps))
    ends = [(score, steps[0] if score < steps[0] else steps[-1]) for score in beyond]
    few = _THIN * sum(given.values())
    return all(abs(score - end) <= step and given[end] < few for score, end in ends)


def _off_scale(
    table: Table, rows: pl.DataFrame, bounds: tuple[float, float] | None
) -> list[Problem]:
    """Return the scores outside the bounds, or far from what nearly all judgments hold."""
    known = rows.filter(pl.col("score").is_finite())
    if bounds is None:
        counts = known["score"].value_counts(name="n")
        is_usual = pl.col("n") >= max(2, _USUAL * known.height)
        usual = counts.filter(is_usual)["score"]
        rare = counts.filter(~is_usual)["n"].sum()
        if known.height < _ENOUGH or len(usual) < 2 or rare > 0.05 * known.height:
            return []
        bounds = float(usual.min()) + 0.0, float(usual.max()) + 0.0  # type: ignore[arg-type]
        beyond = known.filter(~pl.col("score").is_between(*bounds))
        if beyond["score"].n_unique() > _SLIPS or _is_tail(counts, usual, beyond["score"]):
            return []
    off = known.filter(~pl.col("score").is_between(*bounds))
    if off.is_empty():
        return []
    places = table.where(*off[ROW].head(3).to_list())
    examples = tuple(
        f"{place} {score:g}" for place, score in zip(places, off["score"], strict=False)
    )
    return [
        Problem(
            f"scores outside {bounds[0]:g} to {bounds[1]:g}",
            off.height,
            rows.height,
            examples,
            way_out="correct them if they are slips",
        )
    ]
