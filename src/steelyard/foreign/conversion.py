"""What a conversion of another tool's files gives."""

from dataclasses import dataclass, field

import polars as pl

__all__ = ["Conversion"]


@dataclass(frozen=True, eq=False)
class Conversion:
    """One campaign in our form.

    Attributes
    ----------
    name : str
        Short name of the campaign, fit for the name of a file; empty if there is only one.
    outputs, judgments : polars.DataFrame
        Rows as `read_outputs` and `read_judgments` take them; empty if the tool has none.
    remarks : tuple of str
        What a reader must know: what was merged, renamed or not taken over.
    preferences : polars.DataFrame
        Comparisons of two systems, as ``serve`` exports them: two rows with the same
        ``submission``, scores that add up to 1, and the ``other_system``.
    """

    name: str
    outputs: pl.DataFrame
    judgments: pl.DataFrame
    remarks: tuple[str, ...] = ()
    preferences: pl.DataFrame = field(default_factory=pl.DataFrame)
