"""The words of the report, each in one sentence."""

from steelyard.numbers import ALPHA

__all__ = ["GLOSSARY"]

GLOSSARY = (
    ("item", "One input, by its id."),
    ("output", "A system's text for an item: what is judged."),
    ("pool", "All outputs of one system."),
    ("judgment", "One rater's score of one output under one prompt."),
    ("human score", "The mean judgment that unlimited raters would give to an output."),
    (
        "estimate",
        (
            "A system's mean human score over its pool, from the judgments and the metrics of all "
            "outputs. Metrics make the interval narrower; their own bias does not enter."
        ),
    ),
    ("plain mean", "The mean of the judgments alone, without metrics."),
    (
        "interval",
        (
            "Where the true value lies, with the stated confidence. Each says what it is about: these "
            "outputs or new ones like these; raters like these or exactly these raters."
        ),
    ),
    (
        "told apart",
        (
            "Two systems are told apart if the interval of their difference, made for all pairs "
            "together, leaves out zero. Intervals of single systems cannot show this: two systems judged "
            "on the same items can be told apart while their own intervals share values."
        ),
    ),
    (
        "ranks",
        (
            "All ranks that a system may have, 1 the best. The sets of all systems hold together with the "
            "stated confidence."
        ),
    ),
    ("leniency", "How much higher or lower a rater scores than the others, on the same outputs."),
    (
        "correlation",
        "Of a metric with the human score, corrected for rater noise.",
    ),
    (
        "data efficiency (DE)",
        (
            "The variance of the plain mean over that of the estimate: with 1.5, two judgments do the "
            "work of three."
        ),
    ),
    (
        f"{ALPHA} (Krippendorff's)",
        "Agreement of raters: 1 for perfect agreement, 0 for that of chance.",
    ),
    (
        "worth",
        "The share of judgments that a metric saves, beside the same estimate without any metric.",
    ),
    (
        "favoured by",
        (
            "A metric's difference of a system from the others, put on the human scale, less that of the "
            "people."
        ),
    ),
)
