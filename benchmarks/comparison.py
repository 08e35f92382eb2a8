"""Judgments that a comparison needs for equal error, on the paper's MS MARCO judgments.

    python -m benchmarks.comparison [FOLDER]

FOLDER holds the paper's released data, ``msmarco.jsonl`` and ``msmarco_texts.jsonl``; by default
``../shared/paper``. The full campaign, all systems with all judgments, is the truth. It is replayed: 100
items, the same for all systems, one judgment of each output, drawn at random. Figures are mean
squared errors relative to the difference of two plain means on independent items, which is the
number of judgments for equal error; and how often 95% intervals hold the full campaign's difference.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.data import read_judgments, read_outputs

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "paper"
PROMPT = "AnyCorrect"
PAIRS = (("snet.single", "snet.ensemble"), ("fastqa", "fastqa_ext"), ("fastqa", "snet.ensemble"))
RUNS, ITEMS = 300, 100


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


def main():
    given = sys.argv[1:] if __name__ == "__main__" else []
    folder = Path(given[0]) if given else FOLDER
    if not (folder / "msmarco_texts.jsonl").exists():
        print(f"the paper's released data are not in {folder}: name their folder")
        return
    rows, judgments = campaign(folder)
    outputs = read_outputs(pl.DataFrame(rows))
    systems = outputs.systems
    items = np.array(sorted({row["item"] for row in rows}))
    truth = {
        system: np.mean([np.mean([y for _, y in judgments[system, item]]) for item in items])
        for system in systems
    }
    rng = np.random.default_rng(0)
    errors, hits = defaultdict(list), defaultdict(list)
    ways = {"all": {}, "no metric": {"metrics": []}, "fixed raters": {"raters_as": "fixed"}}
    for _ in range(RUNS):
        same = rng.choice(items, ITEMS, replace=False)[np.newaxis]
        study = Study(outputs, read_judgments(replay(judgments, systems, same, rng)))
        apart = replay(judgments, systems, items, rng).group_by("system").agg(pl.mean("score"))
        plain = dict(apart.iter_rows())
        paired = study.judgments.frame.group_by("system").agg(pl.mean("score"))
        paired = dict(paired.iter_rows())
        found = {name: study.compare(**options)[0].pairs for name, options in ways.items()}
        for a, b in PAIRS:
            want = truth[a] - truth[b]
            errors[a, b, "unpaired"].append(plain[a] - plain[b] - want)
            errors[a, b, "paired"].append(paired[a] - paired[b] - want)
            for name, pairs in found.items():
                [one] = [pair for pair in pairs if {pair.a, pair.b} == {a, b}]
                sign = 1 if one.a == a else -1
                errors[a, b, name].append(sign * one.difference - want)
                hits[a, b, name].append(one.low <= sign * want <= one.high)
                identical = one.identical_items
            hits[a, b, "identical"] = identical
    for a, b in PAIRS:
        base = np.mean(np.square(errors[a, b, "unpaired"]))
        print(f"{a} against {b}: {hits[a, b, 'identical']} of {len(items)} outputs identical")
        for name in ("unpaired", "paired", *ways):
            ratio = np.mean(np.square(errors[a, b, name])) / base
            held = f"  coverage {np.mean(hits[a, b, name]):.3f}" if name in ways else ""
            print(f"  {name:<14}{ratio:6.2f}{held}")


if __name__ == "__main__":
    main()
