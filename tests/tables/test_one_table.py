"""One table with outputs and human scores gives the same answers as two files."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, InvalidDataError


def two_files(raters=1, seed=0):
    rng = np.random.default_rng(seed)
    keys = [(f"i{n}", s) for s in ("base", "new") for n in range(60)]
    outputs = pl.DataFrame(
        [{"item": i, "system": s, "output": f"{s} {i}", "bleu": rng.normal()} for i, s in keys]
    )
    judgments = pl.DataFrame(
        [
            {"item": f"i{n}", "system": s, "rater": f"rater{r + 1}", "prompt": "quality"}
            | {"score": float(rng.integers(1, 6))}
            for s in ("base", "new")
            for n in range(0, 60, 3)
            for r in range(raters)
        ]
    )
    return outputs, judgments


def numbers(study):
    found = [
        (one.system, one.estimate, one.low, one.high, one.n_judgments) for one in study.estimate()
    ]
    return [(name, *(pytest.approx(value, abs=1e-12) for value in rest)) for name, *rest in found]


def test_a_column_that_is_filled_on_some_rows_is_the_judgments(tmp_path):
    outputs, judgments = two_files()
    scores = judgments.select("item", "system", quality="score")
    table = outputs.join(scores, on=["item", "system"], how="left", maintain_order="left")
    table.write_csv(tmp_path / "t.csv")
    expected = numbers(Study.read(outputs, judgments.drop("rater")))
    for source in (table, tmp_path / "t.csv", table.to_pandas()):
        study = Study.read(source, columns={"score": "quality"})
        assert numbers(study) == expected
        assert study.prompts == ("quality",)
        assert study.metrics == ("bleu",)
        assert any("quality filled on 40 of 120 rows" in note for note in study.notes)


def test_several_columns_are_several_raters():
    outputs, judgments = two_files(raters=3)
    table = outputs
    for rater in ("rater1", "rater2", "rater3"):
        own = judgments.filter(pl.col("rater") == rater).select(
            "item", "system", **{rater: "score"}
        )
        table = table.join(own, on=["item", "system"], how="left", maintain_order="left")
    expected = numbers(Study.read(outputs, judgments.drop("prompt")))
    assert numbers(Study.read(table, columns={"score": "rater?"})) == expected
    assert Study.read(
        table, columns={"score": ["rater1", "rater2", "rater3"]}
    ).judgments.raters == (
        "rater1",
        "rater2",
        "rater3",
    )


def test_a_row_may_be_a_judgment_beside_its_output():
    outputs, judgments = two_files(raters=2)
    table = outputs.join(judgments, on=["item", "system"], how="left", maintain_order="left")
    table = table.with_columns(seconds=pl.int_range(pl.len()))
    study = Study.read(table, columns={"score": "score"})
    assert numbers(study) == numbers(Study.read(outputs, judgments))
    assert any("160 rows are judgments of 120 outputs" in note for note in study.notes)


def test_without_items_and_systems_rows_are_items_of_one_system(tmp_path):
    path = tmp_path / "truescore.csv"
    path.write_text(
        "judge,gold\n" + "".join(f"{n % 7},{n % 5 if n % 3 else ''}\n" for n in range(60))
    )
    study = Study.read(path, columns={"score": "gold"})
    gold = pd.read_csv(path)["gold"]
    found = study.estimate([])[0]
    assert found.estimate == pytest.approx(gold.mean(), abs=1e-9)
    assert (found.system, found.n_judgments, found.pool_size) == ("truescore", 40, 60)
    assert sum("no column `" in note for note in study.notes) >= 2


def test_blanks_are_no_scores_and_words_are_named_with_their_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,system,output,human\n1,a,x,3\n2,a,y,N/A\n3,a,z,\n4,a,w, 5 \n")
    assert len(Study.read(path, columns={"score": "human"}).judgments) == 2
    path.write_text("item,system,output,human\n1,a,x,3\n2,a,y,good\n")
    with pytest.raises(
        InvalidDataError, match=r"t\.csv, line 3, column human: expected a finite number"
    ):
        Study.read(path, columns={"score": "human"})
    path.write_text("item,system,output,human\n1,a,x,\n2,a,y,\n")
    with pytest.raises(InvalidDataError, match="column human is blank on all rows"):
        Study.read(path, columns={"score": "human"})


def test_a_column_that_is_not_there_and_two_sources_of_judgments_are_refused():
    outputs, judgments = two_files()
    with pytest.raises(InvalidDataError, match="no column `humans` of human scores"):
        Study.read(outputs, columns={"score": "humans"})
    with pytest.raises(
        InvalidArgumentError, match="'bleu' is mapped to 'score' but not found in judgments"
    ):
        Study.read(outputs, judgments, columns={"score": "bleu"})


def test_a_column_that_differs_within_an_output_is_not_its_metric():
    outputs, judgments = two_files(raters=2)
    table = outputs.join(judgments, on=["item", "system"], how="left", maintain_order="left")
    table = table.with_columns(effort=pl.int_range(pl.len()) / 2)
    study = Study.read(table, columns={"score": "score"})
    assert study.metrics == ("bleu",)
    assert any("column effort differs between rows of one output" in note for note in study.notes)
