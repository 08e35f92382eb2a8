r"""Several prompts as one: the weighted average of the scores that one output got under each of them.

The mean over prompts :math:`\sum_p w_p \mu_p` of a system is the mean of the composite score
:math:`\sum_p w_p y_p`. Made for each judgment, the composite carries the covariance between prompts with it: of the
output, of the rater and of the moment. So everything that is known of one prompt holds for it too. Derived in
docs/methods/model.md.
"""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from steelyard.campaign.draws import is_designed
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.records import UNKNOWN_RATER, VERSION
from steelyard.tables import Judgments

__all__ = ["average_name", "averaged_judgments", "check_weights"]

_OUTPUT = ["item", "system"]


def average_name(weights: Mapping[str, float]) -> str:
    """Return the name of an average over prompts.

    Examples
    --------
    >>> average_name({"fluency": 2, "overall": 1})
    'average of fluency=2, overall=1'
    """
    return "average of " + ", ".join(f"{prompt}={weight:g}" for prompt, weight in weights.items())


def check_weights(
    name: str, weights: Mapping[str, float], known: Sequence[str], *, zero: bool = False
) -> None:
    """Raise unless `weights` are positive numbers by names that are known.

    Parameters
    ----------
    name : str
        Name of the option.
    weights : mapping of str to float
        A number for each name.
    known : sequence of str
        The names that there are.
    zero : bool
        Whether a weight may be 0.
    """
    for one, weight in weights.items():
        if one not in known:
            raise InvalidArgumentError(
                f"`{name}` names {one!r}, which is not there; there are: {', '.join(known)}"
            )
        if not math.isfinite(weight) or weight < 0 or (weight == 0 and not zero):
            kind = "numbers that are not negative" if zero else "positive numbers"
            raise InvalidArgumentError(f"`{name}` must be {kind}; got {weight:g} for {one!r}")


def averaged_judgments(
    judgments: Judgments, weights: Mapping[str, float]
) -> tuple[Judgments, tuple[str, ...]]:
    """Return one judgment for those of all prompts, and what is to be said of it.

    Parameters
    ----------
    judgments : Judgments
        Judgments under several prompts.
    weights : mapping of str to float
        The weight of each prompt; they are divided by their sum.

    Returns
    -------
    Judgments, tuple of str
        One for each rater who judged an output under all prompts; or, if some output has no such
        rater, one for each output that was judged under all of them, by raters unknown.

    Raises
    ------
    InvalidArgumentError
        If fewer than two prompts are named, one is not there, or a weight is not positive.
    NotEstimableError
        If no output was judged under all prompts, or not all outputs of a draw with strata or
        unequal probabilities.
    """
    check_weights("average", weights, judgments.prompts)
    if len(weights) < 2:
        raise InvalidArgumentError(
            "`average` needs at least two prompts, such as fluency=2,overall=1; for one, use `prompts`"
        )
    lower = [one for one in weights if one in judgments.lower_is_better]
    if lower and len(lower) < len(weights):
        raise InvalidArgumentError(
            f"`average` cannot go over {lower[0]!r}, whose lower scores are better, and "
            f"{next(one for one in weights if one not in lower)!r}, whose higher ones are"
        )
    return _averaged(judgments, weights, lower_is_better=bool(lower))


def _averaged(
    judgments: Judgments, weights: Mapping[str, float], *, lower_is_better: bool
) -> tuple[Judgments, tuple[str, ...]]:
    rows = judgments.frame.with_row_index("#position")
    rows = rows.filter(pl.col("prompt").is_in(list(weights)))
    # an output that was judged again counts once for each version
    output = [*_OUTPUT, *(one for one in (VERSION,) if one in rows.columns)]

    def derived(found: pl.DataFrame) -> Judgments:
        directed = [average_name(weights)] if lower_is_better else []
        return judgments.derived(found).directed(directed)

    n_prompts = pl.col("prompt").n_unique()
    whole = rows.filter(n_prompts.over(output) == len(weights))
    outputs, all_outputs = (one.select(output).unique().height for one in (whole, rows))
    if not outputs:
        raise NotEstimableError(
            f"no output was judged under all of {', '.join(weights)}: an average needs outputs that "
            "were judged under each prompt"
        )
    notes = []
    if outputs < all_outputs:
        if is_designed(judgments):
            raise NotEstimableError(
                f"{all_outputs - outputs} of {all_outputs} outputs were not judged under all of "
                f"{', '.join(weights)}: an average over prompts needs all of them where outputs were "
                "drawn by strata or with unequal probabilities"
            )
        notes.append(
            f"{all_outputs - outputs} of {all_outputs} outputs are left out of the average: they were "
            "not judged under all of its prompts"
        )
    absent = [
        one for one in rows["system"].unique(maintain_order=True) if one not in set(whole["system"])
    ]
    if absent:
        notes.append(f"{', '.join(absent)}: left out, as no output was judged under all prompts")
    by_rater = whole.filter(n_prompts.over([*output, "rater"]) == len(weights))
    if by_rater.select(output).unique().height == outputs:
        if by_rater.height < whole.height:
            notes.append(
                f"{whole.height - by_rater.height} of {whole.height} judgments are left out of the "
                "average: their rater did not judge the output under all of its prompts"
            )
        return derived(_averages(by_rater, [*output, "rater"], weights)), tuple(notes)
    notes.append(
        "prompts were judged by different raters: the average is one score for each output, and its "
        "raters cannot be seen as a sample"
    )
    whole = whole.with_columns(rater=pl.lit(UNKNOWN_RATER))
    return derived(_averages(whole, output, weights)), tuple(notes)


def _averages(rows: pl.DataFrame, key: Sequence[str], weights: Mapping[str, float]) -> pl.DataFrame:
    """Return the weighted average over prompts for each `key`, with the other columns of its first row."""
    total = sum(weights.values())
    share = {prompt: weight / total for prompt, weight in weights.items()}
    means = rows.group_by(*key, "prompt", maintain_order=True).agg(pl.col("score").mean())
    weighed = means.with_columns(
        score=pl.col("score") * pl.col("prompt").replace_strict(share, return_dtype=pl.Float64)
    )
    scores = weighed.group_by(list(key), maintain_order=True).agg(pl.col("score").sum())
    first = rows.unique(list(key), keep="first", maintain_order=True).drop("score")
    found = first.join(scores, on=list(key), how="left", maintain_order="left")
    return found.with_columns(prompt=pl.lit(average_name(weights)))
