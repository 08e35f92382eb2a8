import json

RATERS = ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002")


def test_flat_records_say_which_answers_were_submitted(convert):
    found = convert("argilla/flat.json")
    assert found.format == "argilla"
    assert found.scores == {
        ("q1", "alpha", RATERS[0], "quality"): 4.0,
        ("q1", "beta", RATERS[0], "quality"): 2.0,
    }
    assert "left out: 1 answers that are draft" in found.remarks
    assert "left out: 1 answers that are discarded" in found.remarks


def test_suggestions_are_metrics(convert):
    for name in ("flat", "nested"):
        row = convert(f"argilla/{name}.json").outputs["q1", "alpha"]
        assert row == {
            "item": "q1",
            "system": "alpha",
            "output": "The cat sat.",
            "input": "Describe the cat.",
            "suggestion.quality": 3.0,
        }


def test_nested_records_hide_drafts_and_this_is_said(convert):
    found = convert("argilla/nested.json")
    assert len(found.scores) == 4
    assert "does not say which answers are drafts" in found.remarks


def test_lists_in_a_csv_file_are_read_as_json(convert, tmp_path):
    path = tmp_path / "records.csv"
    cells = [json.dumps(one).replace('"', '""') for one in ([3], ["u"], ["submitted"])]
    header = "item,model,response,q.responses,q.responses.users,q.responses.status"
    path.write_text(f'{header}\na,m,text,"{cells[0]}","{cells[1]}","{cells[2]}"\n')
    assert convert(path).scores == {("a", "m", "u", "q"): 3.0}
