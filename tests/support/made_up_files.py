"""The small files that the commands of the documentation speak of, made up from a seed."""

import csv
import json
import random
import shutil
from pathlib import Path

from spreadsheets import write_xlsx

_EXAMPLES = Path(__file__).parents[2] / "src" / "steelyard" / "collect" / "examples"
_QUALITY = {"new": 0.3, "old": 0.0, "base": -0.2}
_TOPICS = ("mail", "news", "web")
_WORDS = ("bad", "ok", "good")
_RATERS = [f"r{n}" for n in range(8)]
_ITEMS = 400


def write_files(folder):
    """Write every file that README, tutorial or how-to guides name, and return nothing."""
    rng = random.Random(1)
    outputs = [_output(rng, n, system) for n in range(_ITEMS) for system in _QUALITY]
    judgments = [one for row in outputs[: 3 * 60] for one in _judgments(rng, row)]
    for name in (".", "evaluation"):
        (folder / name).mkdir(exist_ok=True)
        write_lines(folder / name / "outputs.jsonl", outputs)
        write_lines(folder / name / "judgments.jsonl", judgments)
    write_lines(folder / "pilot.jsonl", judgments)
    _write_earlier(folder / "october")
    _write_weeks(folder / "weeks")
    texts = [
        {key: row[key] for key in ("item", "system", "output", "reference")} for row in outputs
    ]
    write_lines(folder / "texts.jsonl", texts[:120])
    write_lines(
        folder / "judged.jsonl", [{**row, "judge.fluency": row["rouge-l"]} for row in outputs]
    )
    (folder / "mix.json").write_text('{"mail": 0.6, "news": 0.1, "web": 0.3}')
    _write_tables(folder, outputs, [row for row in judgments if row["prompt"] == "overall"])
    _write_preferences(folder, rng)
    _write_wide_sheet(folder / "ratings.xlsx", rng)
    _write_logs(folder / "logs", rng)
    _write_example(folder / "language-quality", rng)


def _write_earlier(folder):
    """Write an earlier version, judged on the first items."""
    rng = random.Random(2)
    folder.mkdir(exist_ok=True)
    outputs = [_output(rng, n, "new") for n in range(_ITEMS)]
    write_lines(folder / "outputs.jsonl", outputs)
    write_lines(
        folder / "judgments.jsonl", [one for row in outputs[:60] for one in _judgments(rng, row)]
    )


def _write_weeks(folder):
    """Write the files of two weeks."""
    rng = random.Random(3)
    folder.mkdir(exist_ok=True)
    for week in ("2026-10-29", "2026-11-05"):
        outputs = [_output(rng, n, "new") | {"item": f"{week}-{n}"} for n in range(60)]
        outputs = [row | {"judge": row["bleu"]} for row in outputs]
        judgments = [one for row in outputs[:20] for one in _judgments(rng, row)]
        write_lines(folder / f"{week}-outputs.jsonl", outputs)
        write_lines(folder / f"{week}-judgments.jsonl", judgments)


def write_lines(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _output(rng, n, system):
    quality = rng.gauss(0, 1)
    return {
        "item": f"i{n:03}",
        "system": system,
        "input": f"Question {n}?",
        "output": f"The {system} answer to question {n} is {rng.randrange(9)}.",
        "reference": f"The answer to question {n} is {rng.randrange(9)}.",
        "topic": _TOPICS[n % 3],
        "document": f"d{n // 4}",
        "length": 10 + n % 50,
        "rouge-l": round(quality + 0.5 * rng.gauss(0, 1), 4),
        "bleu": round(quality + rng.gauss(0, 1), 4),
        "expected_error": round(0.1 + rng.random(), 4),
    }


def _judgments(rng, row):
    liking = _QUALITY[row["system"]] + row["rouge-l"] / 2
    for rater in rng.sample(_RATERS, 2):
        for prompt in ("overall", "fluency", "correct"):
            score = liking + rng.gauss(0, 0.7)
            yield {
                "item": row["item"],
                "system": row["system"],
                "rater": rater,
                "prompt": prompt,
                "score": int(score > 0) if prompt == "correct" else round(score, 3),
            }


def _write_tables(folder, outputs, judgments):
    """Write the same campaign with other separators and names of columns."""
    metrics = ("item", "system", "bleu")
    pool = [{key: row[key] for key in metrics} for row in outputs]
    scores = [{key: row[key] for key in ("item", "system", "rater", "score")} for row in judgments]
    write_table(folder / "outputs.csv", pool)
    write_table(folder / "semicolons.csv", _with_commas(pool), ";")
    write_table(folder / "ratings.csv", _with_commas(scores), ";")
    words = ("good", "ok", "bad", "4/5")
    worded = [row | {"score": words[number % 4]} for number, row in enumerate(scores[::3])]
    write_table(folder / "words.csv", worded)
    write_table(folder / "documents.csv", _renamed(pool, item="doc_id"))
    write_table(folder / "votes.csv", _renamed(scores, item="doc_id", score="rating"))
    answers = [
        {
            "item": row["item"],
            "system": row["system"],
            "answer": row["output"],
            "gold": row["reference"],
        }
        for row in outputs[:90]
    ]
    write_table(folder / "answers.csv", answers)


def write_table(path, rows, separator=","):
    """Write rows as a table of texts."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


def _with_commas(rows):
    return [
        {
            key: str(value).replace(".", ",") if isinstance(value, float) else value
            for key, value in row.items()
        }
        for row in rows
    ]


def _renamed(rows, **names):
    return [{names.get(key, key): value for key, value in row.items()} for row in rows]


def _write_wide_sheet(path, rng):
    """Write one row per item: a text of each system, and a word of each rater about each text."""
    raters = ("ann", "bob", "cyd")
    header = [
        "doc",
        "alpha",
        "beta",
        *(f"{rater}_{system}" for rater in raters for system in ("alpha", "beta")),
    ]
    rows = [header]
    for n in range(80):
        liking = [rng.random(), 0.7 * rng.random()]
        words = [
            _WORDS[round(2 * (0.6 * one + 0.4 * rng.random()))] if n < 50 else None
            for _ in raters
            for one in liking
        ]
        rows.append([f"d{n}", f"Alpha's text {n}.", f"Beta's text {n}.", *words])
    write_xlsx(path, {"ratings": rows})


def _write_logs(folder, rng):
    """Write two logs of Inspect AI in which two people changed or confirmed scores."""
    folder.mkdir()
    for system, share in (("alpha", 0.8), ("beta", 0.5)):
        samples = [_sample(rng, n, system, share) for n in range(80)]
        log = {
            "version": 2,
            "status": "success",
            "eval": {"task": "quiz", "model": f"lab/{system}"},
            "samples": samples,
        }
        (folder / f"{system}.json").write_text(json.dumps(log))


def _sample(rng, n, system, share):
    right = rng.random() < share
    found = right if rng.random() < 0.8 else not right
    values = ["C" if value else "I" for value in (found, right)]
    score = {"value": values[0]}
    if n % 2 == 0:
        said = {"author": ("ann", "bob")[n % 4 // 2], "timestamp": "2026-11-16T10:00:00Z"}
        score = {
            "value": values[1],
            "history": [{"value": values[0]}, {"value": values[1], "provenance": said}],
        }
    return {
        "id": f"q{n}",
        "epoch": 1,
        "input": f"Question {n}?",
        "target": f"Answer {n}.",
        "output": {"completion": f"{system} says {n}."},
        "scores": {"match": score},
    }


def _write_example(folder, rng):
    """Copy the pool of an example that `serve` brings, and make up what raters said about it."""
    folder.mkdir()
    shutil.copy(_EXAMPLES / "language-quality" / "outputs.jsonl", folder)
    lines = (folder / "outputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    judgments = [
        {
            "item": row["item"],
            "system": row["system"],
            "rater": rater,
            "prompt": "overall",
            "score": rng.choice([-1, 0, 1]),
        }
        for row in rows
        for rater in rng.sample(_RATERS, 2)
        if rng.random() < 0.5
    ]
    write_lines(folder / "judgments.jsonl", judgments)


def _write_preferences(folder, rng):
    """Write which of two outputs people preferred."""
    pairs = [("new", "old"), ("new", "base"), ("old", "base")]
    rows = [
        {
            "item": f"i{n:03}",
            "system": first,
            "other_system": second,
            "rater": rng.choice(_RATERS),
            "prompt": "better",
            "score": rng.choice([1, 1, 0.5, 0]),
            "first_system": rng.choice([first, second]),
        }
        for n in range(60)
        for first, second in pairs
    ]
    write_table(folder / "preferences.csv", rows)
