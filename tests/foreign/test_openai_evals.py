def test_the_first_sampling_is_the_output_and_later_ones_are_counted(convert):
    found = convert("openai-evals/log.jsonl")
    assert found.format == "openai-evals"
    assert found.outputs["sums.dev.1", "tiny-alpha"] == {
        "item": "sums.dev.1",
        "system": "tiny-alpha",
        "output": "7",
        "input": "3+3?",
        "reference": ["6", "six"],
        "correct": 0.0,
        "graded": 0.25,
    }
    assert (
        found.outputs["sums.dev.0", "tiny-alpha"]["input"]
        == "system: Answer briefly.\n\nuser: 2+2?"
    )
    assert "left out: 1 further texts of a sampling" in found.remarks
    assert "left out: 1 later samplings of an item" in found.remarks
