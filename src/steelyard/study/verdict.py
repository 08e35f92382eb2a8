"""The diagnosis in plain words: what each remedy would save, and which one is worth it."""

from steelyard.variance import Quantity, Remedies

__all__ = ["assumed_verdict", "verdict"]

_RATERS = (
    "Rater noise holds you back: clearer instructions or a better question would save more than a "
    "better metric"
)
_METRIC = "The metric holds you back: a better metric would save more than better instructions"


def verdict(
    found: Remedies,
    *,
    metric: str | None,
    chosen_from: int = 1,
    all_repeated: bool = True,
) -> str:
    r"""Say what the metric saves, what perfection would, and what holds back, if that is known.

    Rater noise, or the metric, is said to hold back only where the interval of the difference of
    both remedies leaves out zero.

    Parameters
    ----------
    found : Remedies
        Shares of the judgments of a plain mean that are saved. Of the best of several metrics, with
        intervals that allow for the choice.
    metric : str or None
        Name of the best metric, None when there is none.
    chosen_from : int
        Metrics that it is the best of.
    all_repeated : bool
        Whether every judged output has two judgments.

    Examples
    --------
    >>> print(verdict(
    ...     Remedies(
    ...         saved=Quantity(0.08, 0.02, 0.17), perfect=Quantity(0.33, 0.25, 0.41),
    ...         noiseless=Quantity(0.75, 0.62, 0.84), lead=Quantity(0.42, 0.25, 0.55),
    ...     ),
    ...     metric="rouge-l",
    ... ))
    rouge-l saves 8% of the judgments of a plain mean. A perfect metric would save 33% (25% to 41%), raters without noise 75% (62% to 84%). Rater noise holds you back: clearer instructions or a better question would save more than a better metric.
    """
    if found.perfect.value == 0:
        return _without_item_variance(found, all_repeated=all_repeated)
    perfect, noiseless = _share(found.perfect), _share(found.noiseless)
    if metric is None:
        return (
            f"There is no metric yet. A perfect one would save {perfect} of the judgments of a "
            f"plain mean, raters without noise {noiseless}."
        )
    saved = f"{metric} saves {found.saved.value:.0%} of the judgments of a plain mean"
    parts = [
        saved + _doubt(found.saved, chosen_from),
        f"A perfect metric would save {perfect}, raters without noise {noiseless}",
    ]
    if found.lead.low > 0:
        parts.append(_RATERS)
    elif found.lead.high < 0:
        parts.append(_METRIC)
    else:
        parts.append(_undecided(all_repeated=all_repeated))
    return ". ".join(parts) + "."


def assumed_verdict(
    noise_ratio: float, *, metric: str | None, correlation: float, efficiency: Quantity | None
) -> str:
    r"""Return the verdict at a noise ratio and correlation that are taken as given.

    In judgments for the same precision, relative to a plain mean with today's raters, this metric
    needs :math:`(1-\rho^2+\gamma)/(1+\gamma)`, a perfect one :math:`\gamma/(1+\gamma)`, and this
    metric with noiseless raters :math:`(1-\rho^2)/(1+\gamma)`.

    Parameters
    ----------
    noise_ratio : float
        Rater variance over item variance.
    metric : str or None
        Name of the metric, None when there is none.
    correlation : float
        Its correlation with the human score, corrected for rater noise.
    efficiency : Quantity or None
        Its data efficiency.
    """
    perfect = 1 / (1 + noise_ratio)
    share = 0.0 if metric is None or perfect == 0 else min(correlation**2, 1.0)
    saved = share * perfect
    ends = (efficiency.low, efficiency.high) if efficiency is not None else (1.0, 1.0)
    low, high = (1 - 1 / end for end in ends)
    return verdict(
        Remedies(
            saved=Quantity(saved, low, high),
            perfect=_exactly(perfect),
            noiseless=_exactly(1 - perfect + saved),
            # A draw goes to the metric, as it always did.
            lead=_exactly(1 - 2 * perfect + saved or -1.0),
        ),
        metric=metric,
    )


def _without_item_variance(found: Remedies, *, all_repeated: bool) -> str:
    most = found.perfect.high
    bound = f" (a perfect one at most {most:.0%})" if most > 0 else ""
    seen = (
        "The judgments show no difference between outputs beyond rater noise: as far as they show, "
        f"no metric can save anything here{bound}. "
    )
    if found.lead.low > 0:
        return f"{seen}Ask a clearer question, or collect more judgments per output."
    return f"{seen}{_undecided(all_repeated=all_repeated)}."


def _undecided(*, all_repeated: bool) -> str:
    more = "more judged outputs" if all_repeated else "second judgments of more outputs"
    return f"Whether rater noise or the metric holds you back is not known yet: {more} would tell"


def _doubt(saved: Quantity, chosen_from: int) -> str:
    if saved.low > 0:
        return ""
    among = f" for the best of {chosen_from} metrics" if chosen_from > 1 else ""
    ceiling = max(-saved.low, saved.high)
    return f", though nothing at all is possible too{among} (at most {ceiling:.0%})"


def _share(one: Quantity) -> str:
    if one.low == one.high:
        return f"{one.value:.0%}"
    return f"{one.value:.0%} ({max(one.low, 0.0):.0%} to {min(one.high, 1.0):.0%})"


def _exactly(value: float) -> Quantity:
    return Quantity(value, value, value)
