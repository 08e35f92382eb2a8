"""Earlier versions: their outputs and judgments beside those of today, as long as they hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import fdtr, fdtrc, stdtr

from steelyard.campaign.draws import RECORDED
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.model.campaign import Floats
from steelyard.tables import Judgments, Outputs

__all__ = ["Joined", "campaign_files", "joined", "with_anchors"]

_OUTPUT = ["item", "system"]
_KEY = [*_OUTPUT, "rater", "prompt"]
# Fewer outputs judged then and now show no drift.
_FEWEST_ANCHORS = 5
# A change that would come by chance in so few cases.
_UNLIKELY, _VERY_UNLIKELY = 0.05, 0.001
# Judgments that vary so many times more, or less, are on another scale.
_OTHER_SCALE = 3.0


@dataclass(frozen=True, eq=False)
class Joined:
    """The tables of today and of earlier versions in one.

    Attributes
    ----------
    outputs, judgments : polars.DataFrame
        All rows. A system of an earlier version whose name is taken today is named ``NAME@EARLIER``.
    today : tuple of str
        The systems of today.
    notes : tuple of str
        What was left out, and why.
    """

    outputs: pl.DataFrame
    judgments: pl.DataFrame
    today: tuple[str, ...]
    notes: tuple[str, ...]


def campaign_files(folder: Path) -> list[tuple[str, Path, Path]]:
    """Return the campaigns in a folder, or in its folders: name, file of outputs and file of judgments.

    Files belong together whose names differ in the words ``outputs`` and ``judgments`` only:
    ``2026-11-05-outputs.jsonl`` and ``2026-11-05-judgments.jsonl``. They come in the order of their names.

    Raises
    ------
    InvalidDataError
        If there is none.
    """
    found = []
    for outputs in sorted(folder.glob("**/*outputs*")) if folder.is_dir() else ():
        start, _, end = outputs.name.rpartition("outputs")
        stem = end.partition(".")[0]
        partners = sorted(
            outputs.parent.glob(f"{glob_escaped(start)}judgments{glob_escaped(stem)}.*")
        )
        if outputs.is_file() and partners:
            own = f"{start}{stem}".strip("-_. ")
            inner = outputs.parent.relative_to(folder)
            name = "/".join(part for part in (*inner.parts, own) if part) or folder.name
            found.append((name, outputs, partners[0]))
    if not found:
        raise InvalidDataError(
            f"{folder}: holds no pair of files such as outputs.jsonl and judgments.jsonl: name the folder of "
            "an earlier version, or of several"
        )
    return found


def glob_escaped(text: str) -> str:
    """Return a text that a pattern of names takes as it is."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def joined(
    outputs: Outputs,
    judgments: Judgments,
    earlier: Iterable[tuple[str, Outputs, Judgments]],
) -> Joined:
    """Put the tables of earlier versions beside those of today.

    Judgments that no longer hold are left out, prompt by prompt, with a note: if outputs that were judged
    then and are judged again today (anchors) get another mean, if scores are on another scale, or if what was
    easy for the older systems is not so today.

    Parameters
    ----------
    outputs, judgments : Outputs, Judgments
        Those of today. Judgments of earlier systems among them are anchors.
    earlier : iterable of (str, Outputs, Judgments)
        Names and tables of earlier versions.
    """
    today, now = outputs.systems, outputs.rows()
    own = judgments.frame.join(now, on=_OUTPUT, how="semi", maintain_order="left")
    # anchors were drawn then: what the draw recorded of them stands with their judgments of then
    again = judgments.frame.join(now, on=_OUTPUT, how="anti", maintain_order="left")
    again = again.drop(RECORDED, strict=False)
    pools, frames, anchors, notes = [now], list[pl.DataFrame](), list[pl.DataFrame](), []
    for name, old_outputs, old_judgments in earlier:
        names = {one: f"{one}@{name}" for one in old_outputs.systems if one in today}
        renamed = pl.col("system").replace(names)
        pool = old_outputs.rows().with_columns(renamed)
        # their own anchors are of still earlier versions
        frame = old_judgments.frame.with_columns(renamed)
        frame = frame.join(pool, on=_OUTPUT, how="semi", maintain_order="left")
        drawn = frame.select(*_OUTPUT, *(one for one in RECORDED if one in frame.columns))
        drawn = drawn.unique(_OUTPUT)
        named = again.join(pool, on=_OUTPUT, how="semi")
        of_then = again.with_columns(renamed).join(pool, on=_OUTPUT, how="semi")
        anchored = pl.concat([named, of_then]).unique(_KEY, maintain_order=True)
        for prompt in old_judgments.prompts:
            if prompt in old_judgments.preference_prompts:
                continue
            of_prompt = pl.col("prompt") == prompt
            scores = pl.concat([own, anchored], how="diagonal_relaxed").filter(of_prompt)
            reason = _no_longer(scores, frame.filter(of_prompt), today)
            if reason is not None:
                frame = frame.filter(~of_prompt)
                notes.append(
                    f"{prompt}: judgments of {name} no longer hold, and are not used: {reason}"
                )
        pools.append(_unlike(pool, pools[0]))
        frames.append(_by_raters_of_then(frame, anchored))
        anchors.append(anchored.join(drawn, on=_OUTPUT, how="inner"))
    then = pl.concat(frames, how="diagonal_relaxed")
    for prompt in judgments.prompts:
        if prompt in judgments.preference_prompts:
            continue
        of_prompt = pl.col("prompt") == prompt
        reason = _other_items(own.filter(of_prompt), then.filter(of_prompt))
        if reason is not None:
            then = then.filter(~of_prompt)
            notes.append(f"{prompt}: earlier judgments no longer hold, and are not used: {reason}")
    return Joined(
        pl.concat(pools, how="diagonal_relaxed").unique(_OUTPUT, maintain_order=True),
        pl.concat([own, then, *anchors], how="diagonal_relaxed"),
        today,
        tuple(notes),
    )


def _unlike(then: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return outputs of then without the texts that are the same today.

    A version that changed some texts may have changed them for the better: what is known of the others
    says less about its mean than identical texts of a system would.
    """
    if "output" not in then.columns or "output" not in now.columns:
        return then
    same = now.select("item", "output").unique().with_columns(is_same=pl.lit(value=True))
    marked = then.join(same, on=["item", "output"], how="left", maintain_order="left")
    text = pl.when(pl.col("is_same").is_null()).then("output").alias("output")
    return marked.with_columns(text).drop("is_same")


def with_anchors(
    sample: pl.DataFrame,
    earlier: Iterable[tuple[str, Outputs, Judgments]],
    number: int,
    *,
    seed: int,
) -> pl.DataFrame:
    """Return a sample with outputs of earlier versions between its rows, which were judged then.

    Parameters
    ----------
    sample : polars.DataFrame
        Outputs to judge.
    earlier : iterable of (str, Outputs, Judgments)
        Names and tables of earlier versions.
    number : int
        How many of their judged outputs to add.
    seed : int
        Of the draw and of the places.

    Raises
    ------
    InvalidArgumentError
        If fewer were judged.
    """
    # a system whose name is taken today is named as `joined` names it
    taken = sample["system"].unique().to_list()
    judged = [
        pool.rows()
        .join(scores.frame.select(_OUTPUT).unique(), on=_OUTPUT, how="semi")
        .with_columns(pl.col("system").replace({one: f"{one}@{name}" for one in taken}))
        for name, pool, scores in earlier
    ]
    every = pl.concat(judged, how="diagonal_relaxed").unique(_OUTPUT, maintain_order=True)
    every = every.join(sample.select(_OUTPUT), on=_OUTPUT, how="anti", maintain_order="left")
    if not 0 < number <= every.height:
        raise InvalidArgumentError(
            f"`--anchors` must be from 1 to {every.height}, the judged outputs of earlier versions; got {number}"
        )
    rng = np.random.default_rng(seed)
    chosen = every[rng.permutation(every.height)[:number]]
    chosen = chosen.select(one for one in chosen.columns if one in sample.columns)
    both = pl.concat([sample, chosen], how="diagonal_relaxed")
    places = np.concatenate([np.arange(sample.height), rng.uniform(0, sample.height, number)])
    return both[np.argsort(places, kind="stable")]


def _no_longer(now: pl.DataFrame, then: pl.DataFrame, today: Sequence[str]) -> str | None:
    """Return why judgments of then no longer hold; None if nothing shows it."""
    own = _within(now.filter(pl.col("system").is_in(today)))
    old = _within(then)
    if min(len(own), len(old)) > 1:
        ratio = float(np.var(own, ddof=1) / max(float(np.var(old, ddof=1)), 1e-300))
        freedom = len(own) - 1, len(old) - 1
        chance = 2 * min(float(fdtr(*freedom, ratio)), float(fdtrc(*freedom, ratio)))
        if not 1 / _OTHER_SCALE < np.sqrt(ratio) < _OTHER_SCALE and chance < _VERY_UNLIKELY:
            return f"scores vary {np.sqrt(ratio):.3g} times as much today, as on another scale"
    means = [
        one.group_by(_OUTPUT).agg(pl.col("score").mean().alias(name))
        for one, name in ((now, "now"), (then, "then"))
    ]
    anchors = means[0].join(means[1], on=_OUTPUT)
    change = (anchors["now"] - anchors["then"]).to_numpy()
    if len(change) < _FEWEST_ANCHORS:
        return None
    mean, error = float(change.mean()), float(change.std(ddof=1)) / np.sqrt(len(change))
    if error > 0 and 2 * stdtr(len(change) - 1, -abs(mean) / error) < _UNLIKELY:
        word = "more" if mean > 0 else "less"
        return (
            f"{len(change)} outputs that were judged again get {abs(mean):.2g} {word} today (standard error "
            f"{error:.2g})"
        )
    return None


def _other_items(now: pl.DataFrame, then: pl.DataFrame) -> str | None:
    """Return that items which were hard are not hard today; None if nothing shows it.

    Scores of different systems on an item go together by as much as items differ. Those of today must go
    together with those of then by as much as those of then among themselves.
    """
    first, second = (
        rows.with_columns(off=pl.Series(_within(rows))).group_by(_OUTPUT).agg(pl.col("off").mean())
        for rows in (now, then)
    )
    items = second.group_by("item").agg(
        pl.len().alias("n"),
        pl.col("off").sum().alias("sum"),
        (pl.col("off") ** 2).sum().alias("squares"),
    )
    several = items.filter(pl.col("n") > 1)
    both = first.join(items, on="item")
    if several.height < _FEWEST_ANCHORS or both.height < _FEWEST_ANCHORS:
        return None
    pairs = (several["n"] * (several["n"] - 1)).sum()
    among = float((several["sum"] ** 2 - several["squares"]).sum()) / float(pairs)
    products = (both["off"] * both["sum"] / both["n"]).to_numpy()
    with_today, error = float(products.mean()), float(products.std(ddof=1)) / np.sqrt(len(products))
    if error > 0 and stdtr(len(products) - 1, (with_today - among) / error) < _UNLIKELY:
        return (
            f"on {both.height} items, scores of today go together with those of then by {with_today:.2g} "
            f"(covariance, standard error {error:.2g}), and those of then among themselves by {among:.2g}"
        )
    return None


def _within(rows: pl.DataFrame) -> Floats:
    """Return the scores less the mean of their system."""
    return (rows["score"] - rows.select(pl.col("score").mean().over("system"))["score"]).to_numpy()


def _by_raters_of_then(frame: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return judgments of which none has the rater, output and prompt of one of today."""
    again = frame.join(now.select(_KEY), on=_KEY, how="semi")
    if not again.height:
        return frame
    raters = again["rater"].unique().to_list()
    renamed = pl.col("rater").replace({one: f"{one} (earlier)" for one in raters})
    return frame.with_columns(renamed)
