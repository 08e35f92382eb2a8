"""Score outputs against references with any number of metrics."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.metric import Floats, Metric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.registry import metric

__all__ = ["score"]

Example = tuple[str, tuple[str, ...]]

# Characters scored at a time: enough for arrays to pay off, little enough to stay in memory.
_BATCH = 5_000_000


def score(
    outputs: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    metrics: Sequence[str] | Mapping[str, str | Metric],
) -> dict[str, Floats]:
    """Score every output against its reference or references.

    Parameters
    ----------
    outputs : sequence of str, length n
        Texts to score.
    references : sequence of length n
        The reference of each output: a text, or a sequence of one or more texts.
    metrics : sequence of str, or mapping
        Names of metrics, each with its options if any (``"rouge-l"``, ``"bleu:smooth=floor"``);
        `available` lists the names. A mapping gives columns names of its own, and takes
        metric objects too: ``{"similarity": VecSim(embed=my_function)}``.

    Returns
    -------
    dict of str to (n,) array of float
        One column for each metric, aligned with `outputs`.

    Raises
    ------
    InvalidArgumentError
        If lengths differ, something is not a text, an output has no reference, or a metric or an
        option is unknown.

    Notes
    -----
    Equal outputs with equal references are scored once. With several references most metrics
    take the best of them, or the mean with the option ``mean``; BLEU and TER define what they do
    with several references, and do that.

    Examples
    --------
    >>> columns = score(["a cat sat", "no"], ["the cat sat", ["no", "not so"]],
    ...                 metrics=["rouge-1", "edit"])
    >>> columns["rouge-1"]
    array([0.66666667, 1.        ])
    >>> columns["edit"]
    array([0.33333333, 0.        ])
    """
    chosen = _chosen(metrics)
    examples = _examples(outputs, references)
    number: defaultdict[Example, int] = defaultdict()
    number.default_factory = number.__len__
    row = np.fromiter((number[example] for example in examples), np.int64, count=len(examples))
    distinct = list(number)
    columns = {name: np.empty(len(distinct)) for name in chosen}
    for low, high in _batches(distinct):
        pairs = Pairs(*zip(*distinct[low:high], strict=True))
        for name, one in chosen.items():
            columns[name][low:high] = one.scores(pairs)
    return {name: column[row] for name, column in columns.items()}


def _chosen(metrics: Sequence[str] | Mapping[str, str | Metric]) -> dict[str, Metric]:
    if isinstance(metrics, str):
        raise InvalidArgumentError(
            f"`metrics` must be a list of names; got the single string {metrics!r}: "
            f"write [{metrics!r}]"
        )
    named = metrics if isinstance(metrics, Mapping) else {name: name for name in metrics}
    if not named:
        raise InvalidArgumentError("`metrics` must name at least one metric; got none")
    chosen = {}
    for name, one in named.items():
        if not isinstance(one, str | Metric):
            raise InvalidArgumentError(
                f"`metrics` must hold names or metrics; got a {type(one).__name__} for {name!r}"
            )
        chosen[name] = metric(one) if isinstance(one, str) else one
    return chosen


def _examples(outputs: Sequence[str], references: Sequence[str | Sequence[str]]) -> list[Example]:
    for name, texts in (("outputs", outputs), ("references", references)):
        if isinstance(texts, str):
            raise InvalidArgumentError(f"`{name}` must be a list of texts; got a single text")
    if len(outputs) != len(references):
        raise InvalidArgumentError(
            "`references` must have one entry for each output; "
            f"got {len(references)} for {len(outputs)} outputs"
        )
    examples: list[Example] = []
    for position, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        if not isinstance(output, str):
            raise InvalidArgumentError(
                f"`outputs` must hold texts; got a {type(output).__name__} at position {position}"
            )
        if isinstance(reference, str):
            examples.append((output, (reference,)))
            continue
        several = tuple(reference) if isinstance(reference, Iterable) else ()
        if not several or not all(isinstance(text, str) for text in several):
            raise InvalidArgumentError(
                "`references` must hold a text or a non-empty list of texts for each output; "
                f"got {reference!r} at position {position}"
            )
        examples.append((output, several))
    return examples


def _batches(examples: Sequence[Example]) -> Iterator[tuple[int, int]]:
    low = size = 0
    for position, (output, references) in enumerate(examples):
        size += len(output) * len(references) + sum(map(len, references))
        if size >= _BATCH:
            yield low, position + 1
            low, size = position + 1, 0
    if low < len(examples):
        yield low, len(examples)
