"""What each device saves on the paper's campaigns, in judgments for equal error.

    python -m benchmarks.savings [RUNS] [SEED] [CASE] [apart]

It needs the paper's released data in ``../shared/paper``. The full campaign is the truth: all outputs with
all their judgments. It is replayed with three tenths of the items, the same for all systems, and one judgment of each
output, or of each distinct text. A figure is the squared error of all means together, times the
judgments that were paid, both relative to plain means of outputs drawn with replacement: the share of the judgments that is
needed for equal error. Devices are added one after the other. Coverage is of the truth, by 95%
intervals. The last row is the default after a spread draw. Other systems' judgments need systems that are drawn each on its own, where texts cannot be
shared: with "apart" two more rows are such draws, without and with them.

CASE is a part of a case's name, such as Edit. Without it the two main cases are replayed RUNS times, and the other prompts and systems a
tenth as often. Replays of different seeds may be pooled.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

from steelyard import Study
from steelyard.sampling.sample import sample
from steelyard.tables import read_outputs

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "paper"
RUNS, SHARE = 1000, 0.3
# The campaign, its prompt, and the systems whose means count; None for all.
MAIN = {
    "MS MARCO, AnyCorrect, all five": ("msmarco", "AnyCorrect", None),
    "CNN/Daily Mail, Edit, seq2seq": ("cnndm", "hter", ("seq2seq",)),
}
CASES = MAIN | {
    "MS MARCO, AvgCorrect, all five": ("msmarco", "AvgCorrect", None),
    "CNN/Daily Mail, Edit, all five": ("cnndm", "hter", None),
    "CNN/Daily Mail, grammar, all five": ("cnndm", "grammar", None),
    "CNN/Daily Mail, redundancy, all five": ("cnndm", "redundancy", None),
    "CNN/Daily Mail, overall, all five": ("cnndm", "overall", None),
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

    def exactly(self, systems):
        """What draws without replacement, and shared texts on top of it, need exactly; and rater noise as a share of a judgment's variance."""
        size = len(self.items)
        n = round(SHARE * size)
        within, between = 0.0, 0.0
        for system in systems:
            scores = [[score for _, score in self.judgments[item, system]] for item in self.items]
            within += np.mean([np.var(one) for one in scores])
            between += np.var([np.mean(one) for one in scores])
        left = (within + between * (1 - n / size) * size / (size - 1)) / (within + between)
        texts = {(item, self.texts[item, system]) for item, system in self.texts}
        return left, left * len(texts) / len(self.texts), within / (within + between)

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


def replayed(data, systems, runs, *, seed=0, apart=False):
    """Squared errors times judgments, by way, (runs, systems), over what plain means need; and hits."""
    rng = np.random.default_rng(seed)
    errors, hits, paid = defaultdict(list), defaultdict(list), defaultdict(list)
    for _ in range(runs):
        every, once = data.replay(rng)
        plain = dict(every.group_by("system").agg(pl.mean("score")).iter_rows())
        errors["without replacement"].append([plain[one] - data.truth[one] for one in systems])
        paid["without replacement"].append(len(every) / len(data.systems))
        draws = [(once, WAYS), (data.spread(rng), SPREAD)]
        draws += [(data.apart(rng), APART)] if apart else []
        for rows, ways in draws:
            study = Study.read(data.outputs, rows)
            for way, options in ways.items():
                found = study.estimate(**options)
                wanted = [(found[one], data.truth[one]) for one in systems]
                errors[way].append([one.estimate - truth for one, truth in wanted])
                hits[way].append([one.low <= truth <= one.high for one, truth in wanted])
                paid[way].append(len(rows) / len(data.systems))
    n = round(SHARE * len(data.items))
    base = sum(data.plain_error(one, n) for one in systems) * n
    needed = {
        way: np.square(own) * np.array(paid[way])[:, np.newaxis] / base
        for way, own in errors.items()
    }
    return needed, hits


def show(case, runs, *, seed, apart):
    task, prompt, chosen = CASES[case]
    data = Released(task, prompt)
    systems = chosen or data.systems
    left, shared, noise = data.exactly(systems)
    needed, hits = replayed(data, systems, runs, seed=seed, apart=apart)
    print(f"{case}: {runs} replays of seed {seed}, n/N = {SHARE}; plain means with replacement = 1")
    print(
        f"  exactly: without replacement {left:.3f}, and shared texts {shared:.3f}; rater noise is {noise:.2f} of a judgment's variance"
    )
    before = None
    for way, own in needed.items():
        total = own.sum(axis=1)
        # The default after a spread draw is set beside that after a simple one, in other replays.
        step = total - (np.ones(runs) if before is None else before)
        shift = "" if way == next(iter(APART)) else f"{step.mean():+.3f} ± {_doubt(step):.3f}"
        held = f"{np.mean(hits[way]):9.3f}" if way in hits else ""
        print(
            f"  {way:26} {total.mean():6.3f} ± {_doubt(total):.3f} {shift:>16} {held}", flush=True
        )
        before = total
    # Shared texts after a simple draw are known exactly; what the default adds to them varies less.
    taken, texts = (needed[way].sum(axis=1) for way in ("raters' leniency", "shared texts"))
    part = taken.mean() / texts.mean()
    print(
        f"  the default, {part:.3f} times the exact figure of shared texts: {shared * part:.3f} ± "
        f"{shared * _doubt(taken - part * texts) / texts.mean():.3f}"
    )
    taken, control = needed["raters' leniency"], needed["learned control"]
    each = []
    for number, system in enumerate(systems):
        ratio = taken[:, number].mean() / control[:, number].mean()
        doubt = _doubt(taken[:, number] - ratio * control[:, number]) / control[:, number].mean()
        each.append(f"{system} {ratio:.3f} ± {doubt:.3f}")
    print(
        f"  leniency taken out, squared error over that with it left in: {', '.join(each)}",
        flush=True,
    )


def _doubt(values):
    return values.std(ddof=1) / np.sqrt(len(values))


def main(words=()):
    if not (FOLDER / "msmarco_texts.jsonl").exists():
        print("the paper's released data are not beside the project: left out")
        return
    numbers = [int(word) for word in words if word.isdigit()]
    runs, seed = (*numbers, *(RUNS, 0)[len(numbers) :])
    named = [word for word in words if not word.isdigit() and word != "apart"]
    for case in CASES:
        if not named or any(word in case for word in named):
            count = runs if named or case in MAIN else max(runs // 10, 2)
            show(case, count, seed=seed, apart="apart" in words)


if __name__ == "__main__":
    main(sys.argv[1:])
