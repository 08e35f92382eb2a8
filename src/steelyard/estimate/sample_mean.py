"""Mean human score from judgments alone: the baseline that everything is compared with."""

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import clustered, drawn_outputs, simple_draw
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Interval, Options, Raters, Target
from steelyard.estimate.result import Estimate

__all__ = ["sample_mean"]


def sample_mean(
    human: ArrayLike,
    *,
    items: ArrayLike | None = None,
    raters: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pool_size: int | None = None,
    target: Target = "pool",
    raters_as: Raters = "fixed",
    level: float = 0.95,
    interval: Interval = "student",
    bounds: tuple[float, float] | None = None,
    rater_variance: float | None = None,
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    r"""Estimate the pool's mean human score by the mean judgment of the judged outputs.

    With :math:`s^2` the variance of the outputs' mean judgments and a fixed pool of N outputs,

    .. math:: \hat\mu = \operatorname{mean}_i \bar y_i, \qquad
              V = s^2 \frac{1 - n/N}{n} + \frac1N \operatorname{mean}_i \frac{\sigma_a^2}{m_i}.

    With `raters_as` "adjusted" it is the generalised-least-squares mean of the judgments, with the
    estimated leniency of their raters taken out.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    items : (M,) array, optional
        Which output each judgment is of; without it judgments are independent draws with
        replacement.
    raters : (M,) array, optional
        Who gave each judgment.
    clusters : (M,) array, optional
        Which cluster the judged output belongs to, as in `control_variates`.
    pool_size : int, optional
        Number of outputs in the pool; without it the pool counts as infinite.
    target, raters_as, level, interval, bounds, rater_variance, resamples, rng
        As in `control_variates`.

    Returns
    -------
    Estimate

    Raises
    ------
    InvalidArgumentError, NotEstimableError
        As in `control_variates`.

    References
    ----------
    Cochran (1977), Sampling techniques, chapters 2 and 10.

    Examples
    --------
    >>> print(sample_mean([1, 0, 1, 1, 0, 1]))
    0.6667 [0.1247, 1.2086] at 95% (sample-mean/student, 6 judgments on 6 outputs)
    """
    options = Options(
        target=target,
        raters_as=raters_as,
        level=level,
        interval=interval,
        bounds=bounds,
        rater_variance=rater_variance,
        resamples=resamples,
        rng=np.random.default_rng(0) if rng is None else rng,
    )
    sample, recorded = drawn_outputs(
        human, None, items, raters=raters, recorded={"clusters": clusters}
    )
    draw = clustered(simple_draw(sample, pool_size), recorded.get("clusters"))
    return plain_mean(sample, draw, options=options)
