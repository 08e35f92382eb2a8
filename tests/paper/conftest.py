"""A small release in the released form, with results computed apart from the package."""

import json
from pathlib import Path

import numpy as np
import pytest

from steelyard.paper import read_release, reproduce

SYSTEMS = {
    "msmarco": ("fastqa", "fastqa_ext", "snet.single", "snet.ensemble"),
    "cnndm": ("seq2seq", "pointer", "ml", "ml+rl"),
}
PROMPTS = {
    "msmarco": ("AnyCorrect", "AvgCorrect"),
    "cnndm": ("grammar", "hter", "overall", "redundancy"),
}
METRICS = ("bleu", "meteor", "rouge-1", "rouge-2", "rouge-l", "sim", "ter")
ITEMS = 60


def made_lines(task, rng):
    """Outputs of four systems and references; the first two systems often give one answer."""
    lines = []
    for item in range(ITEMS):
        quality = rng.normal()
        first = None
        for place, system in enumerate((*SYSTEMS[task], "reference")):
            if task == "msmarco" and place == 1 and item % 3 == 0:
                lines.append(first | {"system": system})
                continue
            score = 0.7 * quality + 0.2 * place + 0.6 * rng.normal()
            raters = [f"w{number:03}" for number in rng.choice(20, size=2 + (item % 4 == 0))]
            while len(set(raters)) < len(raters):
                raters = [f"w{number:03}" for number in rng.choice(20, size=len(raters))]
            metrics = made_metrics(score, rng, reference=system == "reference")
            prompts = {}
            for prompt in PROMPTS[task]:
                human = made_judgments(task, prompt, score, len(raters), rng)
                prompts[prompt] = {"human": human, "gold": float(np.mean(human)), **metrics}
            item_id = item if task == "msmarco" else f"{item:06}"
            first = {"annotators": raters, "id": item_id, "prompts": prompts, "system": system}
            lines.append(first)
    return lines


def made_metrics(score, rng, *, reference):
    if reference:
        return dict.fromkeys(METRICS[:-1], 1.0) | {"ter": 0.0}
    found = {
        name: float(np.clip(0.5 + 0.15 * score + 0.2 * rng.normal(), 0.01, 0.99))
        for name in METRICS[:-1]
    }
    return found | {"ter": float(1 - 0.3 * score + 0.3 * rng.normal())}


def made_judgments(task, prompt, score, size, rng):
    noisy = score + 0.7 * rng.normal(size=size)
    if task == "msmarco" and prompt == "AnyCorrect":
        return [float(value > 0) for value in noisy]
    if prompt == "hter":
        return [float(np.round(max(0.4 - 0.3 * value, 0.0), 6)) for value in noisy]
    return [float(np.clip(np.round(value), -1, 1)) for value in noisy]


def published(task, lines, rng):
    """Return results by formulas that are written out here once more."""
    return {
        "gamma": {
            system: {prompt: gamma(lines, system, prompt) for prompt in PROMPTS[task]}
            for system in (*SYSTEMS[task], "reference")
        },
        "correlation": {
            prompt: {
                metric: {
                    system: rho(lines, system, prompt, metric) for system in (*SYSTEMS[task], "*")
                }
                for metric in METRICS
            }
            for prompt in PROMPTS[task]
        },
        "bias": bias(task, lines),
        "table": table(task, rng, low=1.0),
        "table_gold": table(task, rng, low=1.2),
    }


def judged(lines, system, prompt):
    return [line["prompts"][prompt] for line in lines if system == "*" or line["system"] == system]


def gamma(lines, system, prompt):
    rows = [row["human"] for row in judged(lines, system, prompt)]
    within = sum(sum((y - np.mean(row)) ** 2 for y in row) for row in rows)
    rater = within / (sum(map(len, rows)) - len(rows))
    means = [np.mean(row) for row in rows]
    item = sum((mean - np.mean(means)) ** 2 for mean in means) / (len(means) - 1)
    return {"sigma2_a": rater, "sigma2_f": item, "nu": rater / item}


def rho(lines, system, prompt, metric):
    rows = judged(lines, system, prompt)
    every = [y for row in rows for y in row["human"]]
    item = np.var(every, ddof=1) - gamma(lines, system, prompt)["sigma2_a"]
    gold = np.array([row["gold"] for row in rows])
    scores = np.array([row[metric] for row in rows])
    return float(np.cov(gold, scores, ddof=0)[0, 1] / np.sqrt(item * np.var(scores, ddof=1)))


def bias(task, lines):
    prompt = {"msmarco": "AnyCorrect", "cnndm": "overall"}[task]
    pairs = {
        (line["id"], line["system"]): (
            line["prompts"][prompt]["gold"],
            line["prompts"][prompt]["rouge-l"],
        )
        for line in lines
        if line["system"] != "reference"
    }
    mean = np.mean([metric for _, metric in pairs.values()])
    rows = []
    for system in SYSTEMS[task]:
        mine = {item: pair for (item, name), pair in pairs.items() if name == system}
        for condition in ("", "ll", "lr", "ul", "ur"):
            taken = [
                replaced(pairs, task, item, own=own, mean=mean, condition=condition)
                for item, own in mine.items()
            ]
            human, metric = np.mean(taken, axis=0)
            name = f"{system}-{condition}" if condition else system
            rows.append([name, human, human + 0.1, human - 0.1, metric, metric + 0.1, metric - 0.1])
    return rows


def replaced(pairs, task, item, *, own, mean, condition):
    others = [pairs[item, name] for name in SYSTEMS[task] if (item, name) in pairs]
    if own[1] >= mean or condition in ("", "ul"):
        return own
    if condition == "lr":
        return min([pair for pair in others if pair[1] < mean and pair[0] > own[0]], default=own)
    if condition == "ll":
        return max([pair for pair in others if pair[1] < mean and pair[0] < own[0]], default=own)
    return min([pair for pair in others if pair[1] > mean], default=own)


def table(task, rng, *, low):
    return {
        metric: {
            prompt: {system: float(low + 0.05 * rng.random()) for system in SYSTEMS[task]}
            for prompt in PROMPTS[task]
        }
        for metric in (*METRICS, "gold")
    }


def made_texts(lines):
    """Texts of all answers; lines with the same judgments and metrics are the same answer."""
    texts = {}
    for line in lines:
        key = json.dumps([line["id"], line["prompts"], line["annotators"]])
        text = texts.setdefault(
            key,
            {
                "id": line["id"],
                "systems": [],
                "query": f"question {line['id']}",
                "answer": f"answer {len(texts)}",
            },
        )
        text["systems"].append(line["system"])
    return list(texts.values())


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_release(folder, *, seed=0):
    """Write all four files; one output of CNN/Daily Mail is judged twice over."""
    rng = np.random.default_rng(seed)
    results = {}
    for task in SYSTEMS:
        lines = made_lines(task, rng)
        if task == "cnndm":
            again = dict(lines[3], annotators=["w900", "w901"])
            again["prompts"] = {
                prompt: found
                | {"human": found["human"][:2], "gold": float(np.mean(found["human"][:2]))}
                for prompt, found in again["prompts"].items()
            }
            lines.append(again)
        else:
            write_lines(folder / "msmarco_texts.jsonl", made_texts(lines))
        write_lines(folder / f"{task}.jsonl", lines)
        results[task] = published(task, lines, rng)
    (folder / "published.json").write_text(json.dumps(results))
    return folder


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """A whole release; not to be changed."""
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def release(directory):
    return read_release(directory)


@pytest.fixture(scope="session")
def found(release):
    """All that comes out of it, with few draws."""
    return reproduce(release, draws=100, seed=1)


@pytest.fixture(scope="session")
def released_data():
    """The authors' own data, where they lie beside the repository."""
    path = Path(__file__).parents[3] / "shared" / "paper"
    if not (path / "msmarco.jsonl").exists():
        pytest.skip("the released data are not at ../shared/paper beside the repository")
    return path
