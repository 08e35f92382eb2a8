"""The order in which outputs were drawn, which is not that in which their judgments came back."""

from collections.abc import Sequence

import polars as pl

from steelyard.tables import Judgments

__all__ = [
    "draw_numbers",
    "gap_note",
    "gap_notes",
    "says_what_is_used",
]

_OUTPUT = ["item", "system"]


def says_what_is_used(judgments: Judgments) -> bool:
    """Whether the judgments come from a campaign that says of each whether it is used.

    Those that are used are the prefix of its draw, but for outputs that wait for a replacement.
    """
    return {"submission", "use", "draw"} <= set(judgments.frame.columns)


def draw_numbers(judgments: Judgments, sample: pl.DataFrame | None = None) -> pl.Series | None:
    """Return the draw number of each judgment's output; None if none is recorded.

    Parameters
    ----------
    judgments : Judgments
        Judgments, which may carry the column ``draw``.
    sample : polars.DataFrame, optional
        The drawn sample, when they do not.

    Returns
    -------
    polars.Series or None
        Whole numbers, null for outputs that were not drawn.
    """
    frame = judgments.frame
    if sample is not None and "draw" in sample.columns:
        drawn = sample.select(*_OUTPUT, "draw")
        frame = frame.select(_OUTPUT).join(drawn, on=_OUTPUT, how="left", maintain_order="left")
    if "draw" not in frame.columns:
        return None
    numbers = frame["draw"].cast(pl.Int64, strict=False)
    return None if numbers.null_count() == len(numbers) else numbers


def gap_note(numbers: Sequence[int]) -> str | None:
    """Say how many outputs are missing from the draw up to the last one that is judged.

    Examples
    --------
    >>> gap_note([1, 2, 3])
    >>> gap_note([4, 1, 2, 6])
    '2 of the first 6 outputs of the draw are not judged: what comes back early may score otherwise than the rest; judge them too, or leave out what was drawn from number 3 on'
    """
    judged = set(numbers)
    last = max(judged, default=0)
    missing = last - len(judged)
    if missing <= 0:
        return None
    first = next(number for number in range(1, last) if number not in judged)
    way_out = "judge them too" + (
        f", or leave out what was drawn from number {first} on" if first > 1 else ""
    )
    return (
        f"{missing} of the first {last} outputs of the draw are not judged: what comes back early "
        f"may score otherwise than the rest; {way_out}"
    )


def gap_notes(
    judgments: Judgments, sample: pl.DataFrame | None = None
) -> dict[tuple[str, str], str]:
    """Return a note by prompt and system where outputs before the last judged one are missing.

    Parameters
    ----------
    judgments : Judgments
        The judgments.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry the column ``draw``.
    """
    numbers = None if says_what_is_used(judgments) else draw_numbers(judgments, sample)
    if numbers is None:
        return {}
    rows = judgments.frame.select("prompt", "system").with_columns(draw=numbers).drop_nulls()
    drawn = rows.group_by("prompt", "system").agg(pl.col("draw").unique()).iter_rows()
    notes = {(prompt, system): gap_note(judged) for prompt, system, judged in drawn}
    return {key: note for key, note in notes.items() if note is not None}
