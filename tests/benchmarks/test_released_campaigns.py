"""The paper's campaigns and the speed of two trees are measured as they say."""

import json

import numpy as np
import pytest
from benchmarks.campaigns import __main__ as campaigns
from benchmarks.campaigns import speed
from benchmarks.campaigns.released import ReleasedCell, needed, released
from benchmarks.campaigns.trees import HERE

ITEMS = 60


@pytest.fixture
def folder(tmp_path):
    """Files like the paper's: two systems, of which one has an item more, and a third of whose answers are the same."""
    rng = np.random.default_rng(0)
    rows, texts = [], []
    for item in range(ITEMS + 1):
        for system in ("a", "b") if item < ITEMS else ("a",):
            human = rng.integers(0, 2, 2).tolist()
            prompt = {"human": human, "gold": 0.5, "bleu": rng.random(), "sim": rng.random()}
            annotators = rng.choice(["x", "y", "z"], 2, replace=False).tolist()
            prompts = {"AnyCorrect": prompt, "AvgCorrect": prompt}
            rows.append(
                {"id": item, "system": system, "annotators": annotators, "prompts": prompts}
            )
        if item % 3 == 0:
            answers = {f"both {item}": ["a", "b"]}
        else:
            answers = {f"{one} {item}": [one] for one in "ab"}
        texts += [
            {"id": item, "query": "?", "systems": systems, "answer": answer}
            for answer, systems in answers.items()
        ]
    for name, lines in (("msmarco", rows), ("msmarco_texts", texts)):
        words = "\n".join(json.dumps(line) for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(words)
    return tmp_path


def test_the_truth_is_the_mean_of_all_judgments_of_common_items(folder):
    data = released(folder, "AnyCorrect")
    assert data.metrics.shape == (2, ITEMS, 2)
    lines = [json.loads(line) for line in (folder / "msmarco.jsonl").read_text().splitlines()]
    mine = [one for one in lines if one["system"] == "b"]
    scores = [one["prompts"]["AnyCorrect"]["human"] for one in mine]
    campaign = ReleasedCell(folder, "AnyCorrect", 20, same=True).campaign(0)
    assert campaign.truth[1] == pytest.approx(np.mean(scores))
    # two judgments of each output: the mean of one with replacement varies by all of their variance
    assert data.plain_error(2)[1] == pytest.approx(np.var(scores) / 2)


def test_a_draw_is_one_judgment_of_each_output_or_of_each_text(folder):
    every = ReleasedCell(folder, "AnyCorrect", ITEMS, same=True).campaign(0)
    assert len(every.score) == 2 * ITEMS
    data = released(folder, "AnyCorrect")
    for row in zip(every.system, every.item, every.rater, every.score, strict=True):
        system, item, rater, score = row
        known = zip(data.raters[system, item], data.scores[system, item], strict=True)
        assert (rater, score) in set(known)
    once = ReleasedCell(folder, "AnyCorrect", ITEMS, same=True, once=True).campaign(0)
    assert len(once.score) == 2 * ITEMS - ITEMS // 3
    shared = once.item[once.item % 3 == 0]
    assert len(np.unique(shared)) == len(shared)


def test_judgments_needed_are_squared_errors_times_what_was_paid(folder):
    data = released(folder, "AnyCorrect")
    campaign = ReleasedCell(folder, "AnyCorrect", 20, same=False).campaign(0)
    off = np.sqrt(data.plain_error(20))
    answer = {"means": np.stack([campaign.truth + off] * 4, axis=1)}
    assert needed(data, [campaign], [answer], None) == pytest.approx([1.0])
    assert needed(data, [campaign], [answer], "b") == pytest.approx([1.0])


def test_the_paper_prints_each_prompt_and_the_judgments_needed(folder, capsys):
    words = ["paper", "--old", str(HERE), "--data", str(folder), "--prompts", "AnyCorrect"]
    campaigns.main([*words, "--n", "10", "--same", "0", "--reps", "2", "--jobs", "1"])
    said = capsys.readouterr().out
    assert "## AnyCorrect" in said
    assert "| AnyCorrect n=10 own | new |" in said
    assert "| AnyCorrect | all |" in said


def test_speed_prints_old_beside_new_and_marks_what_is_slow(capsys, monkeypatch):
    job = {"systems": 2, "items": 30, "metrics": 1, "judged": 12, "questions": ("estimate",)}
    monkeypatch.setitem(speed.SIZES, "25 systems", (job, 1e-9, None))
    words = ["speed", "--old", str(HERE), "--sizes", "25 systems"]
    assert campaigns.main(words) == 1
    old, new = capsys.readouterr().out.splitlines()[2:]
    assert old.startswith("| 25 systems | old |")
    assert new.startswith("| 25 systems | new |")
    assert "**above 1e-09 seconds**" in new


def test_a_refusal_is_said_in_place_of_a_time():
    job = {"systems": 1, "items": 5, "metrics": 0, "judged": 1, "questions": ("compare",)}
    assert "refused" in speed.measured(HERE, job)


def test_growth_is_the_power_of_the_size(capsys, monkeypatch):
    def cubic(_, asked):
        seconds = asked["systems"] ** 3.0
        return {"seconds": {"estimate": seconds}, "processor": seconds, "megabytes": 1.0}

    monkeypatch.setattr(speed, "measured", cubic)
    campaigns.main(["speed", "--old", str(HERE), "--sizes", "systems"])
    assert capsys.readouterr().out.count("grows with power 3.0") == 2
