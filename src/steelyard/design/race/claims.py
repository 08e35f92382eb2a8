"""What follows from the capitals: who is out, which pairs are decided, and where the race ends."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["ordered_claims"]

Bools = NDArray[np.bool_]


def ordered_claims(beaten: Bools) -> Bools:
    r"""Return which systems are known to stand above which; (..., K, K), [a, b]: b above a.

    Of the true order only neighbours matter: that the capital against a true neighbour ever reaches
    (K-1)/alpha happens with probability at most alpha for all K-1 of them together. If it never
    does, the true order is a path through the graph that has an arrow from u to v unless v was found better
    than u. So b stands above a if no path leads from a to b.

    Parameters
    ----------
    beaten : (..., K, K) array of bool
        [u, v]: the capital on "v is better than u" reached (K-1)/alpha.

    Examples
    --------
    Neighbours are decided, and so are the ends: 0 is above 1, and 1 above 2.

    >>> beaten = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=bool)
    >>> ordered_claims(beaten).astype(int).tolist()
    [[0, 0, 0], [1, 0, 0], [1, 1, 0]]

    That 0 is better than 2 is not enough while 1 may lie above 0 or below 2.

    >>> beaten = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> ordered_claims(beaten).any()
    np.False_
    """
    size = beaten.shape[-1]
    reached = ~beaten | np.eye(size, dtype=bool)
    for middle in range(size):
        reached = reached | (reached[..., :, middle, None] & reached[..., None, middle, :])
    return np.asarray(~reached)
