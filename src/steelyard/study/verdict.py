"""The diagnosis in plain words: what each remedy would save, and which one is worth it."""

from steelyard.variance import Quantity

__all__ = ["verdict"]


def verdict(
    noise_ratio: float,
    *,
    metric: str | None,
    correlation: float,
    efficiency: Quantity | None,
    chosen_from: int = 1,
) -> str:
    r"""Say what the metric saves, what perfection would, and what holds back.

    In judgments for the same precision, relative to a plain mean with today's raters, this metric
    needs :math:`(1-\rho^2+\gamma)/(1+\gamma)`, a perfect one :math:`\gamma/(1+\gamma)`, and this
    metric with noiseless raters :math:`(1-\rho^2)/(1+\gamma)`.

    Parameters
    ----------
    noise_ratio : float
        Rater variance over item variance.
    metric : str or None
        Name of the best metric, None when there is none.
    correlation : float
        Its correlation with the human score, corrected for rater noise.
    efficiency : Quantity or None
        Its data efficiency; as the best of several, with an interval that allows for the choice.
    chosen_from : int
        Metrics that it is the best of.

    Examples
    --------
    >>> print(verdict(2.0, metric="rouge-l", correlation=0.5, efficiency=Quantity(1.09, 1.02, 1.2)))
    rouge-l saves 8% of the judgments of a plain mean. A perfect metric would save 33%, raters without noise 75%. Rater noise holds you back: clearer instructions or a better question would save more than a better metric.
    """
    if noise_ratio == float("inf"):
        return (
            "The judgments show no difference between outputs beyond rater noise: no metric can "
            "save anything here. Ask a clearer question, or collect more judgments per output."
        )
    perfect = 1 / (1 + noise_ratio)
    if metric is None or efficiency is None:
        return (
            f"There is no metric yet. A perfect one would save {perfect:.0%} of the judgments of "
            f"a plain mean, raters without noise {1 - 1 / (1 + noise_ratio):.0%}."
        )
    share = min(correlation**2, 1.0)
    saved, noiseless = share / (1 + noise_ratio), 1 - (1 - share) / (1 + noise_ratio)
    parts = [f"{metric} saves {saved:.0%} of the judgments of a plain mean"]
    if efficiency.low <= 1:
        ceiling = 1 - 1 / efficiency.high
        among = f" for the best of {chosen_from} metrics" if chosen_from > 1 else ""
        parts[0] += f", though nothing at all is possible too{among} (at most {ceiling:.0%})"
    parts.append(f"A perfect metric would save {perfect:.0%}, raters without noise {noiseless:.0%}")
    if noiseless > perfect:
        parts.append(
            "Rater noise holds you back: clearer instructions or a better question would save "
            "more than a better metric"
        )
    else:
        parts.append(
            "The metric holds you back: a better metric would save more than better instructions"
        )
    return ". ".join(parts) + "."
