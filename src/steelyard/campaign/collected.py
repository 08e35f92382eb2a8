"""Judgments under one prompt, joined with their outputs, pools and draw: from tables to a `Campaign`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from steelyard.campaign.draws import (
    SystemDraw,
    check_pool_of_pairs,
    recorded,
    system_draw,
    with_writers,
)
from steelyard.campaign.judged import JudgedOutputs, judged_outputs
from steelyard.campaign.metric_notes import metric_notes
from steelyard.campaign.pools import moments
from steelyard.campaign.preferences import preference_rows
from steelyard.campaign.score_checks import absence_notes, rare_scores_note
from steelyard.campaign.shared_texts import kept_judgments
from steelyard.campaign.source import Source
from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.model.campaign import Campaign, Floats, Ints
from steelyard.records import UNKNOWN_RATER, VERSION
from steelyard.tables import Outputs

__all__ = ["Collected", "collected"]

_OUTPUT = ["item", "system"]
_FEWEST = 2


@dataclass(frozen=True, eq=False)
class Collected:
    """What was collected under one prompt.

    Attributes
    ----------
    prompt : str
        The prompt.
    campaign : Campaign
        The same as numbers.
    rows : polars.DataFrame
        The judgments, in the order of the campaign's: item, system, rater and score; of preferences item,
        a, b, rater, net and first.
    items : tuple of str
        Names of the items that the campaign numbers.
    raters : tuple of str
        Names of the raters that it numbers; empty where nobody knows them.
    versions : tuple of str
        Names of the earlier versions that it numbers from 1 on.
    n_outputs, n_judgments : (k,) arrays of int
        Judged outputs of each system and judgments of them; one of a shared text counts for each.
    notes : tuple of str
        What a reader must know of all systems.
    system_notes : mapping of str to tuple of str
        And of some of them.
    left_out : mapping of str to str
        Why a system has no answer.
    paired : bool
        Whether only items were drawn on which two systems differ, which shows no mean.
    """

    prompt: str
    campaign: Campaign
    rows: pl.DataFrame
    items: tuple[str, ...]
    raters: tuple[str, ...]
    versions: tuple[str, ...]
    n_outputs: Ints
    n_judgments: Ints
    notes: tuple[str, ...] = ()
    system_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    paired: bool = False


def collected(source: Source, prompt: str) -> Collected:
    """Return what was collected under a prompt.

    Parameters
    ----------
    source : Source
        The tables.
    prompt : str
        One of their prompts.

    Raises
    ------
    InvalidDataError
        If a judged output is not in the pool or has no cluster, or a preference is none.
    NotEstimableError
        If the draw allows no answer for any system.
    """
    judgments = source.judgments.filter(pl.col("prompt") == prompt)
    frame = recorded(judgments, source.sample)
    if prompt in source.judgments.preference_prompts:
        rows = preference_rows(judgments, prompt, source.judgments.systems)
        sides = [rows.select("item", system=side) for side in ("a", "b")]
        named = set(pl.concat(sides)["system"])
        systems = tuple(one for one in source.judgments.systems if one in named)
        return _numbered(source, prompt, _Read(rows, sides, systems))
    draws, left_out = _draws(source.outputs, frame, prompt)
    rows = frame.filter(~pl.col("system").is_in(list(left_out)))
    if any(one.paired for one in draws.values()):
        check_pool_of_pairs(rows, source.outputs)
    systems = with_writers(rows, source.outputs)
    return _numbered(source, prompt, _Read(rows, [rows.select(_OUTPUT)], systems, draws, left_out))


@dataclass(frozen=True, eq=False)
class _Read:
    """The judgments of a prompt, the one or two outputs of each, and how they were drawn."""

    rows: pl.DataFrame
    sides: Sequence[pl.DataFrame]
    systems: tuple[str, ...]
    draws: Mapping[str, SystemDraw] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


def _draws(
    outputs: Outputs, frame: pl.DataFrame, prompt: str
) -> tuple[dict[str, SystemDraw], dict[str, str]]:
    """Return how each system's outputs were drawn, and why some show nothing."""
    draws, left_out = {}, {}
    parts = frame.partition_by("system", as_dict=True, maintain_order=True)
    for (system,), own in parts.items():
        judged = own["item"].n_unique()
        if judged < _FEWEST:
            left_out[str(system)] = (
                f"an interval needs at least {_FEWEST} judged outputs; got {judged}: judge more outputs"
            )
            continue
        try:
            draws[str(system)] = system_draw(own, outputs.sizes.get(str(system), 0))
        except NotEstimableError as error:
            left_out[str(system)] = str(error)
    if not draws:
        reasons = {(prompt, system): why for system, why in left_out.items()}
        (_, system), why = next(iter(reasons.items()))
        raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {why}", reasons=reasons)
    return draws, left_out


def _numbered(source: Source, prompt: str, read: _Read) -> Collected:
    """Return judgments with everything as numbers."""
    rows, sides, systems, draws = read.rows, read.sides, read.systems, read.draws
    designed = any(not one.simple for one in draws.values())
    judged = _judged(source, prompt, sides)
    metrics = source.metrics
    pools = moments(source.outputs, metrics, systems)
    outputs = judged_outputs(source, judged, metrics, systems, pools, share=not designed)
    code = [
        side.join(outputs.key, on=_OUTPUT, how="left", maintain_order="left")["#output"].to_numpy()
        for side in sides
    ]
    kept, notes = kept_judgments(rows, code, outputs, parts=source.parts)
    rows, code = rows.filter(pl.Series(kept)), [one[kept] for one in code]
    if not rows.height:
        raise NotEstimableError(f"prompt {prompt!r}: all judgments are of identical outputs")
    rater, raters, about_raters = _raters(rows)
    weight, stratum = (None, None) if not designed else _weights(outputs, draws)
    is_preference = len(code) > 1
    version, versions = (None, ()) if is_preference else _versions(rows)
    campaign = Campaign(
        systems=systems,
        metrics=metrics,
        score=rows["net" if is_preference else "score"].to_numpy().astype(np.float64),
        output=code[0],
        item=outputs.item,
        writers=outputs.writers,
        metric=outputs.metric,
        pools=outputs.pools,
        in_pool=outputs.in_pool,
        rater=rater,
        other=code[1] if is_preference else None,
        first=rows["first"].to_numpy().astype(np.float64) if is_preference else None,
        version=version,
        cluster=outputs.cluster,
        cluster_size=outputs.cluster_size,
        likeness=outputs.likeness,
        weight=weight,
        stratum=stratum,
        bounds=source.bounds,
    )
    wrote = outputs.writers > 0
    gaps = metric_notes(source.outputs, metrics, systems)
    plainly = not is_preference and not designed and source.whole is None
    absent = absence_notes(campaign) if plainly and outputs.cluster is None else {}
    rare = rare_scores_note(campaign) if plainly else None
    return Collected(
        prompt=prompt,
        campaign=campaign,
        rows=rows,
        items=outputs.items,
        raters=raters,
        versions=versions,
        n_outputs=wrote[np.unique(np.concatenate(code))].sum(axis=0),
        n_judgments=sum(wrote[one].sum(axis=0) for one in code),
        notes=(
            *notes,
            *about_raters,
            *source.coverage.get(prompt, ()),
            *source.drawn_whole,
            *(() if rare is None else (rare,)),
        ),
        system_notes={
            one: (
                *source.warnings.get((prompt, one), ()),
                *(draws[one].notes if one in draws else ()),
                *([absent[one]] if one in absent else ()),
                *gaps.get(one, ()),
            )
            for one in systems
        },
        left_out=read.left_out,
        paired=any(one.paired for one in draws.values()),
    )


def _judged(source: Source, prompt: str, sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the judged outputs, each once, with their metrics and clusters."""
    judgments = source.judgments.filter(pl.col("prompt") == prompt)
    outputs = source.outputs
    is_metric = "cluster" in source.metrics
    beside = ["cluster"] if "cluster" in outputs.columns and not is_metric else []
    names = [*source.metrics, *beside]
    once = pl.concat(sides).unique(maintain_order=True)
    if len(sides) == 1:
        values = outputs.rows_of(judgments, columns=names)
    else:
        values = outputs.rows(columns=[*_OUTPUT, *names])
        absent = once.join(values, on=_OUTPUT, how="anti", maintain_order="left")
        if absent.height:
            item, system = absent.row(0)
            raise InvalidDataError(
                f"{judgments.name}: the output of item {item!r} by system {system!r} is judged but "
                f"not in {outputs.name}: add it, or leave the judgment out"
            )
    found = once.join(
        values.select(
            *_OUTPUT,
            pl.col(source.metrics).cast(pl.Float64, strict=False),
            *(pl.col(name).alias("#cluster") for name in beside),
        ),
        on=_OUTPUT,
        how="left",
        maintain_order="left",
    )
    if not beside:
        if is_metric or "cluster" not in judgments.frame.columns:
            return found
        own = judgments.frame.select(*_OUTPUT, pl.col("cluster").alias("#cluster"))
        own = own.unique(_OUTPUT, keep="first")
        found = found.join(own, on=_OUTPUT, how="left", maintain_order="left")
    if found["#cluster"].null_count():
        item, system = found.filter(pl.col("#cluster").is_null()).select(_OUTPUT).row(0)
        raise InvalidDataError(
            f"column {outputs.mapped.get('cluster', 'cluster')}: item {item!r} of system {system!r} has no cluster: fill it in"
        )
    return found


def _raters(rows: pl.DataFrame) -> tuple[Ints | None, tuple[str, ...], tuple[str, ...]]:
    """Return the number of each judgment's rater, the names, and what is to be said of them."""
    known = (rows["rater"] != UNKNOWN_RATER).to_numpy()
    if not known.any():
        return None, (), ()
    names = rows["rater"].filter(pl.Series(known)).unique(maintain_order=True)
    code = rows["rater"].replace_strict(
        names, np.arange(len(names)), default=-1, return_dtype=pl.Int64
    )
    number = code.to_numpy().copy()
    unknown = int((~known).sum())
    number[~known] = len(names) + np.arange(unknown)
    notes: tuple[str, ...] = ()
    if unknown:
        notes = (f"{unknown} of {rows.height} judgments name no rater: each counts as another one",)
    return number, tuple(names), notes


def _versions(rows: pl.DataFrame) -> tuple[Ints | None, tuple[str, ...]]:
    """Return for which version each judgment was made, and the names of the earlier ones."""
    if VERSION not in rows.columns:
        return None, ()
    names = [one for one in rows[VERSION].unique(maintain_order=True) if one]
    if not names:
        return None, ()
    code = rows[VERSION].replace_strict(
        names, np.arange(1, len(names) + 1), default=0, return_dtype=pl.Int64
    )
    return code.to_numpy(), tuple(names)


def _weights(outputs: JudgedOutputs, draws: Mapping[str, SystemDraw]) -> tuple[Floats, Ints]:
    """Return how many outputs of the pool each judged output stands for, and its stratum."""
    key = outputs.key
    weight, stratum = np.ones(len(outputs.item)), np.zeros(len(outputs.item), dtype=np.int64)
    labels: dict[tuple[str, str], int] = {}
    for item, system, number in key.iter_rows():
        draw = draws[system]
        weight[number] = draw.weight[item]
        label = (system, draw.stratum[item])
        stratum[number] = labels.setdefault(label, len(labels))
    return weight, stratum
