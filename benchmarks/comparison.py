"""Judgments that a comparison needs for equal error, on the paper's MS MARCO judgments.

    python -m benchmarks.comparison [RUNS]

It needs the paper's released data, ``msmarco.jsonl`` and ``msmarco_texts.jsonl`` in ``../shared/paper``.
The full campaign, all systems with all judgments, is the truth. It is replayed: 100 items, the same
for all systems, one judgment of each output, drawn at random. Figures are mean squared errors relative
to the difference of two plain means on independent items, which is the number of judgments for equal
error, as one device after the other is added: pairing on the same items, identical outputs as exact
zeros, the learned control, raters' leniency. Coverage is of the full campaign's difference by the
95% intervals of `compare` as it is by default.
"""

import json
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.tables import read_judgments, read_outputs

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "paper"
PROMPT = "AnyCorrect"
RUNS, ITEMS = 1000, 100
# What is added from one to the next; the last is the default.
WAYS = {
    "identity": {"metrics": [], "raters_as": "fixed"},
    "metrics": {"raters_as": "fixed"},
    "raters": {},
}


def campaign(folder):
    """Outputs with texts and metrics, and all judgments by (system, item)."""
    texts = {}
    for line in (folder / "msmarco_texts.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts |= {(row["id"], system): row["answer"] for system in row["systems"]}
    outputs, judgments = {}, defaultdict(list)
    for line in (folder / "msmarco.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        key = row["system"], str(row["id"])
        scores = dict(row["prompts"][PROMPT])
        human = scores.pop("human")
        scores.pop("gold")
        if row["system"] == "reference":
            continue
        text = {"item": key[1], "system": key[0], "output": texts[row["id"], row["system"]]}
        outputs.setdefault(key, text | scores)
        judgments[key] += list(zip(row["annotators"], human, strict=True))
    return list(outputs.values()), judgments


def replay(judgments, systems, items, rng):
    """One judgment of each output of some items, as a table."""
    rows = []
    for system in systems:
        for item in rng.choice(items, ITEMS, replace=False) if items.ndim == 1 else items[0]:
            rater, score = judgments[system, item][rng.integers(len(judgments[system, item]))]
            rows.append((item, system, rater, PROMPT, float(score)))
    return pl.DataFrame(rows, schema=["item", "system", "rater", "prompt", "score"], orient="row")


def replayed(seed, runs):
    """Errors and hits of each pair and way, in `runs` replays."""
    rows, judgments = campaign(FOLDER)
    outputs = read_outputs(pl.DataFrame(rows))
    systems = sorted(outputs.systems)
    items = np.array(sorted({row["item"] for row in rows}))
    truth = {
        system: np.mean([np.mean([y for _, y in judgments[system, item]]) for item in items])
        for system in systems
    }
    rng = np.random.default_rng(seed)
    errors, hits, identical = defaultdict(list), defaultdict(list), {}
    for _ in range(runs):
        same = rng.choice(items, ITEMS, replace=False)[np.newaxis]
        study = Study(outputs, read_judgments(replay(judgments, systems, same, rng)))
        apart = replay(judgments, systems, items, rng)
        plain, paired = (
            dict(table.group_by("system").agg(pl.mean("score")).iter_rows())
            for table in (apart, study.judgments.frame)
        )
        for name, options in WAYS.items():
            for one in study.compare(systems=systems, **options)[0].pairs:
                want = truth[one.a] - truth[one.b]
                errors[one.a, one.b, name].append(one.difference - want)
                hits[one.a, one.b, name].append(one.low <= want <= one.high)
                identical[one.a, one.b] = one.identical_items
        for a, b in identical:
            want = truth[a] - truth[b]
            errors[a, b, "unpaired"].append(plain[a] - plain[b] - want)
            errors[a, b, "pairing"].append(paired[a] - paired[b] - want)
    return errors, hits, identical


def main():
    if not (FOLDER / "msmarco_texts.jsonl").exists():
        print("the paper's released data are not beside the project: left out")
        return
    runs = int(sys.argv[1]) if __name__ == "__main__" and sys.argv[1:] else RUNS
    with ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(replayed, range(2), [runs // 2] * 2))
    errors, hits = (
        {key: [*parts[0][n][key], *parts[1][n][key]] for key in parts[0][n]} for n in (0, 1)
    )
    print(f"{runs // 2 * 2} replays{'':26}identical  pairing +{' +'.join(WAYS):30}  coverage")
    for (a, b), identical in parts[0][2].items():
        base = np.mean(np.square(errors[a, b, "unpaired"]))
        ratios = [np.mean(np.square(errors[a, b, name])) / base for name in ("pairing", *WAYS)]
        held = np.mean(hits[a, b, "raters"])
        print(
            f"{a:14} {b:22}{identical:9}", *(f"{ratio:9.2f}" for ratio in ratios), f"{held:12.3f}"
        )


if __name__ == "__main__":
    main()
