"""Texts that several systems wrote: drawn once, and pooled where each system was judged on its own.

A part of `benchmarks.devices`. Systems share a part of their texts with the first; 12 raters who differ in leniency.
"""

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.study.texts_once import texts_once

SIZE, RATERS = 200, 12
# systems, share of texts in common, judged items
CELLS = tuple((k, share, n) for k in (2, 5) for share in (0.3, 0.7) for n in (10, 20, 50))
CAMPAIGNS = 60


def campaign(k, share, n, rng):
    """Outputs with shared texts, the same without, judgments of every output, and the true means."""
    quality = np.sqrt(0.5) * (rng.standard_normal(SIZE) + rng.standard_normal((k, SIZE)))
    writer = np.where(rng.random((k, SIZE)) < share, 0, np.arange(k)[:, np.newaxis])
    quality = np.take_along_axis(quality, writer, axis=0)
    lenient = 0.4 * rng.standard_normal(RATERS)
    cells = [(s, i) for s in range(k) for i in range(SIZE)]
    outputs = pl.DataFrame(
        [{"item": str(i), "system": f"s{s}", "output": f"{i} by {writer[s, i]}"} for s, i in cells]
    )
    own = outputs.with_columns(output=pl.concat_str("output", "system", separator=" for "))
    rows = []
    for s, i in ((s, i) for i in rng.choice(SIZE, n, replace=False) for s in range(k)):
        rater = int(rng.integers(RATERS))
        score = quality[s, i] + lenient[rater] + 0.7 * rng.standard_normal()
        rows.append((str(i), f"s{s}", f"r{rater}", "p", score))
    names = ["item", "system", "rater", "prompt", "score"]
    return outputs, own, pl.DataFrame(rows, schema=names, orient="row"), quality.mean(axis=1)


def errors(outputs, judgments, truth):
    """Squared error of each mean, and whether its interval holds, (k, 2)."""
    found = Study.read(outputs, judgments).estimate()
    each = [found[f"s{number}"] for number in range(len(truth))]
    return [
        ((one.estimate - mean) ** 2, one.low <= mean <= one.high)
        for one, mean in zip(each, truth, strict=True)
    ]


def show(part, *, told, ratio):
    """Print both devices: of texts drawn once the squared error times judgments, of pooled ones the squared error."""
    count = max(round(part * CAMPAIGNS), 8)
    print(
        f"{count} campaigns; drawn once: squared error times judgments paid, over that of judging every output"
    )
    print("| systems | texts in common | n | drawn once | coverage | pooled | coverage |")
    print("|---" * 7 + "|")
    for k, share, n in CELLS:
        found = []
        for run in range(count):
            outputs, own, judgments, truth = campaign(k, share, n, np.random.default_rng([n, run]))
            texts = judgments.join(outputs, on=["item", "system"], maintain_order="left")
            once = texts_once(texts).drop("output")
            apart = np.array(errors(own, judgments, truth))
            drawn, pooled = (np.array(errors(outputs, rows, truth)) for rows in (once, judgments))
            drawn[:, 0] *= once.height / judgments.height
            found.append((drawn, pooled, apart))
        drawn, pooled, apart = np.moveaxis(np.array(found), 1, 0)
        held = [
            f"{100 * apart[..., 1].mean():.1f} to {100 * one[..., 1].mean():.1f}"
            for one in (drawn, pooled)
        ]
        ours = [told(ratio(one[..., 0], apart[..., 0])) for one in (drawn, pooled)]
        print(
            f"| {k} | {share} | {n} | {ours[0]} | {held[0]} | {ours[1]} | {held[1]} |", flush=True
        )
