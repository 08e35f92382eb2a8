"""The paper's numbers, one by one, with a verdict each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.numbers import number, percent, span
from steelyard.paper.names import TASKS, prompt_name
from steelyard.paper.printed import (
    FASTQA_CORRELATION,
    JUDGMENTS,
    NOISELESS_RANGE,
    PERFECT_RANGE,
    REFERENCE_CORRECT,
)
from steelyard.paper.release import REFERENCE, PaperTask
from steelyard.paper.reproduction import Reproduction

__all__ = ["VERDICTS", "PaperClaim", "claims", "scientific"]

ClaimVerdict = Literal["same", "near", "differs", "biased"]
VERDICTS: dict[ClaimVerdict, str] = {
    "same": "comes out to the printed or released digits",
    "near": "comes out within Monte Carlo error or rounding",
    "differs": "does not come out",
    "biased": "comes out, but is a biased estimate of what it says",
}

_STAND_INS = {
    "noiseless_raters": "The mean of two or three judgments stands in for a noiseless one and still holds "
    "half or a third of the noise.",
    "perfect_metric": "The stand-in for a perfect metric contains the judgment that it predicts: with two "
    "judgments an output that doubles the data efficiency.",
}


@dataclass(frozen=True)
class PaperClaim:
    """A number of the paper, what came out by the authors' rule, and what is right.

    Attributes
    ----------
    where, what : str
        Section, table or figure of the paper, and what the number is.
    printed, reproduced, corrected : str
        The number as printed, as it came out by the authors' rule, and free of bias; empty where
        there is none.
    verdict : str
        One of `VERDICTS`.
    note : str
        Why.
    """

    where: str
    what: str
    printed: str
    reproduced: str
    corrected: str
    verdict: ClaimVerdict
    note: str = ""


def claims(found: Reproduction) -> list[PaperClaim]:
    """Return all claims that the data at hand can be compared with, in the paper's order."""
    parts = (
        _judgments,
        _instance_correlation,
        _modes,
        _bias_study,
        _reference,
        _components,
        _correlations,
        _efficiencies,
        _limits,
        _tables,
    )
    return [claim for part in parts for claim in part(found)]


def scientific(value: float) -> str:
    """Return a small number as people read it.

    Examples
    --------
    >>> scientific(0.0), scientific(3.6e-15).endswith("10⁻¹⁵")
    ('0', True)
    """
    if value == 0:
        return "0"
    exponent = int(np.floor(np.log10(value)))
    digits = str(abs(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    sign = "\N{SUPERSCRIPT MINUS}" if exponent < 0 else ""
    return f"{value / 10.0**exponent:.0f} \N{MULTIPLICATION SIGN} 10{sign}{digits}"


def _judgments(found: Reproduction) -> Iterator[PaperClaim]:
    """Count pairs of rater and distinct output."""
    if len(found.release.tasks) < len(TASKS):
        return
    listed = sum(task.n_judgments for task in found.release.tasks)
    given = sum(map(_given, found.release.tasks))
    yield PaperClaim(
        "Section 1",
        "Human judgments collected",
        f"{JUDGMENTS:,}",
        f"{given:,}",
        "",
        "near",
        f"A rater's answers about one output count once. The files list {listed:,}, since an answer "
        "that several systems gave is listed under each.",
    )


def _given(task: PaperTask) -> int:
    """Count judgments of an output that several systems gave once."""
    owner = {
        (text.item, system): (text.item, text.systems[0])
        for text in task.texts
        for system in text.systems
    }
    return sum(
        len(line.raters)
        for line in task.lines
        if owner.get((line.item, line.system), (line.item, line.system)) == (line.item, line.system)
    )


def _instance_correlation(found: Reproduction) -> Iterator[PaperClaim]:
    for one in found.correlations:
        if (one.prompt, one.system, one.metric) == ("AnyCorrect", "fastqa", "rouge-l"):
            task = found.release.task(one.task)
            assert task is not None
            lines = task.under(one.prompt, one.system)
            scores = lines.metrics[one.metric]
            means = float(np.corrcoef(lines.mean, scores)[0, 1])
            single = float(np.corrcoef(lines.human, scores[lines.line])[0, 1])
            yield PaperClaim(
                "Figure 1b",
                "Correlation of ROUGE-L and AnyCorrect for fastqa",
                number(FASTQA_CORRELATION),
                number(means),
                f"{number(one.unbiased.value)}\n{span(one.unbiased.low, one.unbiased.high)}",
                "differs",
                f"{number(means)} is with mean judgments, {number(single)} with single ones; the "
                f"authors' results file has {number(one.released or one.reproduced)}. Rater noise "
                "weakens the first two.",
            )


def _modes(found: Reproduction) -> Iterator[PaperClaim]:
    for one in found.modes:
        title = TASKS[one.printed.task].title
        strict, note = "", ""
        if one.strict is not None:
            strict = _counts(one.strict)
            note = (
                f"A tie of votes was counted as correct: {one.ties:,} of {one.total:,} answers are "
                "tied. Corrected: with more than half of the votes. Answers that are correct but "
                f"score low are then {percent(one.strict[2] / one.total)}, not "
                f"{percent(one.counts[2] / one.total)}."
            )
        yield PaperClaim(
            "Table 1",
            f"Modes of agreement, {title}",
            _counts(one.printed.counts),
            _counts(one.counts),
            strict,
            "differs" if not one.whole else "biased" if strict else "same",
            note,
        )


def _counts(counts: tuple[int, int, int, int]) -> str:
    high, low = (" / ".join(f"{count:,}" for count in pair) for pair in (counts[:2], counts[2:]))
    return f"{high} /\n{low}"


def _bias_study(found: Reproduction) -> Iterator[PaperClaim]:
    gaps = [row.largest_difference for row in found.bias if row.released_human is not None]
    if gaps:
        note = (
            "The rule of replacement is not in the paper but in the authors' public code; it is described "
            "below."
        )
        yield _whole("Figure 1a", f"Bias study, {2 * len(gaps)} means", gaps, note)
    for task in found.release.tasks:
        own = {row.system: row.human.value for row in found.bias if not row.condition}
        gains = [
            row.human.value - own[row.system]
            for row in found.bias
            if row.task == task.name and row.condition == "lr"
        ]
        fresh = [one for one in found.fresh if (one.task, one.condition) == (task.name, "lr")]
        chosen, others = (
            float(np.mean([getattr(one, name) for one in fresh])) for name in ("chosen", "fresh")
        )
        yield PaperClaim(
            "Figure 1a",
            f"Better answers (\N{WHITE RIGHT-POINTING TRIANGLE}) raise the human score, "
            f"{task.names.title}",
            f"by {number(float(np.mean(gains)))}",
            f"by {number(float(np.mean(gains)))}",
            f"{percent(others / chosen)} of it",
            "biased",
            "The judgments that chose the better answers also measure them, so that their noise "
            f"counts as improvement. Chosen by one judgment, the gain is {number(chosen)} in that "
            f"judgment and {number(others)} in the others.",
        )


def _reference(found: Reproduction) -> Iterator[PaperClaim]:
    task = found.release.task("msmarco")
    if task is None or "snet.ensemble" not in task.systems:
        return
    correct = float(task.under("AnyCorrect", REFERENCE).gold.mean())
    lead = correct - float(task.under("AnyCorrect", "snet.ensemble").gold.mean())
    share, printed_lead = REFERENCE_CORRECT
    yield PaperClaim(
        "Section 4",
        "Reference answers that are correct, and their lead over snet.ens",
        f"{100 * share:.1f}%\n{100 * printed_lead:.0f} points",
        f"{100 * correct:.1f}%\n{100 * lead:.1f} points",
        "",
        "same" if abs(correct - share) < 5e-4 and abs(lead - printed_lead) < 5e-3 else "differs",
    )


def _components(found: Reproduction) -> Iterator[PaperClaim]:
    for row in found.table_2:
        assert row.printed is not None
        ratio = row.unbiased.noise_ratio
        yield PaperClaim(
            "Table 2",
            f"Noise ratio \N{GREEK SMALL LETTER GAMMA} of {prompt_name(row.prompt)}",
            number(row.printed.noise_ratio, 3),
            number(row.reproduced.noise_ratio, 3),
            f"{number(ratio.value)}\n{span(ratio.low, ratio.high)}",
            "biased" if row.agrees_with_print else "differs",
        )
    largest = [row.largest_difference for row in found.variances if row.released is not None]
    if largest:
        yield _whole(
            "Table 2", f"{3 * len(largest)} variance components of single systems", largest
        )
    by = {row.prompt: row for row in found.table_2}
    if {"overall", "hter"} <= by.keys():
        likert, edit = by["overall"], by["hter"]
        printed = likert.reproduced.noise_ratio / edit.reproduced.noise_ratio
        right = likert.unbiased.noise_ratio.value / edit.unbiased.noise_ratio.value
        yield PaperClaim(
            "Section 6",
            "Post-editing lowers the noise ratio, from Overall to Edit",
            "by a factor of three",
            f"{printed:.1f}",
            f"{right:.1f}",
            "biased",
            "Post-editing is better than the paper says.",
        )


def _correlations(found: Reproduction) -> Iterator[PaperClaim]:
    gaps = [
        abs(one.released - one.reproduced) for one in found.correlations if one.released is not None
    ]
    if gaps:
        what = f"{len(gaps)} correlations of metrics and human scores"
        note = "Their item variance, unlike that of table 2, is free of rater noise."
        yield _whole("Figure 5", what, gaps, note)


def _whole(where: str, what: str, gaps: list[float], note: str = "") -> PaperClaim:
    """Compare released numbers by the largest difference."""
    largest = max(gaps)
    shown = f"largest difference\n{scientific(largest)}"
    return PaperClaim(
        where, what, "released", shown, "", "same" if largest < 1e-6 else "differs", note
    )


def _efficiencies(found: Reproduction) -> Iterator[PaperClaim]:
    for one, _, printed in found.quoted:
        curve = one.trajectory.corrected
        released = "" if one.released is None else f"released {number(one.released**2)}\n"
        near = abs(curve.data_efficiency - printed) <= max(3 * curve.monte_carlo_error, 0.03)
        by_formula = found.correlation_of(one)
        right = by_formula and by_formula.data_efficiency
        yield PaperClaim(
            "Figure 6",
            f"Data efficiency, {one.title}",
            number(printed),
            f"{released}ours {number(curve.data_efficiency)} \N{PLUS-MINUS SIGN} "
            f"{number(curve.monte_carlo_error)}",
            f"{number(right.value)}\n{span(right.low, right.high)}" if right else "",
            "near" if near else "differs",
        )


def _limits(found: Reproduction) -> Iterator[PaperClaim]:
    if not found.quoted:
        return
    for what, name, printed in (
        ("noiseless raters", "noiseless_raters", NOISELESS_RANGE),
        ("a perfect metric", "perfect_metric", PERFECT_RANGE),
    ):
        ours = [getattr(one.trajectory, name).data_efficiency for one, _, _ in found.quoted]
        right = [getattr(limits, name).value for _, limits, _ in found.quoted]
        yield PaperClaim(
            "Section 5",
            f"Data efficiency with {what}",
            span(*printed),
            span(min(ours), max(ours)),
            span(min(right), max(right)),
            "biased",
            _STAND_INS[name],
        )
    best = found.best_limits
    stand_ins = [(one.perfect_stand_in, one.noiseless_stand_in) for one in best]
    corrected = [(one.perfect_metric.value, one.noiseless_raters.value) for one in best]
    larger = sum(noiseless > perfect for perfect, noiseless in stand_ins)
    yield PaperClaim(
        "Section 1",
        "Data efficiency with a perfect metric, and with noiseless raters",
        "around 3\nabout 1.5",
        _medians(stand_ins),
        _medians(corrected),
        "biased",
        "Medians over systems and prompts, each with its best metric. With the stand-ins, noiseless "
        f"raters bring more than a perfect metric in {larger} of {len(best)} cases; without them, in "
        f"{found.noisier}.",
    )


def _medians(pairs: list[tuple[float, float]]) -> str:
    return "\n".join(number(value, 1) for value in np.median(pairs, axis=0))


def _tables(found: Reproduction) -> Iterator[PaperClaim]:
    """Compare the released tables as a whole."""
    for task in found.release.tasks:
        mine = [one for one in found.differences if one.task == task.name]
        if mine:
            within = float(np.mean([one.near for one in mine]))
            shift = float(np.mean([np.log(one.released / one.reproduced) for one in mine]))
            yield PaperClaim(
                "Section 5",
                f"Tables of data efficiencies, {task.names.title}, {len(mine)} numbers",
                "released",
                f"{percent(within)} within two Monte Carlo errors",
                "",
                "near" if within > 0.95 else "differs",
                f"Released ratios of lengths are on average {100 * abs(shift):.1f}% "
                f"{'smaller' if shift < 0 else 'larger'} than ours.",
            )
