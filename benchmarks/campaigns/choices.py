"""``python -m benchmarks.campaigns choices``: what each choice of the model buys, with and without it on the same campaigns.

A choice is a constant or a function of the model, which is changed for a while. Figures are of means and of differences: squared
error and width relative to plain t's, and how often intervals hold, averaged over the kinds of a group.
"""

from contextlib import ExitStack
from multiprocessing import Pool
from unittest.mock import patch

import numpy as np

from benchmarks.campaigns import direct, plain, worlds
from benchmarks.campaigns.figures import row

GROUPS = {
    "good metric": ("normal", "spreads", "binary", "good-judge"),
    "many weak metrics": ("weak-metrics",),
    "worthless metrics": ("useless", "adversarial"),
    "long tails": ("skewed", "ceiling", "rare"),
    "taste": ("taste", "no-taste"),
}


def _prior(name, share, sd):
    return {"steelyard.model.effects.PRIOR": {name: (share, sd)}}


def _expectation_worth(blocks):
    return {"steelyard.model.fit.Fit.expectation_worth": property(lambda _: blocks)}


CHOICES = {
    "as it is": {},
    "metrics expected to be worth 0.1": _prior("metrics", 0.1, 1.5),
    "no slopes of each system": {"without": frozenset({"own slopes"})},
    "no items": {"without": frozenset({"item"})},
    "no leniency, no taste": {"without": frozenset({"rater", "taste"})},
    "no taste": {"without": frozenset({"taste"})},
    "taste expected to be 0.05": _prior("taste", 0.05, 1.5),
    "nothing for learning": {
        "steelyard.model.fit.Fit._learning": lambda fit, _: 0.0 * fit.targets.means
    },
    "errors not moderated by what is observed": _expectation_worth(1e12),
    "what is expected is worth 10 blocks": _expectation_worth(10.0),
    "symmetric intervals": {
        "steelyard.model.intervals.reaches": lambda _fit, _answers, multiple: (
            (np.ones_like(multiple),) * 2
        )
    },
    "the design's weights on what the model leaves": {"designed": True},
}


def _replayed(task):
    choice, cell, reps = task
    changes = dict(CHOICES[choice])
    without, designed = changes.pop("without", frozenset()), changes.pop("designed", False)
    campaigns = [cell.campaign(run) for run in range(reps)]
    base = [plain.answer(one) for one in campaigns]
    with ExitStack() as stack:
        for name, value in changes.items():
            stack.enter_context(
                patch.dict(name, value) if isinstance(value, dict) else patch(name, value)
            )
        answers = [direct.answer(one, without=without, designed=designed) for one in campaigns]
    found = row(cell, "new", answers, campaigns=campaigns, plain=base)
    return choice, [
        (part.error.value, part.width.value, 100 * part.holds.value)
        for part in (found.means, found.differences)
    ]


def main(given):
    parser = direct.parser("python -m benchmarks.campaigns choices", reps=40)
    parser.add_argument("--choices", nargs="+", default=list(CHOICES), choices=list(CHOICES))
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    asked = parser.parse_args(given)
    print("| kinds | choice | means: error, width, hold | differences |\n| --- | --- | --- | --- |")
    with Pool(asked.jobs) as pool:
        for group in asked.groups:
            cells = [
                worlds.Cell(kind, k, n, p, bool(same), raters)
                for kind in GROUPS[group]
                for k, n, p, same, raters in direct.numbers(asked)
            ]
            tasks = [(choice, cell, asked.reps) for choice in asked.choices for cell in cells]
            found = {choice: [] for choice in asked.choices}
            for choice, figures in pool.imap(_replayed, tasks):
                found[choice].append(figures)
            for choice, figures in found.items():
                means, apart = np.mean(figures, axis=0)
                shown = " | ".join(f"{a:.3f} {b:.3f} {c:.1f}" for a, b, c in (means, apart))
                print(f"| {group} | {choice} | {shown} |", flush=True)
    return 0
