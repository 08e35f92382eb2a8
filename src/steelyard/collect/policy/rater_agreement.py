"""How far each rater agrees with the others who judged the same outputs."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

__all__ = ["RaterAgreement", "rater_agreement"]

# Scores are means of a few numbers: what is equal on paper differs in the last digit.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RaterAgreement:
    """A rater beside the others.

    Attributes
    ----------
    rater : str
        Who.
    submissions : int
        Submissions that can be compared: somebody else judged the same unit.
    comparisons : int
        Pairs of a score of the rater and one of another on the same unit and prompt.
    share : float
        Share of the comparisons that agree.
    leniency : float
        Mean of the rater's score minus the others', as a share of the scores' range; over units and
        prompts, each once.
    """

    rater: str
    submissions: int
    comparisons: int
    share: float
    leniency: float


def rater_agreement(
    rows: pl.DataFrame, *, bounds: Mapping[str, tuple[float, float]], distance: float = 0.25
) -> dict[str, RaterAgreement]:
    r"""Compare each rater with all others on the same unit and prompt.

    With :math:`y_{ij}` the score of rater :math:`j` on unit :math:`i`, the share of pairs
    :math:`(i, k)`, :math:`k \ne j`, with :math:`|y_{ij} - y_{ik}| \le \text{distance} \times \text{range}`.

    Parameters
    ----------
    rows : polars.DataFrame
        One row a judgment: ``submission``, ``unit``, ``rater``, ``prompt``, ``score``. A judgment
        that counts for several systems may be there once for each; it is taken once.
    bounds : mapping of str to (float, float)
        Least and greatest score of each prompt; prompts that are not there are left out.
    distance : float
        How far apart two scores may be that agree.

    Notes
    -----
    Excluded raters count among the others too: whether one rater is flagged then does not depend
    on the order in which raters are looked at.

    Examples
    --------
    >>> rows = pl.DataFrame({
    ...     "submission": [1, 2, 3, 4, 5], "unit": [1, 1, 2, 2, 3], "rater": list("ababa"),
    ...     "prompt": "p", "score": [0.0, 2.0, 1.0, 2.0, 0.0],
    ... })
    >>> rater_agreement(rows, bounds={"p": (0, 2)}, distance=0.5)["a"]
    RaterAgreement(rater='a', submissions=2, comparisons=2, share=0.5, leniency=-0.75)
    """
    ranges = pl.DataFrame(
        {
            "prompt": pl.Series(list(bounds), dtype=pl.String),
            "range": pl.Series([high - low for low, high in bounds.values()], dtype=pl.Float64),
        }
    )
    once = (
        rows.select("submission", "unit", "rater", "prompt", "score")
        .unique(["submission", "prompt"], maintain_order=True)
        .join(ranges, on="prompt", maintain_order="left")
    )
    others = once.select("unit", "prompt", other="rater", theirs="score")
    pairs = once.join(others, on=["unit", "prompt"], maintain_order="left").filter(
        pl.col("rater") != pl.col("other")
    )
    difference = pl.col("score") - pl.col("theirs")
    # one row a submission and prompt, so that much-judged units do not rule the leniency
    found = (
        pairs.group_by("rater", "submission", "prompt", maintain_order=True)
        .agg(
            comparisons=pl.len(),
            agreeing=(difference.abs() <= distance * pl.col("range") + _ROUNDING).sum(),
            difference=difference.mean() / pl.col("range").first(),
        )
        .group_by("rater", maintain_order=True)
        .agg(
            submissions=pl.col("submission").n_unique(),
            comparisons=pl.col("comparisons").sum(),
            share=pl.col("agreeing").sum() / pl.col("comparisons").sum(),
            leniency=pl.col("difference").mean(),
        )
    )
    return {row["rater"]: RaterAgreement(**row) for row in found.iter_rows(named=True)}
