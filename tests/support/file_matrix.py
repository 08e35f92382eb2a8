"""Files as people have them: each kind is made from one campaign, with the numbers that must come out.

``python tests/support/file_matrix.py FOLDER`` writes all of them.
"""

import gzip
import json
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from spreadsheets import write_xlsx

__all__ = ["CASES", "Case"]

SYSTEMS = {"base": 0.0, "new": 0.6}


@dataclass(frozen=True)
class Case:
    """Files, and what must come of them.

    Attributes
    ----------
    files : tuple of Path
        The files.
    scores : DataFrame
        The judgments that must be read: system and score.
    pool : int
        Outputs of each system.
    metrics : tuple of str or None
        The metrics that must be used; None where that does not matter.
    said : str
        A word of the notes or problems.
    refused : str
        Words of the one line that refuses the files as they are.
    mended : callable, optional
        Makes the files that the line asks for, in their place.
    answers : dict
        What a user puts for parts of a command, such as the worth of words.
    best : str
        The system that must be ranked first.
    """

    files: tuple[Path, ...]
    scores: pd.DataFrame
    pool: int = 60
    metrics: tuple[str, ...] | None = None
    said: str = ""
    refused: str = ""
    mended: Callable[[], None] | None = None
    answers: dict[str, str] = field(default_factory=dict)
    best: str = ""


def campaign(seed=0):
    """Return the outputs, with metric bleu, and one judgment of a random half of them."""
    rng = np.random.default_rng(seed)
    keys = [(f"i{n:02}", system) for system in SYSTEMS for n in range(60)]
    quality = np.array([SYSTEMS[system] for _, system in keys]) + rng.normal(size=120)
    outputs = pd.DataFrame(keys, columns=["item", "system"])
    outputs["output"] = [f"Text of {system} for {item}." for item, system in keys]
    outputs["bleu"] = np.round(quality + rng.normal(size=120), 3)
    drawn = np.sort(np.concatenate([rng.choice(60, 30, replace=False) + 60 * k for k in (0, 1)]))
    judged = outputs.loc[drawn, ["item", "system"]].reset_index(drop=True)
    judged["rater"] = [f"r{n}" for n in rng.integers(0, 6, 60)]
    judged["prompt"] = "quality"
    judged["score"] = np.clip(
        np.round(3 + quality[drawn] + 0.7 * rng.normal(size=60)), 1, 5
    ).astype(int)
    return outputs, judged


def _both(folder, outputs=None, judged=None, ending="csv", **kwargs):
    """Write two CSV files; return the case."""
    o, j = campaign()
    o, j = (o if outputs is None else outputs), (j if judged is None else judged)
    paths = folder / f"outputs.{ending}", folder / f"judgments.{ending}"
    for frame, path in zip((o, j), paths, strict=True):
        frame.to_csv(path, index=False, **kwargs)
    return Case(paths, j, metrics=("bleu",))


def separated(mark, decimal="."):
    def make(folder):
        _, judged = campaign()
        judged["score"] = judged["score"] / 2
        return _both(folder, judged=judged, sep=mark, decimal=decimal)

    return make


def encoded(encoding):
    def make(folder):
        outputs, judged = campaign()
        outputs["output"] = "Größe " + outputs["output"]
        judged["system"] = judged["system"].replace("new", "größer")
        outputs["system"] = outputs["system"].replace("new", "größer")
        case = _both(folder, outputs, judged, encoding=encoding)
        if encoding != "latin-1":
            return case
        return replace(case, refused="not UTF-8", mended=lambda: _both(folder, outputs, judged))

    return make


def old_mac(folder):
    return _both(folder, lineterminator="\r")


def zipped(folder):
    case = _both(folder)
    packed = []
    for path in case.files:
        packed.append(path.with_suffix(".csv.gz"))
        packed[-1].write_bytes(gzip.compress(path.read_bytes()))
    return replace(case, files=tuple(packed))


def parquet(folder):
    outputs, judged = campaign()
    paths = folder / "o.parquet", folder / "j.parquet"
    outputs.to_parquet(paths[0])
    judged.to_parquet(paths[1])
    return Case(paths, judged, metrics=("bleu",))


def excel(folder):
    sheets = {
        name: [list(frame), *frame.astype(object).to_numpy().tolist()]
        for name, frame in zip(("pool", "votes"), campaign(), strict=True)
    }
    return Case((write_xlsx(folder / "book.xlsx", sheets),), campaign()[1], metrics=("bleu",))


def json_lines(folder):
    return _json(folder, lambda rows: "".join(json.dumps(row) + "\n" for row in rows), "jsonl")


def json_array(folder):
    return _json(folder, json.dumps, "json")


def json_inside(folder):
    return _json(folder, lambda rows: json.dumps({"version": 1, "data": {"rows": rows}}), "json")


def _json(folder, written, ending):
    outputs, judged = campaign()
    paths = folder / f"o.{ending}", folder / f"j.{ending}"
    for path, frame in zip(paths, (outputs, judged), strict=True):
        path.write_text(written(frame.to_dict("records")))
    return Case(paths, judged, metrics=("bleu",))


def json_nested(folder):
    outputs, judged = campaign()
    rows = [
        {
            "item": r["item"],
            "system": r["system"],
            "output": r["output"],
            "metrics": {"bleu": r["bleu"]},
        }
        for r in outputs.to_dict("records")
    ]
    votes = [
        {
            "about": {"item": r["item"], "system": r["system"]},
            "rater": r["rater"],
            "score": r["score"],
        }
        for r in judged.to_dict("records")
    ]
    paths = folder / "o.json", folder / "j.json"
    for path, records in zip(paths, (rows, votes), strict=True):
        path.write_text(json.dumps(records))
    return Case(paths, judged, metrics=("metrics.bleu",))


def headerless(folder):
    _, judged = campaign()
    case = _both(folder)
    judged.to_csv(case.files[1], index=False, header=False)
    return replace(
        case,
        refused="expected the names of the columns",
        mended=lambda: judged.to_csv(case.files[1], index=False),
    )


def percent(folder):
    _, judged = campaign()
    shown = judged.assign(score=(judged["score"] * 20).astype(str) + "%")
    case = _both(folder, judged=shown)
    return replace(case, scores=judged.assign(score=judged["score"] * 20))


def words(folder):
    _, judged = campaign()
    names = {1: "bad", 2: "poor", 3: "ok", 4: "good", 5: "great"}
    case = _both(folder, judged=judged.assign(score=judged["score"].map(names)))
    answers = {f"{word}=?": f"{word}={worth}" for worth, word in names.items()}
    return replace(case, scores=judged, answers=answers)


def other_names(folder):
    outputs, judged = campaign()
    case = _both(
        folder,
        outputs.rename(columns={"item": "Doc ID", "system": "model", "output": "completion"}),
        judged.rename(
            columns={"item": "doc_id", "system": "Model", "rater": "Annotator", "score": "rating"}
        ),
    )
    return replace(case, scores=judged)


def blank_scores(folder):
    outputs, judged = campaign()
    rest = outputs[["item", "system"]].merge(judged[["item", "system"]], indicator=True, how="left")
    rest = rest[rest["_merge"] == "left_only"].head(7)[["item", "system"]]
    more = pd.concat([judged, rest.assign(rater="r0", prompt="quality", score=None)])
    case = _both(folder, outputs, more)
    return replace(case, scores=judged, said="7 of 67 rows are left out: their score is blank")


def sparse(folder):
    outputs, judged = campaign()
    table = outputs.merge(judged.drop(columns=["rater", "prompt"]), how="left")
    table = table.rename(columns={"score": "human_score"})
    table.to_csv(folder / "table.csv", index=False)
    return Case((folder / "table.csv",), judged, metrics=("bleu",), said="filled on 60 of 120 rows")


def sparse_score(folder):
    outputs, judged = campaign()
    table = outputs.merge(judged.drop(columns=["rater", "prompt"]), how="left")
    table.to_csv(folder / "table.csv", index=False)
    return Case((folder / "table.csv",), judged, metrics=("bleu",))


def doubtful_commas(folder):
    _, judged = campaign()
    shown = judged.assign(score=judged["score"].map(lambda score: f"{score},500"))
    case = _both(folder, judged=shown, sep=";")
    return replace(case, scores=judged.assign(score=judged["score"] + 0.5))


def sparse_words(folder):
    outputs, judged = campaign()
    names = {1: "bad", 2: "poor", 3: "ok", 4: "good", 5: "great"}
    table = outputs.merge(judged.drop(columns=["rater", "prompt"]), how="left")
    table["human_score"] = table.pop("score").map(names)
    table.to_csv(folder / "words.csv", index=False)
    answers = {f"{word}=?": f"{word}={worth}" for worth, word in names.items()}
    return Case((folder / "words.csv",), judged, metrics=("bleu",), answers=answers)


def joined(folder):
    outputs, judged = campaign()
    table = outputs.merge(judged, how="left")
    table.to_csv(folder / "joined.csv", index=False)
    return Case((folder / "joined.csv",), judged, metrics=("bleu",))


def raters_in_columns(folder):
    outputs, _ = campaign()
    rng = np.random.default_rng(1)
    table = outputs.copy()
    rows = []
    for rater in ("rater1", "rater2", "rater3"):
        drawn = rng.choice(120, 40, replace=False)
        table[rater] = pd.Series(rng.integers(1, 6, 40), index=drawn)
        rows.append(table.loc[drawn, ["item", "system", rater]].rename(columns={rater: "score"}))
    table.to_csv(folder / "raters.csv", index=False)
    return Case((folder / "raters.csv",), pd.concat(rows), metrics=("bleu",))


def truescore(folder):
    rng = np.random.default_rng(2)
    gold = pd.Series(rng.integers(0, 2, 200).astype(float))
    judge = gold * 0.4 + rng.random(200)
    gold[rng.random(200) < 0.6] = np.nan
    table = pd.DataFrame({"judge_score": judge.round(3), "gold": gold})
    table.to_csv(folder / "truescore.csv", index=False)
    scores = pd.DataFrame({"system": "truescore", "score": gold.dropna()})
    return Case((folder / "truescore.csv",), scores, pool=200, metrics=("judge_score",))


def wide_scores(folder):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"item": [f"i{n:02}" for n in range(60)]})
    rows = []
    for system in ("A", "B"):
        table[system] = [f"text {system} {n}" for n in range(60)]
    for rater in ("ann", "bob"):
        for system in ("A", "B"):
            table[f"{rater}_{system}"] = rng.integers(1, 6, 60)
            rows.append(pd.DataFrame({"system": system, "score": table[f"{rater}_{system}"]}))
    table.to_csv(folder / "wide.csv", index=False)
    return Case((folder / "wide.csv",), pd.concat(rows))


def texts(value):
    def make(folder):
        outputs, judged = campaign()
        outputs.loc[outputs["item"] < "i20", "output"] = value
        case = _both(folder, outputs, judged)
        return replace(case, said="outputs that are no text")

    return make


def texts_of_items(folder):
    outputs, judged = campaign()
    outputs["output"] = outputs["item"]
    return replace(_both(folder, outputs, judged), said="outputs that are no text")


def no_texts(folder):
    return _both(folder, campaign()[0].drop(columns="output"))


def leak(made):
    def make(folder):
        outputs, judged = campaign()
        rng = np.random.default_rng(4)
        # two judgments of each judged output, so that people are known to differ
        second = judged.assign(rater=judged["rater"].str.replace("r", "s"))
        second["score"] = np.clip(judged["score"] + rng.integers(-1, 2, 60), 1, 5)
        both = pd.concat([judged, second])
        said = (
            both.groupby(["item", "system"])["score"].agg(["mean", "median", "first"]).reset_index()
        )
        joined = outputs[["item", "system"]].merge(said, how="left")
        outputs["gold"] = made(joined, rng)
        case = _both(folder, outputs, both)
        return replace(case, said="gold is not used as a metric")

    return make


def _elsewhere(values, rng):
    return values.where(values.notna(), pd.Series(rng.integers(2, 11, len(values)) / 2))


LEAKS = {
    "the mean": lambda t, rng: _elsewhere(t["mean"], rng),
    "rescaled": lambda t, rng: _elsewhere(t["mean"], rng) / 5 - 0.1,
    "negated": lambda t, rng: -_elsewhere(t["mean"], rng),
    "the median": lambda t, rng: _elsewhere(t["median"], rng),
    "seen": lambda t, rng: _elsewhere(t["mean"], rng) + 0.1 * rng.normal(size=len(t)),
    "zero elsewhere": lambda t, _: t["mean"].fillna(0.0),
    "gaps elsewhere": lambda t, _: t["mean"],
    "rounded": lambda t, rng: np.floor(_elsewhere(t["mean"], rng) * 2) / 2,
}


def ranked(said):
    def make(folder):
        _, judged = campaign()
        judged["prompt"] = "rank" if said == "asked" else "place"
        worse = np.where(judged["system"] == "base", 2, 0)
        judged["score"] = 1 + worse + np.arange(60) % 2
        if said == "column":
            judged["lower_is_better"] = True
        case = _both(folder, judged=judged)
        if said == "asked":
            return replace(case, said="are lower scores better?", best="base")
        return replace(case, best="new")

    return make


def same_rows_twice(folder):
    _, judged = campaign()
    case = _both(folder, judged=pd.concat([judged, judged.head(9)]))
    return replace(case, scores=judged, said="9 of 69 judgments repeat another")


def one_name_for_all(folder):
    _, judged = campaign()
    rng = np.random.default_rng(5)
    again = judged.assign(score=np.clip(judged["score"] + rng.integers(-1, 2, 60), 1, 5))
    both = pd.concat([judged, again]).assign(rater="crowd")
    return replace(_both(folder, judged=both), said="60 of 120 judgments repeat another")


def corrected_later(folder):
    _, judged = campaign()
    later = judged.head(12).assign(score=lambda t: 6 - t["score"])
    both = pd.concat([judged, later])
    mean = both.groupby(["item", "system", "rater"], as_index=False)["score"].mean()
    return replace(
        _both(folder, judged=both), scores=mean, said="12 of 72 judgments repeat another"
    )


def outputs_twice(folder):
    outputs, judged = campaign()
    case = _both(folder, pd.concat([outputs, outputs.head(3)]), judged)
    return replace(
        case, refused="there more than once", mended=lambda: _both(folder, outputs, judged)
    )


def metric_called(name, shown=None):
    def make(folder):
        outputs, judged = campaign()
        case = _both(folder, outputs.rename(columns={"bleu": name}), judged)
        return replace(case, metrics=(shown or name,))

    return make


def ids_and_dates(folder):
    outputs, judged = campaign()
    outputs["doc_id"] = range(120)
    outputs["week"] = [n % 9 for n in range(120)]
    outputs["chrf"] = None
    return replace(_both(folder, outputs, judged), said="doc_id is not used as a metric")


def preferences(folder):
    outputs, _ = campaign()
    rng = np.random.default_rng(6)
    rows = [
        {"item": f"i{n:02}", "system": "base", "other_system": "new", "rater": f"r{n % 4}"}
        | {"prompt": "better", "score": float(rng.integers(0, 3)) / 2}
        for n in range(40)
    ]
    judged = pd.DataFrame(rows)
    case = _both(folder, outputs.drop(columns="bleu"), judged)
    return replace(case, metrics=None, said='"preferences"', scores=judged)


def mturk(folder):
    _, judged = campaign()
    batch = pd.DataFrame(
        {
            "HITId": [f"H{n}" for n in range(60)],
            "AssignmentStatus": "Approved",
            "Input.item": judged["item"],
            "Input.system": judged["system"],
            "Answer.quality": judged["score"],
        }
    )
    outputs = folder / "outputs.csv"
    campaign()[0].to_csv(outputs, index=False)
    batch.to_csv(folder / "batch.csv", index=False)
    return Case((folder / "batch.csv",), judged, pool=0)


def pickled(folder):
    outputs, judged = campaign()
    case = _both(folder, outputs, judged)
    case.files[1].write_bytes(pickle.dumps(judged.to_dict("list")))
    return replace(case, refused="a Python pickle", mended=lambda: _both(folder, outputs, judged))


def items_with_point_zero(folder):
    outputs, judged = campaign()
    outputs["item"] = outputs["item"].str[1:].astype(int)
    number = judged["item"].str[1:].astype(int)
    case = _both(folder, outputs, judged.assign(item=number.astype(float)))
    return replace(
        case,
        refused="judged outputs that are not in",
        mended=lambda: _both(folder, outputs, judged.assign(item=number)),
    )


CASES = {
    "commas": separated(","),
    "tabs": separated("\t"),
    "semicolons and decimal commas": separated(";", ","),
    "bars": separated("|"),
    "commas before decimals or thousands": doubtful_commas,
    "utf-16": encoded("utf-16"),
    "byte order mark": encoded("utf-8-sig"),
    "latin-1": encoded("latin-1"),
    "lines that end in CR": old_mac,
    "gzip": zipped,
    "parquet": parquet,
    "two sheets": excel,
    "json lines": json_lines,
    "json array": json_array,
    "json inside an object": json_inside,
    "json nested": json_nested,
    "no header": headerless,
    "percent signs": percent,
    "words as scores": words,
    "other names": other_names,
    "blank scores": blank_scores,
    "one table, sparse": sparse,
    "one table, column score": sparse_score,
    "one table, words": sparse_words,
    "joined": joined,
    "raters in columns": raters_in_columns,
    "no items, no systems": truescore,
    "systems and raters in columns": wide_scores,
    "blank texts": texts(""),
    "spaces": texts("   "),
    "placeholders": texts("[no answer]"),
    "n/a": texts("N/A"),
    "item ids as texts": texts_of_items,
    "no texts": no_texts,
    **{f"leak: {name}": leak(made) for name, made in LEAKS.items()},
    "ranks, nothing said": ranked("asked"),
    "ranks, said in the file": ranked("column"),
    "rows twice": same_rows_twice,
    "one name for all raters": one_name_for_all,
    "corrected later": corrected_later,
    "outputs twice": outputs_twice,
    "metric score": metric_called("score", "outputs:score"),
    "metric judge": metric_called("judge"),
    "metric llm_score": metric_called("llm_score"),
    "metric rating": metric_called("rating"),
    "metric evaluator": metric_called("evaluator"),
    "metric probability": metric_called("probability", "outputs:probability"),
    "ids and dates": ids_and_dates,
    "preferences": preferences,
    "mturk without workers": mturk,
    "pickle": pickled,
    "items 7.0 and 7": items_with_point_zero,
}


if __name__ == "__main__":
    for name, make in CASES.items():
        place = Path(sys.argv[1]) / name.replace(" ", "-").replace(":", "").replace("/", "")
        place.mkdir(parents=True, exist_ok=True)
        make(place)
