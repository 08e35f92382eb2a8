"""Can a metric or judge be trusted, where is it biased, what is it worth, and are the raters any good."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from scipy.special import ndtri

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.model.campaign import Floats
from steelyard.model.predicted import predicted
from steelyard.names import known_names
from steelyard.questions.asked import Asked
from steelyard.questions.diagnosis import (
    Diagnoses,
    Diagnosis,
    JudgeDiagnosis,
    RaterDiagnosis,
    VarianceShare,
)
from steelyard.questions.fitted import Fits, PromptFit
from steelyard.questions.judge_bias import BesidePeople
from steelyard.questions.judge_moments import JudgedMeans, Value, value_of
from steelyard.questions.judge_offsets import Offsets
from steelyard.questions.judge_words import holding_back, judge_sentence
from steelyard.questions.judge_worth import judge_worth, without_metrics

__all__ = ["diagnoses"]

# The column of word counts that texts give.
_WORDS = "words"
# A metric is on the human scale if it stays inside, by this share of its length, and fills this share of it.
_INSIDE, _FILLED = 0.05, 0.3


def diagnoses(
    fits: Fits,
    asked: Asked,
    *,
    against: Sequence[str] = (),
    own: Sequence[str] = (),
) -> Diagnoses:
    """Return the diagnoses of all prompts in question; see `Study.diagnose`.

    Parameters
    ----------
    fits : Fits
        The models.
    asked : Asked
        The prompts and systems in question.
    against : sequence of str
        Columns of the outputs that metrics may be biased towards, beside the number of words.
    own : sequence of str
        The systems of the judge's family.
    """
    outputs = fits.source.outputs
    for name in against:
        if name not in outputs.columns:
            raise InvalidArgumentError(
                f"`against` must be columns of {outputs.name}; got {name!r}: "
                f"{known_names(name, outputs.columns)}"
            )
    for name in own:
        if name not in outputs.systems:
            raise InvalidArgumentError(
                f"`own` must be systems of {outputs.name}; got {name!r}: "
                f"{known_names(name, outputs.systems)}"
            )
    found, refused = [], []
    for prompt in asked.scored(fits):
        try:
            # what does not differ within a system, or without one of its items, is unknown: not a number
            with np.errstate(divide="ignore", invalid="ignore"):
                found.append(_diagnosis(fits, fits.of(prompt), asked, against, own))
        except NotEstimableError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    notes = (*fits.notes, *(f"left out: {one}" for one in refused))
    return Diagnoses(replace(one, notes=(*notes, *one.notes)) for one in found)


def _diagnosis(
    fits: Fits, found: PromptFit, asked: Asked, against: Sequence[str], own: Sequence[str]
) -> Diagnosis:
    """Return the diagnosis under one prompt."""
    if found.collected.paired:
        raise NotEstimableError(
            f"prompt {found.prompt!r}: a paired draw holds only items on which two systems differ, which shows "
            "no metric over the pools: draw a simple sample"
        )
    campaign, level = found.fit.campaign, asked.level
    mode, remarks = found.raters(asked.raters)
    judged = JudgedMeans.of(found.fit)
    if np.ptp(judged.mean) == 0:
        raise NotEstimableError(
            f"prompt {found.prompt!r}: all judgments are equal, so nothing shows what a metric is worth: "
            "judge more outputs"
        )
    columns, missing = _columns(fits, found, against)
    offsets = Offsets.of(found, found.answers("pool", mode), asked.systems, level)
    plain = without_metrics(campaign)
    judges = []
    for place, name in enumerate(campaign.metrics):
        pools = campaign.pools
        beside = BesidePeople(
            judged=judged,
            metric=campaign.metric[:, place],
            columns={key: value for key, value in columns.items() if key != name},
            pass_share=float(np.average(pools.metric[:, place], weights=pools.size)),
            level=level,
        )
        if not beside.varies:
            missing.append(f"{name} is constant on the judged outputs and can save nothing")
            continue
        worth = judge_worth(campaign, place, plain, beside)
        alike = on_human_scale(fits, found, name)
        judges.append(_judge(place, beside, offsets, worth=worth, own=own, alike=alike))
    judges.sort(key=lambda one: -one.worth.value)
    moments = BesidePeople(judged, judged.mean, {}, 0.0, level).moments
    has_noise = moments.has_noise
    if not has_noise:
        missing.append(
            "hardly any output has a second judgment, so raters' noise is not known: correlations are with "
            "single judgments, and offsets take half of the variance for noise"
        )
    best = judges[0] if judges else None
    noise, alpha = (Value(np.nan, np.nan, np.nan),) * 2
    if has_noise:
        total = moments.whole[1][:, 0, 0] + moments.noise * (1 - moments.single)
        share = moments.noise / (moments.noise + moments.signal)
        noise = value_of(share, level, ends=(0.0, 1.0))
        alpha = value_of(1 - moments.noise / total, level, ends=(-1.0, 1.0))
    return Diagnosis(
        prompt=found.prompt,
        sentence="there is no metric to look at." if best is None else best.sentence,
        holds_back=holding_back(best, has_noise=has_noise),
        judges=tuple(judges),
        agreement=alpha,
        noise_share=noise,
        raters=_raters(found, level),
        variances=_variances(found, level),
        n_outputs=len(judged.mean),
        n_judgments=campaign.n,
        n_repeats=judged.repeats,
        level=level,
        notes=(*found.notes, *remarks, *missing),
    )


def _judge(
    place: int,
    beside: BesidePeople,
    offsets: Offsets,
    *,
    worth: Value,
    own: Sequence[str],
    alike: bool,
) -> JudgeDiagnosis:
    """Return the diagnosis of one metric."""
    # what does not go with the human scores cannot be put on their scale
    scaled = beside.correlation.excludes_zero
    one = JudgeDiagnosis(
        metric=offsets.found.fit.campaign.metrics[place],
        sentence="",
        correlation=beside.correlation,
        worth=worth,
        perfect=beside.perfect,
        noiseless=beside.noiseless,
        scale=beside.scale if alike and scaled and beside.moments.has_noise else None,
        kappa=beside.kappa if alike else None,
        offsets=offsets.of_systems(place, beside) if scaled else (),
        self_preference=offsets.of_family(place, beside, own) if scaled else None,
        biases=tuple(beside.biases()) if scaled else (),
        ranks=offsets.ranks(place, beside),
        pass_fail=beside.pass_fail() if set(np.unique(offsets.score)) <= {0.0, 1.0} else None,
        calibration=tuple(beside.calibration()),
    )
    return replace(one, sentence=judge_sentence(one, own))


def _columns(
    fits: Fits, found: PromptFit, against: Sequence[str]
) -> tuple[dict[str, Floats], list[str]]:
    """Return the columns that metrics may be biased towards, for each judged output, and notes."""
    outputs, campaign = fits.source.outputs, found.fit.campaign
    texts = ["output"] if outputs.has_texts else []
    system = campaign.writers.argmax(axis=1)
    key = pl.DataFrame(
        {
            "item": [found.collected.items[one] for one in campaign.item],
            "system": [campaign.systems[one] for one in system],
        }
    )
    if not texts and not against:
        return {}, []
    rows = outputs.rows(columns=list(dict.fromkeys(["item", "system", *texts, *against])))
    rows = key.join(rows, on=["item", "system"], how="left", maintain_order="left")
    columns: Mapping[str, pl.Series] = {one: rows[one] for one in against}
    if texts and _WORDS not in columns:
        words = rows["output"].cast(pl.String, strict=False).str.count_matches(r"\S+")
        columns = {_WORDS: words, **columns}
    known, notes = {}, []
    for name, values in columns.items():
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() or numbers.is_nan().any():
            notes.append(f"{name} is not a number on every judged output: no bias is looked for")
        elif float(np.ptp(numbers.to_numpy())) == 0:
            continue
        else:
            known[name] = numbers.to_numpy()
    return known, notes


def on_human_scale(fits: Fits, found: PromptFit, metric: str) -> bool:
    """Whether a metric's values lie on the scale of the human scores."""
    campaign = found.fit.campaign
    low, high = campaign.scale_ends or (float(campaign.score.min()), float(campaign.score.max()))
    length = high - low
    pools = fits.source.outputs.pool_moments([metric], gaps="fill")
    least = min(float(pools[one].low[0]) for one in campaign.systems)
    most = max(float(pools[one].high[0]) for one in campaign.systems)
    inside = low - _INSIDE * length <= least and most <= high + _INSIDE * length
    return bool(length > 0 and inside and most - least >= _FILLED * length)


def _raters(found: PromptFit, level: float) -> tuple[RaterDiagnosis, ...]:
    """Return each rater's predicted leniency, the most lenient first."""
    fit, names = found.fit, found.collected.raters
    known = predicted(fit, "rater")
    if known is None or fit.campaign.rater is None:
        return ()
    count = np.bincount(fit.campaign.rater)
    # the columns are those of raters with two judgments or more, in the order of their numbers
    frequent = np.flatnonzero(count >= 2)
    if len(frequent) != len(known.value):
        frequent = np.sort(np.argsort(-count, kind="stable")[: len(known.value)])
    reach = float(ndtri((1 + level) / 2)) * known.error
    raters = [
        RaterDiagnosis(
            rater=names[one],
            leniency=Value(*(float(fit.unit * end) for end in (value, value - half, value + half))),
            n_judgments=int(count[one]),
        )
        for one, value, half in zip(frequent, known.value, reach, strict=True)
        if one < len(names)
    ]
    return tuple(sorted(raters, key=lambda one: -one.leniency.value))


def _variances(found: PromptFit, level: float) -> tuple[VarianceShare, ...]:
    """Return the share of each effect in the variance of a judgment within systems."""
    fit = found.fit
    learned, built = fit.variances, fit.system.effects
    size = np.ones(len(learned.names))
    for place, column in enumerate(built.columns):
        square = (
            column.design.multiply(column.design)
            if hasattr(column.design, "multiply")
            else column.design**2
        )
        size[place] = float(np.asarray(square.sum(axis=1)).mean())
    part = learned.solution.theta * size
    share = part / part.sum()
    # of the logarithm of the odds of each share
    gradient = np.eye(len(share)) - share / np.maximum(1 - share[:, None], 1e-9)
    np.fill_diagonal(gradient, 1.0)
    error = np.sqrt(np.einsum("ed,dc,ec->e", gradient, learned.covariance, gradient))
    odds = np.log(share / np.maximum(1 - share, 1e-12))
    reach = float(ndtri((1 + level) / 2)) * error
    ends = [1 / (1 + np.exp(-np.clip(odds + sign * reach, -50, 50))) for sign in (-1, 1)]
    return tuple(
        VarianceShare(
            effect=learned.names[place],
            share=Value(float(share[place]), float(ends[0][place]), float(ends[1][place])),
        )
        for place in np.argsort(-share)
    )
