"""The paper's numbers, one by one, with a verdict each."""

from collections.abc import Iterator

import numpy as np

from steelyard.numbers import number, percent, span
from steelyard.paper.blocks import PaperClaim
from steelyard.paper.efficiency_claims import efficiency_claims
from steelyard.paper.names import TASKS, prompt_name
from steelyard.paper.printed import FASTQA_CORRELATION, JUDGMENTS, REFERENCE_CORRECT
from steelyard.paper.release import PaperTask
from steelyard.paper.released_lines import REFERENCE
from steelyard.paper.reproduction import Reproduction

__all__ = ["claims", "scientific"]


def claims(found: Reproduction) -> list[PaperClaim]:
    """Return all claims that the data at hand can be held against, in the paper's order.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return [
        *_judgments(found),
        *_instance_correlation(found),
        *_modes(found),
        *_bias_study(found),
        *_reference(found),
        *_components(found),
        *_correlations(found),
        *efficiency_claims(found),
    ]


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
    listed = sum(len(line.raters) for task in found.release.tasks for line in task.lines)
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
        same = one.counts == one.printed.counts
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
            "differs" if not same else "biased" if strict else "same",
            note,
        )


def _counts(counts: tuple[int, int, int, int]) -> str:
    high, low = (" / ".join(f"{count:,}" for count in pair) for pair in (counts[:2], counts[2:]))
    return f"{high} /\n{low}"


def _bias_study(found: Reproduction) -> Iterator[PaperClaim]:
    released = [row for row in found.bias if row.released_human is not None]
    if released:
        largest = max(row.largest_difference for row in released)
        yield PaperClaim(
            "Figure 1a",
            f"Bias study, {2 * len(released)} means",
            "released",
            f"largest difference\n{scientific(largest)}",
            "",
            "same" if largest < 1e-6 else "differs",
            "The rule of replacement is not in the paper but in the authors' public code; it is described "
            "below.",
        )
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
    for row in found.variances:
        if row.printed is not None:
            ratio = row.unbiased.noise_ratio
            yield PaperClaim(
                "Table 2",
                f"Noise ratio \N{GREEK SMALL LETTER GAMMA} of {prompt_name(row.prompt)}",
                number(row.printed.noise_ratio, 3),
                number(row.reproduced.noise_ratio, 3),
                f"{number(ratio.value)}\n{span(ratio.low, ratio.high)}",
                "biased" if row.agrees_with_print else "differs",
                "",
            )
    largest = [row.largest_difference for row in found.variances if row.released is not None]
    if largest:
        yield PaperClaim(
            "Table 2",
            f"{3 * len(largest)} variance components of single systems",
            "released",
            f"largest difference\n{scientific(max(largest))}",
            "",
            "same" if max(largest) < 1e-6 else "differs",
            "",
        )
    yield from _fold(found)


def _fold(found: Reproduction) -> Iterator[PaperClaim]:
    """Compare the noise of the post-editing prompt with that of the Likert scale."""
    by = {row.prompt: row for row in found.variances if row.printed is not None}
    if {"overall", "hter"} <= by.keys():
        printed = by["overall"].reproduced.noise_ratio / by["hter"].reproduced.noise_ratio
        right = by["overall"].unbiased.noise_ratio.value / by["hter"].unbiased.noise_ratio.value
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
    pairs = [(one.released, one.reproduced) for one in found.correlations]
    gaps = [abs(theirs - ours) for theirs, ours in pairs if theirs is not None]
    if gaps:
        yield PaperClaim(
            "Figure 5",
            f"{len(gaps)} correlations of metrics and human scores",
            "released",
            f"largest difference\n{scientific(max(gaps))}",
            "",
            "same" if max(gaps) < 1e-6 else "differs",
            "Their item variance, unlike that of table 2, is free of rater noise.",
        )
