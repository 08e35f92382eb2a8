"""Answers of one source tree to campaigns: a process that reads pickles and writes pickles.

It runs with that tree's ``src`` as PYTHONPATH and uses nothing of this repository but what lies there, through the
public interface with all defaults.
"""

import os
import pickle
import sys
import time
import warnings
from itertools import combinations

import numpy as np
import polars as pl

import steelyard
from steelyard import Study
from steelyard.errors import SteelyardError

_PROMPT = "overall"


def tables(campaign):
    """Outputs and judgments of a campaign as people bring them."""
    metrics, texts = campaign["metrics"], campaign["texts"]
    k, size, p = metrics.shape
    system, item = names("s", k), names("i", size)
    columns = {"item": np.tile(item, k), "system": np.repeat(system, size)}
    if texts is not None:
        columns["output"] = texts.ravel()
    elif p == 0:
        # Outputs without metrics must have texts: here no two are alike.
        letters = np.random.default_rng(0).integers(97, 123, (k * size, 20), dtype=np.uint32)
        columns["output"] = letters.view("U20").ravel()
    columns |= {f"m{j}": metrics[..., j].ravel() for j in range(p)}
    outputs = pl.DataFrame(columns)
    judged = {"item": item[campaign["item"]], "system": system[campaign["system"]]}
    if campaign["rater"] is not None:
        judged["rater"] = names("r", campaign["rater"].max() + 1)[campaign["rater"]]
    judgments = pl.DataFrame(judged | {"prompt": _PROMPT, "score": campaign["score"]})
    return outputs, judgments


def names(letter, count):
    """Names that sort as their numbers do."""
    return np.array([f"{letter}{number:0{len(str(count))}}" for number in range(count)])


def answer(campaign):
    """Means and differences as arrays, NaN where there is none, with the reasons of refusals."""
    outputs, judgments = tables(campaign)
    k = len(campaign["metrics"])
    means, differences = np.full((k, 4), np.nan), np.full((k * (k - 1) // 2, 6), np.nan)
    refused = []
    start = time.process_time()
    for part in (estimated, compared) if campaign["compare"] else (estimated,):
        try:
            found = means if part is estimated else differences
            part(Study.read(outputs, judgments), k, found, campaign["level"])
        except SteelyardError as error:
            refused.append(str(error))
    return {
        "means": means,
        "differences": differences,
        "refused": refused,
        "seconds": time.process_time() - start,
    }


def estimated(study, k, means, level):
    """Put estimate, low, high and standard error into the row of each system."""
    code = {name: number for number, name in enumerate(names("s", k))}
    for one in study.estimate(level=level):
        means[code[one.system]] = one.estimate, one.low, one.high, one.standard_error


def compared(study, k, differences, level):
    """Put difference, ends, simultaneous ends and verdict into the row of each pair."""
    code = {name: number for number, name in enumerate(names("s", k))}
    row = {pair: number for number, pair in enumerate(combinations(range(k), 2))}
    for one in study.compare(level=level)[0].pairs:
        a, b = code[one.a], code[one.b]
        verdict = {"a": 1, "b": -1}.get(one.verdict, 0)
        difference = one.difference
        ends = one.low, one.high, one.simultaneous_low, one.simultaneous_high
        if a > b:
            low, high, lowest, highest = ends
            ends = -high, -low, -highest, -lowest
            difference, verdict = -difference, -verdict
        differences[row[min(a, b), max(a, b)]] = difference, *ends, verdict


def main():
    # What a tree prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    pickle.dump(steelyard.__file__, answers)
    answers.flush()
    while True:
        try:
            campaign = pickle.load(sys.stdin.buffer)  # noqa: S301
        except EOFError:
            return
        pickle.dump(answer(campaign), answers)
        answers.flush()


if __name__ == "__main__":
    main()
