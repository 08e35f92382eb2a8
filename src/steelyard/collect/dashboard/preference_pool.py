"""The pool that preferences between two systems speak about."""

import polars as pl

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables import Outputs, read_outputs

__all__ = ["preference_pool"]


def preference_pool(outputs: Outputs, systems: tuple[str, str], *, differing: bool) -> Outputs:
    r"""Return the items on which two systems can be compared, with differences of metrics.

    A preference is a score of one system against the other, so what may explain it is
    :math:`g_{own} - g_{other}`.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    systems : (str, str)
        The two systems.
    differing : bool
        Whether only items on which the two outputs differ were drawn from; on the others there is
        nothing to prefer.

    Returns
    -------
    Outputs
        Two rows an item, one for each system.

    Raises
    ------
    InvalidArgumentError
        If a system is not in the pool.
    InvalidDataError
        If texts are not known, or no item is left.

    Examples
    --------
    >>> frame = pl.DataFrame({
    ...     "item": [1, 1, 2, 2], "system": ["a", "b"] * 2, "output": ["x", "y", "z", "z"],
    ...     "length": [1.0, 3.0, 2.0, 2.0],
    ... })
    >>> pool = preference_pool(read_outputs(frame), ("a", "b"), differing=True)
    >>> pool.sizes, pool.pool_values("a").tolist()
    ({'a': 1, 'b': 1}, [[-2.0]])
    """
    for system in systems:
        if system not in outputs.systems:
            raise InvalidArgumentError(
                f"`systems` must be in {outputs.name}; got {system!r}: there are "
                f"{', '.join(outputs.systems)}"
            )
    if differing and not outputs.has_texts:
        raise InvalidDataError(
            f"{outputs.name}: no column `output`, which tells where two systems differ"
        )
    texts = ["output"] if outputs.has_texts else []
    rows = outputs.rows(columns=["item", "system", *texts, *outputs.metrics])
    sides = []
    for own, other in (systems, systems[::-1]):
        both = rows.filter(pl.col("system") == own).join(
            rows.filter(pl.col("system") == other), on="item", suffix=" of the other"
        )
        if differing:
            both = both.filter(pl.col("output") != pl.col("output of the other"))
        sides.append(
            both.select(
                "item",
                "system",
                *texts,
                *(pl.col(name) - pl.col(f"{name} of the other") for name in outputs.metrics),
            )
        )
    pool = pl.concat(sides)
    if pool.is_empty():
        raise InvalidDataError(
            f"{outputs.name}: {systems[0]!r} and {systems[1]!r} have no item to compare"
        )
    return read_outputs(pool, metrics=list(outputs.metrics))
