"""Where judge and people disagree most beyond noise, and where people do with one another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from steelyard.model.campaign import Floats, Ints
from steelyard.model.predicted import leniency
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.judge_bias import BesidePeople
from steelyard.questions.judge_moments import JudgedMeans

__all__ = ["disagreements"]


def disagreements(fits: Fits, prompts: Sequence[str], number: int) -> list[dict[str, Any]]:
    """Return the outputs on which judge and people, or people with one another, are furthest apart.

    Parameters
    ----------
    fits : Fits
        The models.
    prompts : sequence of str
        The prompts in question, which ask for scores.
    number : int
        How many outputs to list for each metric, and for the people.

    Returns
    -------
    list of dict
        For each: prompt, who disagrees (a metric's name, or "people"), item, system, the mean judgment, what
        the metric says on the human scale, the difference that is to be expected of more raters, each
        rater's score, and the texts.
    """
    rows: list[dict[str, Any]] = []
    for prompt in prompts:
        found = fits.of(prompt)
        judged = JudgedMeans.of(found.fit)
        for place, name in enumerate(found.fit.campaign.metrics):
            rows += _with_people(found, judged, place, name, number)
        rows += _of_people(found, judged, number)
    return _with_texts(fits, rows)


def _with_people(
    found: PromptFit, judged: JudgedMeans, place: int, name: str, number: int
) -> list[dict[str, Any]]:
    """Return where a metric and the people are furthest apart, most first."""
    campaign = found.fit.campaign
    metric = campaign.metric[:, place]
    beside = BesidePeople(judged, metric, {}, 0.0, 0.95)
    if not beside.varies:
        return []
    moments = beside.moments
    mean = moments.whole[0][0]
    says = mean[0] + beside.to_human[0] * (metric - mean[1])
    ends = campaign.scale_ends or (campaign.score.min(), campaign.score.max())
    says = np.clip(says, *ends)
    apart = says - judged.mean
    # what raters' noise adds to the difference is taken off in proportion
    noise = moments.noise[0] if moments.has_noise else moments.within[0, 0, 0] / 2
    square = noise / judged.count
    real = max(float(np.mean(apart**2 - square)), 0.05 * float(np.mean(apart**2)))
    expected = apart * real / (real + square)
    order = np.argsort(-np.abs(expected), kind="stable")[:number]
    return [
        _row(found, one, name, says=float(says[one]), apart=float(expected[one])) for one in order
    ]


def _of_people(found: PromptFit, judged: JudgedMeans, number: int) -> list[dict[str, Any]]:
    """Return the outputs on which raters are furthest apart, leniency taken off."""
    campaign = found.fit.campaign
    score = campaign.score - leniency(found.fit)
    m = len(judged.count)
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(low, campaign.output, score)
    np.maximum.at(high, campaign.output, score)
    apart = np.where(judged.count > 1, high - low, 0.0)
    order = np.argsort(-apart, kind="stable")[:number]
    return [
        _row(found, one, "people", says=None, apart=float(apart[one]))
        for one in order
        if apart[one] > 0
    ]


def _row(
    found: PromptFit, output: int, who: str, *, says: float | None, apart: float
) -> dict[str, Any]:
    campaign, known = found.fit.campaign, found.collected
    own: Ints = np.flatnonzero(campaign.output == output)
    scores: Floats = campaign.score[own]
    return {
        "prompt": found.prompt,
        "who": who,
        "item": known.items[campaign.item[output]],
        "system": campaign.systems[int(campaign.writers[output].argmax())],
        "human": float(scores.mean()),
        "metric_says": says,
        "difference": apart,
        "scores": ", ".join(
            f"{known.rows['rater'][int(one)]}={campaign.score[one]:g}" for one in own
        ),
    }


def _with_texts(fits: Fits, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the texts of the outputs, and what they were made from, where that is known."""
    outputs = fits.source.outputs
    names = ("input", "reference", "output")
    texts = [one for one in names if one in outputs.columns]
    rows = [row | dict.fromkeys(names) for row in rows]
    if not rows or not texts:
        return rows
    key = pl.DataFrame({name: [row[name] for row in rows] for name in ("item", "system")})
    pool = outputs.rows(columns=["item", "system", *texts])
    found = key.join(pool, on=["item", "system"], how="left", maintain_order="left")
    return [{**row, **more} for row, more in zip(rows, found.select(texts).to_dicts(), strict=True)]
