"""The numbers that the paper prints, to be compared with.

A. T. Chaganty, S. Mussmann and P. Liang (2018), The price of debiasing automatic metrics in natural
language evaluation, ACL. Sections, tables and figures below are those of the paper.
"""

from dataclasses import dataclass
from typing import NamedTuple

from steelyard.paper.names import Setting

__all__ = [
    "COMPONENTS",
    "EFFICIENCIES",
    "EXAMPLES",
    "FASTQA_CORRELATION",
    "JUDGMENTS",
    "MODES",
    "NOISELESS_RANGE",
    "PERFECT_RANGE",
    "REFERENCE_CORRECT",
    "ModeCounts",
    "PaperComponents",
    "PrintedEfficiency",
    "PrintedExample",
    "PrintedModes",
]


class PaperComponents(NamedTuple):
    """Rater variance, what the paper calls item variance (that of mean judgments), and their ratio gamma."""

    rater: float
    item: float
    noise_ratio: float


# Table 2.
COMPONENTS = {
    ("cnndm", "grammar"): PaperComponents(0.320, 0.259, 1.235),
    ("cnndm", "redundancy"): PaperComponents(0.260, 0.428, 0.608),
    ("cnndm", "overall"): PaperComponents(0.280, 0.279, 1.005),
    ("cnndm", "hter"): PaperComponents(0.066, 0.185, 0.357),
    ("msmarco", "AnyCorrect"): PaperComponents(0.139, 0.146, 0.951),
    ("msmarco", "AvgCorrect"): PaperComponents(0.120, 0.132, 0.906),
}


# Good and high, bad and high, good and low, bad and low: what people said and the metric.
ModeCounts = tuple[int, int, int, int]


@dataclass(frozen=True)
class PrintedModes:
    """Counts of table 1, in its order, and what is compared."""

    task: str
    prompt: str
    metric: str
    counts: ModeCounts

    @property
    def total(self) -> int:
        """Number of responses."""
        return sum(self.counts)


MODES = (
    PrintedModes("msmarco", "AnyCorrect", "rouge-l", (285, 19, 815, 336)),
    PrintedModes("cnndm", "hter", "sim", (1078, 360, 290, 272)),
)


@dataclass(frozen=True)
class PrintedExample:
    """An example of table 1: the question, a system that gave the answer, and ROUGE-L."""

    query: str
    system: str
    metric: float


# One of each mode of MS MARCO, in the order of the counts.
EXAMPLES = (
    PrintedExample("what is anti-mullerian hormone", "snet.ensemble", 0.86),
    PrintedExample("at what gestational age can you feel a fetus move", "fastqa", 1.0),
    PrintedExample("what is the definition of onomatopoeia", "fastqa", 0.23),
    PrintedExample("what kind root stem does a dandelion have", "snet.single", 0.09),
)


@dataclass(frozen=True)
class PrintedEfficiency(Setting):
    """A data efficiency of figure 6."""

    value: float


EFFICIENCIES = (
    PrintedEfficiency("cnndm", "overall", "seq2seq", "sim", 1.06),
    PrintedEfficiency("cnndm", "hter", "seq2seq", "sim", 1.15),
    PrintedEfficiency("msmarco", "AnyCorrect", "fastqa_ext", "sim", 1.03),
    PrintedEfficiency("msmarco", "AnyCorrect", "fastqa_ext", "rouge-1", 1.16),
)

# Section 5: data efficiency with noiseless raters and today's metrics, and with a perfect metric
# and today's raters.
NOISELESS_RANGE = (1.42, 1.69)
PERFECT_RANGE = (2.38, 7.25)
# Figure 1 and section 2: instance-level correlation of ROUGE-L and AnyCorrect for fastqa.
FASTQA_CORRELATION = 0.31
# Section 4: share of reference answers that are correct, and their lead over snet.ens.
REFERENCE_CORRECT = (0.735, 0.02)
# Section 1: "10,000 human judgments".
JUDGMENTS = 10_000
