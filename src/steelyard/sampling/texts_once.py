"""Samples that hold each text once, for all systems that wrote it.

With the same items for all systems, a text is drawn for each of its systems or for none. So one judgment
of it can count for all of them, and every system still has all drawn items.
"""

import json
from collections.abc import Sequence

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.records import ALSO_BY
from steelyard.tables import Outputs

__all__ = ["for_all_writers", "texts_once", "texts_per_item", "writers"]

_TEXT = ["item", "output"]


def texts_once(sample: pl.DataFrame) -> pl.DataFrame:
    """Return a sample with each text of an item once.

    Parameters
    ----------
    sample : polars.DataFrame
        Outputs of several systems, drawn on the same items.

    Returns
    -------
    polars.DataFrame
        The row of the first system that wrote a text; ``also_by`` names the others, as a JSON list,
        and is null where there are none. The sample itself where no text is shared or known.

    Examples
    --------
    >>> drawn = pl.DataFrame({"item": "1", "system": ["a", "b", "c"], "output": ["Yes", "No", "Yes"]})
    >>> texts_once(drawn).rows()
    [('1', 'a', 'Yes', '["c"]'), ('1', 'b', 'No', None)]
    """
    if "output" not in sample.columns:
        return sample
    written = sample.group_by(_TEXT, maintain_order=True).agg(pl.col("system"))
    named = [_names(systems[1:]) for systems in written["system"].to_list()]
    if not any(named):
        return sample
    others = written.select(_TEXT).with_columns(pl.Series(ALSO_BY, named, dtype=pl.String))
    first = sample.unique(_TEXT, keep="first", maintain_order=True)
    return first.join(others, on=_TEXT, how="left", maintain_order="left")


def texts_per_item(outputs: Outputs, systems: Sequence[str]) -> float:
    """Return how many different texts an item has on average.

    It is the number of systems where they are not drawn on the same items, because some lack items,
    and where texts are not known.

    Examples
    --------
    >>> from steelyard.tables import read_outputs
    >>> rows = pl.DataFrame({"item": [1, 1, 2, 2], "system": ["a", "b"] * 2, "output": ["x", "x", "y", "z"]})
    >>> texts_per_item(read_outputs(rows), ["a", "b"])
    1.5
    """
    if not outputs.has_texts:
        return float(len(systems))
    rows = outputs.rows(columns=["item", "system", "output"])
    rows = rows.filter(pl.col("system").is_in(list(systems)))
    found = rows.group_by("item").agg(pl.len(), pl.col("output").n_unique())
    if (found["len"] < len(systems)).any():
        return float(len(systems))
    return rows.select("item", "output").n_unique() / found.height


def for_all_writers(sample: pl.DataFrame) -> pl.DataFrame:
    """Return a sample with a row for each system that wrote a text, as it was drawn.

    Examples
    --------
    >>> drawn = pl.DataFrame({"item": "1", "system": ["a", "b", "c"], "output": ["Yes", "No", "Yes"]})
    >>> for_all_writers(texts_once(drawn)).rows()
    [('1', 'a', 'Yes'), ('1', 'c', 'Yes'), ('1', 'b', 'No')]
    """
    if ALSO_BY not in sample.columns:
        return sample
    systems = [
        [own, *others] for own, others in zip(sample["system"], writers(sample), strict=True)
    ]
    return (
        sample.with_columns(pl.Series("system", systems, dtype=pl.List(pl.String)))
        .explode("system")
        .drop(ALSO_BY)
    )


def writers(sample: pl.DataFrame) -> list[list[str]]:
    """Return the other systems that wrote each text, as the column ``also_by`` names them.

    Raises
    ------
    InvalidDataError
        If a value is not a list of names.
    """
    return [_read(value, item) for value, item in sample.select(ALSO_BY, "item").iter_rows()]


def _names(systems: list[str]) -> str | None:
    return json.dumps(systems, ensure_ascii=False) if systems else None


def _read(value: object, item: str) -> list[str]:
    if value is None or value == "":
        return []
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidDataError(
            f'column {ALSO_BY}, item {item!r}: expected a list of systems such as ["a", "b"], got '
            f"{value!r}: keep the column as `steelyard sample` wrote it, or leave it out"
        )
    return found
