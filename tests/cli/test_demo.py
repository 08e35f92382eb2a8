import json
from functools import partial

import steelyard.cli.demo
from steelyard.demo import campaign


def test_demo_writes_a_campaign_and_a_report_and_tells_the_truth(run, tmp_path, monkeypatch):
    monkeypatch.setattr(steelyard.cli.demo, "campaign", partial(campaign, items=60))
    folder = tmp_path / "demo"
    code, out, _ = run("demo", "--output", folder)
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
    files = folder / "outputs.jsonl", folder / "judgments.jsonl"
    code, out, _ = run("estimate", *files, "--metric", "chrf", "--json")
    assert (code, len(json.loads(out))) == (0, 8)
