"""What each device saves on the paper's campaigns, in judgments for equal error.

    python -m benchmarks.savings [RUNS]

It needs the paper's released data in ``../shared/paper``. The full campaign is the truth: all outputs with
all their judgments. It is replayed with three tenths of the items, the same for all systems, and one judgment of each
output, or of each distinct text. A figure is the squared error of all means together, times the
judgments that were paid, both relative to plain means of outputs drawn with replacement: the share of the judgments that is
needed for equal error. Devices are added one after the other. Coverage is of the truth, by 95%
intervals. Other systems' judgments need systems that are drawn each on its own, where texts cannot be
shared: the last two rows are such draws, without and with them. The row before them is the default after a spread draw.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.data import read_outputs
from steelyard.study.sampling import sample

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "paper"
RUNS, SHARE = 1000, 0.3
# The campaign, its prompt, and the systems whose means count; None for all.
CASES = {
    "MS MARCO, AnyCorrect, all five": ("msmarco", "AnyCorrect", None),
    "CNN/Daily Mail, Edit, seq2seq": ("cnndm", "hter", ("seq2seq",)),
}
# What is added to shared texts from one to the next; the last is the default.
WAYS = {
    "shared texts": {"metrics": [], "raters_as": "fixed"},
    "learned control": {"raters_as": "fixed"},
    "raters' leniency": {},
}
# The same, of a draw that is spread over what all metrics have most in common.
SPREAD = {"spread draw": {}}
# Each system drawn on its own.
APART = {
    "drawn apart": {},
    "other systems' judgments": {"other_systems": True},
}
NAMES = ("item", "system", "rater", "prompt", "score")


class Released:
    """A campaign of the paper: outputs, and the judgments of each text."""

    def __init__(self, task, prompt):
        texts = {}
        path = FOLDER / f"{task}_texts.jsonl"
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                texts |= {(str(row["id"]), system): row["answer"] for system in row["systems"]}
        outputs, self.judgments = {}, {}
        for line in (FOLDER / f"{task}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            key = str(row["id"]), row["system"]
            if prompt not in row["prompts"] or key in outputs:
                continue
            scores = dict(row["prompts"][prompt])
            human, _ = scores.pop("human"), scores.pop("gold")
            # Without texts each output is one of its own.
            text = texts.get(key, f"{key[0]} {key[1]}")
            outputs[key] = {"item": key[0], "system": key[1], "output": text} | scores
            self.judgments[key] = list(zip(row["annotators"], human, strict=True))
        self.systems = sorted({system for _, system in outputs})
        items = {item for item, _ in outputs}
        self.items = sorted(
            item for item in items if all((item, one) in outputs for one in self.systems)
        )
        rows = [row for key, row in outputs.items() if key[0] in set(self.items)]
        self.outputs = pl.DataFrame(rows)
        self.pool = read_outputs(self.outputs)
        self.texts = {(row["item"], row["system"]): row["output"] for row in rows}
        means = {key: np.mean([score for _, score in self.judgments[key]]) for key in self.texts}
        self.truth = {
            one: np.mean([means[item, one] for item in self.items]) for one in self.systems
        }

    def plain_error(self, system, n):
        """Squared error of the mean of n judgments, their outputs drawn with replacement."""
        scores = [[score for _, score in self.judgments[item, system]] for item in self.items]
        within = np.mean([np.var(one) for one in scores])
        return (within + np.var([np.mean(one) for one in scores])) / n

    def judged(self, keys, rng):
        """One judgment of each of these outputs, as rows."""
        for item, system in keys:
            known = self.judgments[item, system]
            rater, score = known[rng.integers(len(known))]
            yield item, system, rater, "prompt", float(score)

    def replay(self, rng):
        """The judgments of one draw: of every output, and of every text once."""
        items = rng.choice(self.items, round(SHARE * len(self.items)), replace=False)
        keys = [(item, system) for item in items for system in self.systems]
        once = list(
            {(item, self.texts[item, system]): (item, system) for item, system in keys}.values()
        )
        return self.table(keys, rng), self.table(once, rng)

    def table(self, keys, rng):
        return pl.DataFrame(list(self.judged(keys, rng)), schema=NAMES, orient="row")

    def spread(self, rng):
        """The judgments of every text of a spread draw once, with what the draw recorded."""
        n = round(SHARE * len(self.items))
        drawn = sample(self.pool, n, design="spread", seed=int(rng.integers(2**31))).frame
        keys = list(drawn.select("item", "system").iter_rows())
        recorded = drawn.drop(set(self.outputs.columns) - {"item", "system"})
        return self.table(keys, rng).join(recorded, on=["item", "system"], maintain_order="left")

    def apart(self, rng):
        """The judgments of draws of each system on its own."""
        n = round(SHARE * len(self.items))
        draws = {one: rng.choice(self.items, n, replace=False) for one in self.systems}
        return self.table([(item, one) for one, items in draws.items() for item in items], rng)


def replayed(case, runs, seed=0):
    """Errors, coverage and judgments of each way, by system."""
    task, prompt, chosen = CASES[case]
    data = Released(task, prompt)
    rng = np.random.default_rng(seed)
    errors, hits, paid = defaultdict(list), defaultdict(list), defaultdict(list)
    systems = chosen or data.systems
    for _ in range(runs):
        every, once = data.replay(rng)
        plain = dict(every.group_by("system").agg(pl.mean("score")).iter_rows())
        errors["without replacement"].append([plain[one] - data.truth[one] for one in systems])
        paid["without replacement"].append(len(every) / len(data.systems) * len(systems))
        for rows, ways in ((once, WAYS), (data.spread(rng), SPREAD), (data.apart(rng), APART)):
            study = Study.read(data.outputs, rows)
            for way, options in ways.items():
                found = study.estimate(**options)
                wanted = [(found[one], data.truth[one]) for one in systems]
                errors[way].append([one.estimate - truth for one, truth in wanted])
                hits[way].append([one.low <= truth <= one.high for one, truth in wanted])
                paid[way].append(len(rows) / len(data.systems) * len(systems))
    n = round(SHARE * len(data.items))
    base = sum(data.plain_error(one, n) for one in systems) * n * len(systems)
    return errors, hits, paid, base


def main():
    if not (FOLDER / "msmarco_texts.jsonl").exists():
        print("the paper's released data are not beside the project: left out")
        return
    runs = int(sys.argv[1]) if __name__ == "__main__" and sys.argv[1:] else RUNS
    for case in CASES:
        errors, hits, paid, base = replayed(case, runs)
        print(f"{case}: {runs} replays, n/N = {SHARE}; plain means with replacement = 1")
        before = 1.0
        for way, own in errors.items():
            squares = np.square(own).sum(axis=1) * np.array(paid[way])
            needed, doubt = squares.mean() / base, squares.std() / np.sqrt(runs) / base
            held = f"{np.mean(hits[way]):9.3f}" if way in hits else ""
            step = "" if way == next(iter(APART)) else f"{needed - before:+.3f}"
            print(f"  {way:26} {needed:6.3f} ± {doubt:.3f} {step:>8} {held}")
            before = needed


if __name__ == "__main__":
    main()
