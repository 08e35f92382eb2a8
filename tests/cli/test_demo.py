import json


def test_demo_writes_a_campaign_and_a_report_and_tells_the_truth(run, tmp_path):
    folder = tmp_path / "demo"
    code, out, _ = run("demo", "--output", folder, "--items", "60")
    assert code == 0
    assert "Simulated campaign" in out
    assert "hold the truth" in out
    assert str(folder / "report.html") in "".join(out.split("\n"))
    assert len((folder / "outputs.jsonl").read_text().splitlines()) == 240
    first = json.loads((folder / "judgments.jsonl").read_text().splitlines()[0])
    assert {"item", "system", "rater", "prompt", "score"} <= set(first)
    page = (folder / "report.html").read_text()
    assert "Simulated campaign" in page
    assert "steelyard report" in page


def test_the_written_files_can_be_estimated(run, tmp_path):
    folder = tmp_path / "demo"
    run("demo", "--output", folder, "--items", "60")
    code, out, _ = run(
        "estimate",
        folder / "outputs.jsonl",
        folder / "judgments.jsonl",
        "--metric",
        "chrf",
        "--json",
    )
    assert code == 0
    assert len(json.loads(out)) == 8


def test_too_few_items_are_refused(run, tmp_path):
    code, _, err = run("demo", "--output", tmp_path / "demo", "--items", "2")
    assert code == 2
    assert "40" in err
    assert not (tmp_path / "demo").exists()


def test_json_tells_the_truth_beside_each_estimate(run, tmp_path):
    code, out, _ = run("demo", "--output", tmp_path / "demo", "--items", "40", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["notice"].startswith("Simulated campaign")
    assert len(found["estimates"]) == 8
    assert all("truth" in row and "baseline" in row for row in found["estimates"])
