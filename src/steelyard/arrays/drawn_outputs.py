"""Judged outputs together with what their draw recorded of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.single.judged import JudgedOutputs, judged_outputs

__all__ = ["drawn_outputs"]

Integers = NDArray[np.int64]


def drawn_outputs(
    human: ArrayLike,
    metric: ArrayLike | None,
    items: ArrayLike | None,
    *,
    raters: ArrayLike | None = None,
    recorded: Mapping[str, ArrayLike | None],
) -> tuple[JudgedOutputs, dict[str, NDArray[Any]]]:
    """Group judgments by output, together with what was recorded of each output.

    Parameters
    ----------
    human, metric, items, raters
        As in `judged_outputs`.
    recorded : mapping of name to (M,) array or None
        What is known of the judged output (its stratum, probability or cluster), by the name that
        the caller uses for it.

    Returns
    -------
    JudgedOutputs, dict
        The judged outputs, and the recorded values of each that were given.

    Raises
    ------
    InvalidArgumentError
        If a recorded value is misaligned, or differs between judgments of one output.
    """
    given = {name: np.asarray(values) for name, values in recorded.items() if values is not None}
    if not given:
        return judged_outputs(human, metric, items, raters=raters), {}
    size = len(np.asarray(human))
    levels, columns = {}, []
    for name, values in given.items():
        _check_aligned(values, np.shape(human), name)
        levels[name], codes = np.unique(values, return_inverse=True)
        if items is not None:
            _check_constant(codes, np.asarray(items), name)
        columns.append(codes.astype(np.float64))
    if metric is not None:
        g = np.asarray(metric, dtype=np.float64)
        if g.shape[:1] != (size,):
            raise InvalidArgumentError(
                f"`metric` must have shape ({size},) or ({size}, p) to align with `human`; "
                f"got {g.shape}"
            )
        columns = [*(g[:, np.newaxis] if g.ndim == 1 else g).T, *columns]
    # The codes travel as further columns, so that grouping and order are those of every estimator.
    sample = judged_outputs(human, np.column_stack(columns), items, raters=raters)
    codes = sample.metric[:, -len(given) :].astype(np.int64)
    found = {name: levels[name][code] for name, code in zip(given, codes.T, strict=True)}
    return replace(sample, metric=sample.metric[:, : -len(given)]), found


def _check_aligned(values: NDArray[Any], shape: tuple[int, ...], name: str) -> None:
    if values.shape != shape:
        raise InvalidArgumentError(
            f"`{name}` must have shape {shape} to align with `human`; got {values.shape}"
        )


def _check_constant(codes: Integers, items: NDArray[Any], name: str) -> None:
    _check_aligned(items, codes.shape, "items")
    distinct, first, output = np.unique(items, return_index=True, return_inverse=True)
    differs = codes[first][output] != codes
    if differs.any():
        raise InvalidArgumentError(
            f"`{name}` must be the same for all judgments of one output; got two different values "
            f"for output {distinct.tolist()[output[differs][0]]!r}: it is recorded when the output is drawn"
        )
