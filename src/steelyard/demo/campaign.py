"""The built-in campaign: a complete human evaluation, simulated from a seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.demo.collection import Sampled, collect
from steelyard.demo.domains import read_domains
from steelyard.demo.prompts import OVERALL, PROMPTS
from steelyard.demo.systems import SYSTEMS, Task, Text, outputs, task
from steelyard.errors import InvalidArgumentError

__all__ = ["NEW", "NOTICE", "Campaign", "campaign"]

# The new version, judged on a third of the items that the others are judged on.
NEW = "fluent"

NOTICE = (
    "Simulated campaign: the texts were written by a grammar, the systems' mistakes and the "
    "raters' judgments were drawn from a model. No system was evaluated and no person was asked."
)

Row = dict[str, str | float]

# Below this the sample would be too small for the demonstration to show anything.
_FEWEST_ITEMS = 20
_JUDGED_SHARE = 0.5
_LONGEST_REFERENCE = 45
# The language model's score of a text without quality of its own, for a unit of quality, and for a word more
# than usual; and its noise.
_JUDGE_MEAN, _JUDGE_SCALE, _JUDGE_WORDS, _JUDGE_NOISE = 5.0, 1.8, 0.08, 0.5
_JUDGE_LENGTH = 30


@dataclass(frozen=True, slots=True)
class Campaign:
    """A simulated campaign, with the truth that a real one never shows.

    Attributes
    ----------
    outputs : list of dict
        The pool, a row for each item and system: ``item, system, input, output, reference, judge`` and a
        column for each metric. ``judge`` is what a simulated language model gives, from 1 to 10; it likes
        long texts.
    judgments : list of dict
        A row for each judgment, in the order of collection: ``item, system, rater, prompt, score,
        seconds, time``.
    truth : dict
        ``(system, prompt)`` to the mean human score over the pool, exact under the model.
    human_scores : dict
        ``(item, system, prompt)`` to the human score f of the output, whose mean is the truth.
    notice : str
        That this is a simulation; to be shown wherever the campaign is.
    """

    outputs: list[Row]
    judgments: list[Row]
    truth: dict[tuple[str, str], float]
    human_scores: dict[tuple[str, str, str], float]
    notice: str = NOTICE


def campaign(
    *,
    items: int = 300,
    seed: int = 2018,
    metrics: Sequence[str] = ("rouge-l", "chrf", "vecsim"),
) -> Campaign:
    r"""Simulate a human evaluation of four systems that write short notices from facts.

    Half of the items are drawn by simple random sampling without replacement, the same for all
    systems; the new version, ``fluent``, is judged on the first third of them. Every output gets one
    judgment, and every fifth a second one. The human score of an output is a known
    function of what is wrong with its text, so the estimand is known:
    :math:`\mu = N^{-1} \sum_z f(z)`.

    Parameters
    ----------
    items : int
        Number of items N, at least 20.
    seed : int
        Seed of everything random; equal arguments give equal campaigns.
    metrics : sequence of str
        Metrics to score the outputs with, by the names of `steelyard.metrics`. May be empty.

    Returns
    -------
    Campaign

    Raises
    ------
    InvalidArgumentError
        If there are too few items or the seed is negative.

    Notes
    -----
    The model and its parameters are in ``docs/methods/demo-campaign.md``.

    Examples
    --------
    >>> simulated = campaign(items=20, metrics=["rouge-l"])
    >>> len(simulated.outputs), sorted(simulated.truth)[0]
    (80, ('copy', 'correct'))
    >>> print(simulated.notice)
    Simulated campaign: ...
    """
    if items < _FEWEST_ITEMS:
        raise InvalidArgumentError(f"`items` must be at least {_FEWEST_ITEMS}; got {items}")
    if seed < 0:
        raise InvalidArgumentError(f"`seed` must not be negative; got {seed}")
    item_rng, system_rng, sample_rng, rater_rng, judge_rng = np.random.default_rng(seed).spawn(5)
    tasks = _tasks(items, rng=item_rng)
    texts = {item: outputs(one, rng=system_rng) for item, one in tasks.items()}
    human_scores = {
        (item, system, prompt.name): float(prompt.human_score(prompt.quality(text.defects)))
        for item, written in texts.items()
        for system, text in written.items()
        for prompt in PROMPTS
    }
    return Campaign(
        outputs=_pool(tasks, texts, metrics, rng=judge_rng),
        judgments=collect(_sample(texts, rng=sample_rng), rng=rater_rng),
        truth={
            (system, prompt.name): sum(human_scores[item, system, prompt.name] for item in texts)
            / items
            for system in SYSTEMS
            for prompt in PROMPTS
        },
        human_scores=human_scores,
    )


def _tasks(items: int, *, rng: np.random.Generator) -> dict[str, Task]:
    """Draw the items, as many of each domain, no two with the same reference."""
    domains = read_domains()
    width = max(3, len(str(items)))
    tasks: dict[str, Task] = {}
    references: set[str] = set()
    for number, domain in enumerate(rng.permutation(np.arange(items) % len(domains)), start=1):
        one = task(domains[domain], rng=rng)
        while one.reference in references or len(one.reference.split()) > _LONGEST_REFERENCE:
            one = task(domains[domain], rng=rng)
        references.add(one.reference)
        tasks[f"brief-{number:0{width}d}"] = one
    return tasks


def _pool(
    tasks: dict[str, Task],
    texts: dict[str, dict[str, Text]],
    metrics: Sequence[str],
    *,
    rng: np.random.Generator,
) -> list[Row]:
    rows = [
        Row(
            item=item,
            system=system,
            input=tasks[item].input,
            output=text.text,
            reference=tasks[item].reference,
            judge=judge,
        )
        for item, written in texts.items()
        for (system, text), judge in zip(
            written.items(), _judged(list(written.values()), rng=rng), strict=True
        )
    ]
    if metrics:
        # Imported here because scoring loads word vectors and n-gram libraries.
        from steelyard.metrics import score  # noqa: PLC0415

        columns = score(
            [str(row["output"]) for row in rows],
            [str(row["reference"]) for row in rows],
            metrics=metrics,
        )
        for name, values in columns.items():
            for row, value in zip(rows, values.tolist(), strict=True):
                row[name] = value
    return rows


def _sample(texts: dict[str, dict[str, Text]], *, rng: np.random.Generator) -> list[Sampled]:
    """Draw items without replacement, the same for all systems; of the new version only the first."""
    items = list(texts)
    size = round(_JUDGED_SHARE * len(items))
    drawn = [items[i] for i in rng.choice(len(items), size=size, replace=False)]
    return [
        Sampled(item, system, texts[item][system])
        for system in SYSTEMS
        for item in (drawn[: size // 3] if system == NEW else drawn)
    ]


def _judged(written: Sequence[Text], *, rng: np.random.Generator) -> list[int]:
    """Return what a language model gives the texts of an item, the same for the same text."""
    noise = rng.normal(scale=_JUDGE_NOISE, size=len(written))
    first = {text.text: place for place, text in reversed(list(enumerate(written)))}
    scores = []
    for text in written:
        long = _JUDGE_WORDS * (len(text.text.split()) - _JUDGE_LENGTH)
        liked = _JUDGE_MEAN + _JUDGE_SCALE * float(OVERALL.quality(text.defects)) + long
        scores.append(int(np.clip(round(liked + noise[first[text.text]]), 1, 10)))
    return scores
