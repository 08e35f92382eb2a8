import datetime as dt
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from steelyard.demo.collection import Sampled, collect
from steelyard.demo.prompts import PROMPTS
from steelyard.demo.systems import outputs, task


@pytest.fixture(scope="module")
def pool(domains):
    rng = np.random.default_rng(5)
    return [
        Sampled(f"i{number}", system, text)
        for number in range(40)
        for system, text in outputs(task(domains[number % len(domains)], rng=rng), rng=rng).items()
    ]


def test_the_mean_judgment_over_fresh_raters_is_the_mean_human_score(pool):
    human = {
        (one.item, one.system, prompt.name): float(
            prompt.human_score(prompt.quality(one.text.defects))
        )
        for one in pool
        for prompt in PROMPTS
    }
    errors = defaultdict(list)
    for rng in np.random.default_rng(11).spawn(150):
        rows = collect(pool, rng=rng)
        for prompt in PROMPTS:
            gaps = [
                row["score"] - human[row["item"], row["system"], row["prompt"]]
                for row in rows
                if row["prompt"] == prompt.name
            ]
            errors[prompt.name].append(np.mean(gaps))
    for prompt in PROMPTS:
        assert ttest_1samp(errors[prompt.name], 0.0).pvalue > 0.01


def test_leniency_moves_all_of_a_campaign_s_judgments_together(pool):
    # Independent raters would give the mean judgment a standard error of sqrt(0.29 / 330) = 0.03.
    means = [
        np.mean([row["score"] for row in collect(pool, rng=rng) if row["prompt"] == "overall"])
        for rng in np.random.default_rng(12).spawn(60)
    ]
    assert np.std(means) > 0.04


def test_a_rater_never_sees_a_text_of_an_item_twice_even_from_two_systems(pool):
    text = {(one.item, one.system): one.text.text for one in pool}
    rows = collect(pool, rng=np.random.default_rng(0))
    seen = Counter(
        (row["item"], text[row["item"], row["system"]], row["rater"], row["prompt"]) for row in rows
    )
    assert max(seen.values()) == 1


def test_a_rater_answers_both_prompts_about_an_output(pool):
    rows = collect(pool, rng=np.random.default_rng(0))
    by_task = defaultdict(list)
    for row in rows:
        by_task[row["item"], row["system"], row["rater"]].append(row["prompt"])
    assert all(prompts == ["overall", "correct"] for prompts in by_task.values())


def test_a_rater_does_one_thing_at_a_time(pool):
    last = {}
    for row in collect(pool, rng=np.random.default_rng(0)):
        finished = dt.datetime.fromisoformat(row["time"])
        started = finished - dt.timedelta(seconds=row["seconds"])
        if row["rater"] in last:
            # Times are cut to whole seconds.
            assert started >= last[row["rater"]] - dt.timedelta(seconds=1)
        last[row["rater"]] = finished


def test_longer_texts_take_longer(pool):
    words = {(one.item, one.system): len(one.text.text.split()) for one in pool}
    rows = collect(pool, rng=np.random.default_rng(0))
    length = [words[row["item"], row["system"]] for row in rows]
    assert np.corrcoef(length, np.log([row["seconds"] for row in rows]))[0, 1] > 0.15
    assert all(row["seconds"] > 0 for row in rows)
