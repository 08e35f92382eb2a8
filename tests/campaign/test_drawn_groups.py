from math import comb

import numpy as np
import polars as pl
import pytest

from steelyard.campaign.balance import balance_notes
from steelyard.campaign.drawn_groups import drawn_groups
from steelyard.study import Study
from steelyard.tables import read_judgments, read_outputs

DOCUMENTS = np.repeat(np.arange(40), 5)


def campaign(chosen, *, documents=DOCUMENTS, column="doc"):
    """Two systems over the same items, each of a document, with the chosen items judged."""
    rng = np.random.default_rng(0)
    effect = rng.normal(size=documents.max() + 1)[documents]
    items = np.arange(len(documents))
    outputs = pl.concat(
        pl.DataFrame(
            {"item": items, "system": system, column: [f"d{one}" for one in documents]}
            | {"bleu": effect + 0.1 * rng.normal(size=len(items))}
        )
        for system in "ab"
    )
    judgments = pl.concat(
        pl.DataFrame({"item": chosen, "system": system, "prompt": "p", "score": effect[chosen]})
        for system in "ab"
    ).with_columns(score=pl.col("score") + pl.Series(rng.normal(size=2 * len(chosen))))
    return Study(read_outputs(outputs), read_judgments(judgments))


def found(study):
    return drawn_groups(study.outputs, study.judgments)


def test_documents_that_were_drawn_whole_are_found():
    study = campaign(np.flatnonzero(DOCUMENTS < 8))
    one = found(study)
    assert (one.column, one.reached, one.groups, one.items) == ("doc", 8, 40, 40)
    said = "40 judged items lie in 8 of 40 values of doc"
    assert any(said in remark for remark in study.estimate().remarks)
    assert any(said in note for note in study.compare()[0].notes)
    named = Study.read(study.outputs.rows(), study.judgments.frame, columns={"cluster": "doc"})
    assert not any(said in remark for remark in named.estimate().remarks)
    assert not any(said in note for note in named.compare()[0].notes)


def test_the_expected_number_of_groups_is_that_of_draws_without_replacement():
    sizes = [30, 2] * 12 + [4] * 4
    documents = np.repeat(np.arange(28), sizes)
    one = found(campaign(np.arange(60), documents=documents))
    missed = [comb(400 - size, 60) / comb(400, 60) for size in sizes]
    assert one.reached == 3
    assert one.expected == pytest.approx(28 - sum(missed))


@pytest.mark.parametrize("n", [5, 40, 120])
def test_items_that_were_drawn_one_by_one_are_not_accused(n):
    rng = np.random.default_rng(n)
    for _ in range(40):
        assert found(campaign(np.sort(rng.permutation(200)[:n]))) is None


def test_a_column_cluster_is_used_and_needs_no_word():
    study = campaign(np.flatnonzero(DOCUMENTS < 8), column="cluster")
    assert found(study) is None
    # Documents are alike in their metrics, which is no sign that outputs were chosen.
    assert balance_notes(study.outputs, study.judgments) == {}
    assert not any("random sample" in note for one in study.estimate() for note in one.notes)


def test_groups_of_an_item_that_differ_between_systems_are_no_documents():
    study = campaign(np.flatnonzero(DOCUMENTS < 8))
    own = study.outputs.rows().with_columns(doc=pl.col("system") + pl.col("doc"))
    assert drawn_groups(read_outputs(own), study.judgments) is None
