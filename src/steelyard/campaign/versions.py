"""Earlier versions: their outputs and judgments beside those of today, as long as they hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import fdtr, fdtrc

from steelyard.campaign.draws import RECORDED
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.model.campaign import Floats
from steelyard.records import VERSION
from steelyard.tables import Judgments, Outputs

__all__ = ["Joined", "campaign_files", "joined", "with_anchors"]

_OUTPUT = ["item", "system"]
_KEY = [*_OUTPUT, "rater", "prompt"]
# Judgments that vary so many times more, or less, are on another scale, unless it comes by chance more often.
_OTHER_SCALE, _UNLIKELY = 3.0, 0.001


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

    Each judgment says which version it was made for, so that the model learns how far those of then hold:
    from outputs that are judged again today (anchors), and from items on which scores should go together. Those
    on another scale are left out, prompt by prompt, with a note.

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
            reason = _other_scale(own.filter(of_prompt), frame.filter(of_prompt))
            if reason is not None:
                frame = frame.filter(~of_prompt)
                notes.append(f"{prompt}: judgments of {name} are not used: {reason}")
        pools.append(pool)
        frames.append(frame.with_columns(pl.lit(name).alias(VERSION)))
        anchors.append(anchored.join(drawn, on=_OUTPUT, how="inner"))
    then = pl.concat(frames, how="diagonal_relaxed")
    return Joined(
        pl.concat(pools, how="diagonal_relaxed").unique(_OUTPUT, maintain_order=True),
        pl.concat([own, then, *anchors], how="diagonal_relaxed").with_columns(
            pl.col(VERSION).fill_null("")
        ),
        today,
        tuple(notes),
    )


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


def _other_scale(now: pl.DataFrame, then: pl.DataFrame) -> str | None:
    """Return that judgments of then are on another scale; None if nothing shows it."""
    own, old = _within(now), _within(then)
    if min(len(own), len(old)) > 1:
        ratio = float(np.var(own, ddof=1) / max(float(np.var(old, ddof=1)), 1e-300))
        freedom = len(own) - 1, len(old) - 1
        chance = 2 * min(float(fdtr(*freedom, ratio)), float(fdtrc(*freedom, ratio)))
        if not 1 / _OTHER_SCALE < np.sqrt(ratio) < _OTHER_SCALE and chance < _UNLIKELY:
            return f"scores vary {np.sqrt(ratio):.3g} times as much today, as on another scale"
    return None


def _within(rows: pl.DataFrame) -> Floats:
    """Return the scores less the mean of their system."""
    return (rows["score"] - rows.select(pl.col("score").mean().over("system"))["score"]).to_numpy()
