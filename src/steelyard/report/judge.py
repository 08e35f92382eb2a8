"""The part of the report on metrics beside people, and on raters beside one another."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from steelyard.numbers import ALPHA
from steelyard.plots.style import WIDTH, styled
from steelyard.questions.diagnosis import Diagnosis, JudgeDiagnosis, shown
from steelyard.questions.judge_plots import plot_calibration, plot_offsets
from steelyard.report.svg import inline_svg
from steelyard.report.tables import Table

__all__ = ["JudgePart", "judge_part", "plain_sentence"]

# More metrics than this are left to the table; more raters to `steelyard diagnose`.
_SAID, _RATERS = 3, 20


@dataclass(frozen=True)
class JudgePart:
    """Whether the judge can be trusted: sentences, drawings and tables.

    Attributes
    ----------
    sentences : list of str
        What the metrics after the most useful one come to, which is said at the top.
    offsets, calibration : str or None
        Drawings: whom metrics favour, and what the most useful one means.
    metrics : Table or None
        The metrics beside people.
    variances : Table
        What judgments vary by.
    raters : Table or None
        The raters' leniency.
    agreement : str
        How people agree.
    """

    sentences: list[str]
    offsets: str | None
    calibration: str | None
    metrics: Table | None
    variances: Table
    raters: Table | None
    agreement: str


def judge_part(found: Diagnosis, *, anchor: str) -> JudgePart:
    """Return the part of a section.

    Parameters
    ----------
    found : Diagnosis
        The diagnosis under the prompt.
    anchor : str
        Id of the section.
    """
    judges = found.judges
    has_offsets = any(each.offset for one in judges[:_SAID] for each in one.offsets)
    raters = found.raters
    if len(raters) > _RATERS:
        raters = (*raters[: _RATERS // 2], *raters[-_RATERS // 2 :])
    return JudgePart(
        sentences=[plain_sentence(one) for one in judges[1:_SAID]],
        offsets=_offsets(judges, anchor) if has_offsets else None,
        calibration=_calibration(judges[0], anchor) if judges else None,
        metrics=_metrics(judges) if judges else None,
        variances=Table(
            "What judgments of a system vary by",
            ("effect", "share of the variance"),
            tuple((one.effect, shown(one.share, share=True)) for one in found.variances),
        ),
        raters=Table(
            "Raters, the most lenient first",
            ("rater", "leniency", "judgments"),
            tuple((one.rater, shown(one.leniency), f"{one.n_judgments:,}") for one in raters),
        )
        if raters
        else None,
        agreement=(
            f"People agree with one another: Krippendorff's {ALPHA} {shown(found.agreement)}, from "
            f"{found.n_repeats:,} second judgments."
        ),
    )


def plain_sentence(one: JudgeDiagnosis) -> str:
    """Return what a metric comes to, its name as it is."""
    return one.sentence.replace(f"`{one.metric}`", one.metric, 1)


def _offsets(judges: tuple[JudgeDiagnosis, ...], anchor: str) -> str:
    rows = sum(len(one.offsets) for one in judges[:_SAID])
    with styled():
        figure = Figure(figsize=(WIDTH, 1.4 + 0.3 * rows), layout="constrained")
        plot_offsets(judges, figure.add_subplot())
    label = "By how much metrics favour each system"
    return inline_svg(figure, name=f"{anchor}-offsets", label=label)


def _calibration(judge: JudgeDiagnosis, anchor: str) -> str:
    with styled():
        figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
        plot_calibration(judge, figure.add_subplot())
    label = f"Mean human score by {judge.metric}"
    return inline_svg(figure, name=f"{anchor}-calibration", label=label)


def _metrics(judges: tuple[JudgeDiagnosis, ...]) -> Table:
    columns = list(dict.fromkeys(each.column for one in judges for each in one.biases))
    rows = []
    for one in judges:
        biases = {each.column: each.bias for each in one.biases}
        rows.append(
            (
                one.metric,
                shown(one.correlation),
                shown(one.worth, share=True),
                shown(one.perfect, share=True),
                shown(one.noiseless, share=True),
                "-" if one.ranks is None else shown(one.ranks.alike, share=True),
                *(shown(biases.get(name)) for name in columns),
            )
        )
    heads = ("metric", "correlation", "worth", "perfect metric", "noiseless raters")
    more = tuple(f"more for {name}" for name in columns)
    return Table("Metrics beside people", (*heads, "pairs ordered alike", *more), tuple(rows))
