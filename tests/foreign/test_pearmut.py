def test_the_last_version_of_a_page_counts_and_a_skipped_score_is_missing(convert):
    found = convert("pearmut/annotations.jsonl")
    assert found.format == "pearmut"
    assert found.scores["q1", "alpha", "ann", "score"] == 90.0
    assert ("q2", "alpha", "ann", "score") not in found.scores
    assert found.scores["q1", "alpha", "bob", "style"] == 3.0
    assert "left out: 1 earlier versions of a page" in found.remarks
    assert "left out: 1 welcome, training and goodbye pages" in found.remarks
    assert "left out: 1 judgments without a score" in found.remarks


def test_segments_of_a_document_are_a_cluster(convert):
    found = convert("pearmut/annotations.jsonl")
    assert {row["cluster"] for row in found.outputs.values()} == {"0"}
    assert found.outputs["q1", "beta"]["reference"] == ["Eins."]
