"""Where judge and people disagree most beyond noise, and where people do with one another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from steelyard.model.campaign import Floats, Ints
from steelyard.model.predicted import leniency
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.judge_bias import BesidePeople
from steelyard.questions.judge_moments import JudgedMeans

__all__ = ["Disagreement", "disagreements"]


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """An output on which judge and people, or people with one another, differ.

    Attributes
    ----------
    prompt, who : str
        The prompt, and who disagrees: a metric, or `people`.
    item, system : str
        The output.
    human : float
        Mean judgment.
    metric_says : float or None
        On the human scale; None between people.
    difference : float
        That is to be expected of more raters; between people, how far their scores are apart.
    scores : str
        Each rater's score.
    input, reference, output : str or None
        The texts, where they are known.
    """

    prompt: str
    who: str
    item: str
    system: str
    human: float
    metric_says: float | None
    difference: float
    scores: str
    input: str | None = None
    reference: str | None = None
    output: str | None = None


def disagreements(fits: Fits, prompts: Sequence[str], number: int) -> list[Disagreement]:
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
    list of Disagreement
    """
    rows: list[Disagreement] = []
    for prompt in prompts:
        found = fits.of(prompt)
        judged = JudgedMeans.of(found.fit)
        for place, name in enumerate(found.fit.campaign.metrics):
            rows += _with_people(found, judged, place, name, number)
        rows += _of_people(found, judged, number)
    return _with_texts(fits, rows)


def _with_people(
    found: PromptFit, judged: JudgedMeans, place: int, name: str, number: int
) -> list[Disagreement]:
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


def _of_people(found: PromptFit, judged: JudgedMeans, number: int) -> list[Disagreement]:
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
) -> Disagreement:
    campaign, known = found.fit.campaign, found.collected
    own: Ints = np.flatnonzero(campaign.output == output)
    scores: Floats = campaign.score[own]
    return Disagreement(
        prompt=found.prompt,
        who=who,
        item=known.items[campaign.item[output]],
        system=campaign.systems[int(campaign.writers[output].argmax())],
        human=float(scores.mean()),
        metric_says=says,
        difference=apart,
        scores=", ".join(f"{known.rows['rater'][int(one)]}={campaign.score[one]:g}" for one in own),
    )


def _with_texts(fits: Fits, rows: list[Disagreement]) -> list[Disagreement]:
    """Add the texts of the outputs, and what they were made from, where that is known."""
    outputs = fits.source.outputs
    texts = [one for one in ("input", "reference", "output") if one in outputs.columns]
    if not rows or not texts:
        return rows
    key = pl.DataFrame({"item": [row.item for row in rows], "system": [row.system for row in rows]})
    pool = outputs.rows(columns=["item", "system", *texts])
    found = key.join(pool, on=["item", "system"], how="left", maintain_order="left")
    return [
        replace(row, **more) for row, more in zip(rows, found.select(texts).to_dicts(), strict=True)
    ]
