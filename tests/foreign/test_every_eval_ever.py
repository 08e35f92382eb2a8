def test_samples_are_outputs_with_their_evaluation_as_metrics(convert):
    found = convert("every-eval-ever/1_samples.jsonl")
    assert found.format == "every-eval-ever"
    assert found.outputs["s2", "tiny/alpha"] == {
        "item": "s2",
        "system": "tiny/alpha",
        "output": "7",
        "input": "Question s2",
        "reference": ["6"],
        "evaluation.score": 0.25,
        "evaluation.is_correct": 0.0,
    }
    assert "left out: 1 further texts of an output" in found.remarks


def test_of_a_talk_the_last_answer_is_the_output(convert):
    found = convert("every-eval-ever/1_samples.jsonl")
    assert found.outputs["s3", "tiny/alpha"]["output"] == "Hello."
