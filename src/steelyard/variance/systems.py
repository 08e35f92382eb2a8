"""The system of each output, where several systems are looked at as one."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError

__all__ = ["systems_of_outputs"]

Integers = NDArray[np.int64]


def systems_of_outputs(systems: ArrayLike | None, items: ArrayLike) -> Integers | None:
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
