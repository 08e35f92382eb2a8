"""What is in a table of judgments, and what is wrong with it."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl

from steelyard.records import Judgment, Output
from steelyard.tables.duplicates import duplicate_key, way_to_settle
from steelyard.tables.problems import FileProblem, bad_cells, near_equal_names, repeated_keys
from steelyard.tables.profile_counts import Counts, PerOutput, ScoreEnds
from steelyard.tables.refusals import is_spelled_number, scale_of, unlike_the_others
from steelyard.tables.rules import countable, identifier, is_blank, number
from steelyard.tables.separators import has_decimal_comma
from steelyard.tables.tables import ROW, Table, shown

__all__ = ["judgments_profile"]

# One rater with a larger share makes the answer largely that rater's.
_LARGE_SHARE = 0.3
# Scores are looked at for strangers from so many on; a value is usual that is there twice at least,
# and from this share on.
_ENOUGH, _USUAL = 50, 0.01
# More different strangers than this are a long tail, as of counted errors, and no slips.
_SLIPS = 5
# A score that so small a share gave may be followed by one that hardly anybody gave.
_THIN = 0.05


def judgments_profile(
    table: Table, bounds: tuple[float, float] | None
) -> tuple[Counts, list[FileProblem]]:
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
        way_out = FileProblem("", 0, 0, way_out=words, options=("--on-duplicate", option))
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


def _bad_scores(table: Table, rows: pl.DataFrame) -> list[FileProblem]:
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
            FileProblem(
                f"{column}: no score", missing.height, rows.height, places, way_out, stops=every
            )
        )
    if others.is_empty():
        return problems
    cells = others["score"].cast(pl.String)
    counts = cells.value_counts(sort=True, name="n").head(5)
    odd = unlike_the_others(cells[0], rows["score"].cast(pl.String))
    options: tuple[str, ...] = ()
    if odd:
        what, way_out = "numbers that are not written like the others", odd
    elif is_spelled_number(cells[0]):
        what, way_out = "numbers that are not finite", "correct them"
    elif has_decimal_comma(cells[0]):
        what, way_out = "numbers with commas", "say that they stand before decimals"
        options = ("--decimal", ",")
    else:
        what, way_out = "words as scores", "say what each is worth"
        options = scale_of(others["score"])
    examples = tuple(f"{shown(word)} ({n:,})" for word, n in counts.iter_rows())
    problems.append(
        FileProblem(
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


def _large_share(rows: pl.DataFrame) -> list[FileProblem]:
    sizes = _sizes(rows, "rater")
    if len(sizes) < 2:
        return []
    rater = max(sizes, key=lambda name: sizes[name])
    if sizes[rater] <= max(_LARGE_SHARE, 1.5 / len(sizes)) * rows.height:
        return []
    return [
        FileProblem(
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
) -> list[FileProblem]:
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
        FileProblem(
            f"scores outside {bounds[0]:g} to {bounds[1]:g}",
            off.height,
            rows.height,
            examples,
            way_out="correct them if they are slips",
        )
    ]
