"""Judgments grouped by the output they judge."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidArgumentError

__all__ = ["JudgedSample", "judged_outputs", "systems_of_outputs"]


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """The judged outputs of one system under one prompt, in an order that rows cannot change.

    Attributes
    ----------
    mean : (n,) array
        Mean judgment of each output.
    count : (n,) array
        Number of judgments of each output.
    within : (n,) array
        Sum of squared deviations of each output's judgments from their mean.
    metric : (n, p) array
        Metrics of each output; ``p`` is 0 when none were given.
    human : (M,) array
        Single judgments, ordered by output.
    output : (M,) array of int
        Position in ``mean`` of the output that each judgment judges.
    rater : (M,) array of int, or None
        Number of the rater who gave each judgment; None when raters are unknown.
    identified : bool
        Whether outputs were told apart. When they were not, judgments are independent draws
        with replacement and each counts as an output of its own.
    """

    mean: Floats
    count: Ints
    within: Floats
    metric: Floats
    human: Floats
    output: Ints
    rater: Ints | None
    identified: bool

    @property
    def n_outputs(self) -> int:
        """Number of judged outputs."""
        return len(self.mean)

    @property
    def n_judgments(self) -> int:
        """Number of judgments."""
        return len(self.human)

    @property
    def n_metrics(self) -> int:
        """Number of metrics."""
        return int(self.metric.shape[1])

    @property
    def n_raters(self) -> int | None:
        """Number of distinct raters, None when raters are unknown."""
        return None if self.rater is None else int(self.rater.max()) + 1


def judged_outputs(
    human: ArrayLike,
    metric: ArrayLike | None = None,
    items: ArrayLike | None = None,
    *,
    raters: ArrayLike | None = None,
) -> JudgedSample:
    """Group judgments by output, after checking every array.

    Parameters
    ----------
    human : (M,) array
        Judgments.
    metric : (M,) or (M, p) array, optional
        Metric of the judged output, aligned with `human`.
    items : (M,) array, optional
        Which output each judgment is of. Without it, judgments are independent draws with
        replacement.
    raters : (M,) array, optional
        Who gave each judgment.

    Returns
    -------
    JudgedSample

    Raises
    ------
    InvalidArgumentError
        If an array is empty, misaligned, not numeric or not finite, or if two judgments of one
        output carry different metrics.

    Examples
    --------
    >>> sample = judged_outputs([1, 0, 1], [0.5, 0.5, 0.9], ["a", "a", "b"])
    >>> sample.mean, sample.count
    (array([0.5, 1. ]), array([2, 1]))
    """
    y = _numbers(human, "human")
    if y.ndim != 1:
        raise InvalidArgumentError(f"`human` must be one-dimensional; got shape {y.shape}")
    if len(y) == 0:
        raise InvalidArgumentError("`human` must hold at least one judgment; got none")
    g = np.empty((len(y), 0)) if metric is None else _metric_rows(metric, len(y))
    rater_labels = None if raters is None else _labels(raters, len(y), "raters")
    if items is None:
        order = np.lexsort((*g.T, y))
        output = np.arange(len(y))
    else:
        _, codes = np.unique(_labels(items, len(y), "items"), return_inverse=True)
        order = (
            np.lexsort((y, codes))
            if rater_labels is None
            else np.lexsort((np.unique(rater_labels, return_inverse=True)[1], y, codes))
        )
        output = codes[order]
    y, g = y[order], g[order]
    count = np.bincount(output)
    mean = np.bincount(output, weights=y) / count
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    if not np.array_equal(g[first][output], g):
        where = int(np.flatnonzero((g[first][output] != g).any(axis=1))[0])
        name = "" if items is None else f" (output {np.asarray(items)[order][where]!r})"
        raise InvalidArgumentError(
            "`metric` must be the same for all judgments of one output; "
            f"got two different values{name}: pass each output's own metric"
        )
    return JudgedSample(
        mean=mean,
        count=count,
        within=np.bincount(output, weights=(y - mean[output]) ** 2).astype(np.float64),
        metric=g[first],
        human=y,
        output=output,
        rater=None
        if rater_labels is None
        else np.unique(rater_labels[order], return_inverse=True)[1],
        identified=items is not None,
    )


def _numbers(values: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`{name}` must hold numbers: {error}") from error
    if not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array).ravel())[0])
        raise InvalidArgumentError(
            f"`{name}` must be finite; got {array.ravel()[where]} at position {where}: "
            "remove or impute it before estimating"
        )
    return array


def _metric_rows(metric: ArrayLike, size: int) -> Floats:
    g = _numbers(metric, "metric")
    g = g[:, np.newaxis] if g.ndim == 1 else g
    if g.ndim != 2 or len(g) != size:
        raise InvalidArgumentError(
            f"`metric` must have shape ({size},) or ({size}, p) to align with `human`; "
            f"got {np.shape(metric)}"
        )
    return g


def _labels(values: ArrayLike, size: int, name: str) -> NDArray[Any]:
    labels = np.asarray(values)
    if labels.shape != (size,):
        raise InvalidArgumentError(
            f"`{name}` must have shape ({size},) to align with `human`; got {labels.shape}"
        )
    return labels


def systems_of_outputs(systems: ArrayLike | None, items: ArrayLike) -> Ints | None:
    """Return the number of the system of each output, in the order of `judged_outputs`.

    Raises
    ------
    InvalidArgumentError
        If `systems` is misaligned, or an output has two.
    """
    if systems is None:
        return None
    labels = np.asarray(systems)
    names, output = np.unique(np.asarray(items), return_inverse=True)
    if labels.shape != output.shape:
        raise InvalidArgumentError(
            f"`systems` must have shape {output.shape} to align with `items`; got {labels.shape}"
        )
    codes = np.unique(labels, return_inverse=True)[1]
    found = np.zeros(len(names), dtype=np.int64)
    found[output] = codes
    if (found[output] != codes).any():
        where = names[output[np.argmax(found[output] != codes)]]
        raise InvalidArgumentError(
            f"`items` must name outputs of one system each; got two systems for {where!r}: "
            "give each system's output a name of its own"
        )
    return found
