"""How many judgments a plain mean would have needed."""

from steelyard.estimate import Estimate

__all__ = ["equivalent_judgments"]


def equivalent_judgments(found: Estimate, item_variance: float = 0.0) -> float | None:
    r"""Return how many judgments would make the plain mean as precise as this estimate.

    The variance of a plain mean of n outputs of a pool of N is
    :math:`V_0(n) = s^2 / n - \sigma_f^2 / N`: outputs are drawn without replacement, which takes
    item variance away but not rater noise. With :math:`V_1` that of the estimate,

    .. math:: V_0(n') = V_1 \iff \frac{n'}{n} = \frac{V_0 + \sigma_f^2 / N}{V_1 + \sigma_f^2 / N}.

    In a large pool that is the data efficiency. In a small one it is less: more judgments would
    have done away with the pool's uncertainty by themselves.

    Parameters
    ----------
    found : Estimate
        An estimate with metrics, and its plain mean.
    item_variance : float
        Item variance; zero where it is not identified, as then the finite-pool correction is left
        out of both variances too.

    Returns
    -------
    float or None
        Number of judgments, as many of each output as now; None for a plain mean.

    References
    ----------
    W. G. Cochran (1977), Sampling techniques, sections 2.6 and 10.6.

    Examples
    --------
    >>> from steelyard.estimate import control_variates
    >>> human, metric, pool = [1, 3, 2, 4, 4], [1, 3, 2, 4, 5], [1, 2, 3, 4, 5, 2, 3]
    >>> found = control_variates(human, metric, pool)
    >>> round(equivalent_judgments(found) / 5, 2) == round(found.data_efficiency, 2)
    True
    """
    if found.baseline is None:
        return None
    pooled = item_variance / found.pool_size if found.pool_size else 0.0
    plain, corrected = found.baseline.standard_error**2, found.standard_error**2
    return found.n_judgments * (plain + pooled) / (corrected + pooled)
