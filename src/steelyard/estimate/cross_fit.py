"""The cross-fitted slope: each output is corrected by a slope that has not seen it.

Exactly unbiased without replacement too; derived in docs/methods/estimators.md.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.fit import Centred, Fit

__all__ = ["cross_fit", "leave_one_out"]

Floats = NDArray[np.float64]


def leave_one_out(
    full: Fit, sample: JudgedOutputs, centred: Centred, *, pool_size: int | None
) -> Fit:
    """Return the cross-fit with every output a fold of its own, in closed form.

    Parameters
    ----------
    full : Fit
        The least-squares fit to all judged outputs.
    sample : JudgedOutputs
        The judged outputs.
    centred : Centred
        The same around their means.
    pool_size : int or None
        Size of the pool drawn from without replacement; None for draws with replacement.
    """
    n, c = sample.n_outputs, centred
    pull = np.linalg.solve(c.S, c.g.T).T
    leverage = 1 / n + np.einsum("ij,ij->i", c.g, pull)
    if (leverage > 1 - 1e-9).any():
        raise NotEstimableError(
            '`slope` "cross-fit" cannot leave out an output that alone determines the slope: '
            'use slope="least-squares" or judge more outputs'
        )
    drawn = 0.0 if pool_size is None else (n - 1) / pool_size
    # the shift of each output's own fold: the others' mean is -g / (n - 1) around the sample's
    shift = (1 - drawn) * c.g - drawn * c.g / (n - 1) + c.shift
    influence = np.einsum("ij,ij->i", shift, pull) / (1 - leverage)
    influence -= influence.mean()
    residual = influence - c.g @ np.linalg.solve(c.S, c.g.T @ influence)
    return _with_weights(full, sample, full.weights + residual / n)


def cross_fit(
    full: Fit,
    sample: JudgedOutputs,
    centred: Centred,
    *,
    folds: int,
    pool_size: int | None,
    rng: np.random.Generator,
) -> Fit:
    """Return the cross-fit over `folds` random folds; the other parameters as above."""
    n, c = sample.n_outputs, centred
    if not 2 <= folds <= n:
        raise InvalidArgumentError(
            f"`folds` must lie between 2 and the number of judged outputs ({n}); got {folds}"
        )
    fold = rng.permutation(np.arange(n) % folds)
    weights = np.full(n, 1 / n)
    for number in range(folds):
        inside = fold == number
        rest = c.g[~inside]
        rest_centred = rest - rest.mean(axis=0)
        S = rest_centred.T @ rest_centred
        if not _full_rank(S):
            raise NotEstimableError(
                f'`slope` "cross-fit" found a metric that is constant outside fold {number}, or repeats others there: '
                "use fewer folds or judge more outputs"
            )
        drawn = 0.0 if pool_size is None else (~inside).sum() / pool_size
        shift = (1 - drawn) * c.g[inside].mean(axis=0) + drawn * rest.mean(axis=0) + c.shift
        weights[~inside] -= inside.mean() * (rest_centred @ np.linalg.solve(S, shift))
    return _with_weights(full, sample, weights)


def _with_weights(full: Fit, sample: JudgedOutputs, weights: Floats) -> Fit:
    mean = sample.mean.mean()
    estimate = float(mean + weights @ (sample.mean - mean))
    return replace(full, kind="cross-fit", weights=weights, estimate=estimate)


def _full_rank(S: Floats) -> bool:
    """Whether no metric is constant or a combination of others, on whatever scales they are."""
    scale = np.sqrt(np.diag(S))
    if (scale == 0).any():
        return False
    return bool(np.linalg.eigvalsh(S / np.outer(scale, scale))[0] > 1e-10)
