import datetime as dt
import json
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from steelyard.demo import campaign
from steelyard.errors import InvalidArgumentError

SYSTEMS = ("copy", "fluent", "loopy", "terse")
PROMPTS = ("overall", "correct")


def variance_components(scores, groups):
    """Item and rater variance by one-way analysis of variance with unequal group sizes."""
    _, group = np.unique(groups, return_inverse=True)
    y = np.asarray(scores, dtype=float)
    size = np.bincount(group)
    mean = np.bincount(group, weights=y) / size
    within = ((y - mean[group]) ** 2).sum() / (len(y) - len(size))
    between = (size * (mean - y.mean()) ** 2).sum() / (len(size) - 1)
    typical = (len(y) - (size**2).sum() / len(y)) / (len(size) - 1)
    return (between - within) / typical, within


def judgments(simulated, prompt):
    rows = [row for row in simulated.judgments if row["prompt"] == prompt]
    return [row["score"] for row in rows], [f"{row['item']} {row['system']}" for row in rows]


def test_equal_arguments_give_equal_campaigns(simulated):
    assert campaign() == simulated


def test_another_seed_gives_another_campaign(simulated):
    other = campaign(seed=2019, metrics=())
    assert not {row["reference"] for row in simulated.outputs} & {
        row["reference"] for row in other.outputs
    }
    assert other.truth != simulated.truth
    assert other.judgments != simulated.judgments


def test_metrics_do_not_change_the_rest(simulated):
    plain = campaign(metrics=())
    assert plain.judgments == simulated.judgments
    assert plain.human_scores == simulated.human_scores
    assert set(simulated.outputs[0]) - set(plain.outputs[0]) == {"rouge-l", "chrf", "vecsim"}


def test_the_notice_says_that_it_is_simulated(simulated):
    assert simulated.notice.startswith("Simulated campaign: ")


def test_rows_have_the_columns_of_the_files_and_can_be_written_as_json(simulated):
    assert len(simulated.outputs) == 1200
    for row in simulated.outputs:
        assert list(row)[:5] == ["item", "system", "input", "output", "reference"]
    for row in simulated.judgments:
        assert list(row) == ["item", "system", "rater", "prompt", "score", "seconds", "time"]
        assert row["score"] in ((-1, 0, 1) if row["prompt"] == "overall" else (0, 1))
    text = json.dumps([simulated.outputs, simulated.judgments])
    assert json.loads(text) == [simulated.outputs, simulated.judgments]


def test_references_are_distinct_english_of_one_to_three_sentences(simulated):
    references = {row["item"]: row["reference"] for row in simulated.outputs}
    assert len(set(references.values())) == len(references) == 300
    for text in references.values():
        assert 15 <= len(text.split()) <= 45
        assert 1 <= len(re.findall(r"[.](?= |$)", text)) <= 3
        assert re.fullmatch(r"[A-Z].*\.", text)
        assert "  " not in text


def test_references_are_varied(simulated):
    references = {row["reference"] for row in simulated.outputs}
    openings = Counter(" ".join(text.split()[:3]) for text in references)
    assert len(openings) > 150
    assert len({word for text in references for word in text.split()}) > 900


def test_no_reference_contains_a_wrong_article(simulated):
    for row in simulated.outputs:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n (?!hour)[^aeiou]", row["reference"])


@pytest.mark.parametrize("seed", [2018, 1, 2])
def test_a_quarter_of_copy_and_terse_outputs_are_the_same(seed):
    text = {
        (row["item"], row["system"]): row["output"]
        for row in campaign(seed=seed, metrics=()).outputs
    }
    items = {item for item, _ in text}
    same = np.mean([text[item, "copy"] == text[item, "terse"] for item in items])
    assert 0.15 <= same <= 0.35


def test_equal_outputs_of_an_item_have_equal_human_scores(simulated):
    scores = defaultdict(set)
    for row in simulated.outputs:
        for prompt in PROMPTS:
            scores[row["item"], row["output"], prompt].add(
                simulated.human_scores[row["item"], row["system"], prompt]
            )
    assert {len(values) for values in scores.values()} == {1}
    assert len(scores) < 2 * len(simulated.outputs)


def test_the_truth_is_the_mean_human_score_over_the_pool(simulated):
    assert set(simulated.truth) == {(system, prompt) for system in SYSTEMS for prompt in PROMPTS}
    for (system, prompt), truth in simulated.truth.items():
        scores = [
            score
            for (_, of, under), score in simulated.human_scores.items()
            if (of, under) == (system, prompt)
        ]
        assert len(scores) == 300
        assert truth == pytest.approx(np.mean(scores))


def test_all_systems_are_judged_on_the_same_items_and_the_new_one_on_a_third(simulated):
    judged = defaultdict(set)
    for row in simulated.judgments:
        judged[row["system"]].add(row["item"])
    assert judged["copy"] == judged["loopy"] == judged["terse"]
    assert (len(judged["copy"]), len(judged["fluent"])) == (150, 50)
    assert judged["fluent"] < judged["copy"]


def test_every_fifth_output_has_a_second_judgment(simulated):
    counts = Counter((row["item"], row["system"], row["prompt"]) for row in simulated.judgments)
    sizes = Counter(counts.values())
    assert sizes == {1: 800, 2: 200}


def test_no_rater_judges_an_output_twice_and_one_does_far_more_than_the_rest(simulated):
    key = ("item", "system", "rater", "prompt")
    assert max(Counter(tuple(map(row.get, key)) for row in simulated.judgments).values()) == 1
    work = Counter(row["rater"] for row in simulated.judgments)
    assert len(work) == 25
    (_, most), (_, second) = work.most_common(2)
    assert 0.15 <= most / work.total() <= 0.20
    assert most > 1.25 * second


def test_judgments_come_in_order_of_time_with_systems_and_items_mixed(simulated):
    times = [dt.datetime.fromisoformat(row["time"]) for row in simulated.judgments]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert {row["system"] for row in simulated.judgments[:60]} == set(SYSTEMS)
    items = [row["item"] for row in simulated.judgments]
    assert items != sorted(items)


@pytest.mark.parametrize(
    ("prompt", "item_range", "rater_range"),
    [("overall", (0.10, 0.30), (0.25, 0.33)), ("correct", (0.08, 0.10), (0.12, 0.15))],
)
def test_variance_components_are_like_those_of_real_campaigns(
    simulated, prompt, item_range, rater_range
):
    item, rater = variance_components(*judgments(simulated, prompt))
    # 200 second judgments leave the estimate rough
    assert item_range[0] - 0.05 <= item <= item_range[1] + 0.05
    assert rater_range[0] - 0.03 <= rater <= rater_range[1] + 0.03
    # The same from the model, without sampling error.
    human = [score for (_, _, of), score in simulated.human_scores.items() if of == prompt]
    assert item_range[0] <= np.var(human) <= item_range[1]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_best_metric_is_of_some_use_and_no_more(simulated, system, prompt):
    rows = [row for row in simulated.outputs if row["system"] == system]
    human = [simulated.human_scores[row["item"], system, prompt] for row in rows]
    correlation = {
        metric: np.corrcoef(human, [row[metric] for row in rows])[0, 1]
        for metric in ("rouge-l", "chrf", "vecsim")
    }
    assert 0.4 <= max(correlation.values()) <= 0.7
    assert min(correlation.values()) > 0


def test_the_judge_likes_long_texts_and_gives_the_same_text_the_same(simulated):
    scores = defaultdict(set)
    for row in simulated.outputs:
        scores[row["item"], row["output"]].add(row["judge"])
        assert row["judge"] in range(1, 11)
    assert {len(values) for values in scores.values()} == {1}
    human = [
        simulated.human_scores[row["item"], row["system"], "overall"] for row in simulated.outputs
    ]
    words = [len(row["output"].split()) for row in simulated.outputs]
    judge = [row["judge"] for row in simulated.outputs]
    slope = np.linalg.lstsq(
        np.column_stack([human, words, np.ones(len(words))]), judge, rcond=None
    )[0]
    assert slope[0] > 1
    assert 0.04 < slope[1] < 0.12


def test_overlap_metrics_rank_the_best_system_last(simulated):
    overlap = {
        system: np.mean([row["rouge-l"] for row in simulated.outputs if row["system"] == system])
        for system in SYSTEMS
    }
    assert min(overlap, key=overlap.get) == "fluent"
    for prompt in PROMPTS:
        assert max(SYSTEMS, key=lambda system: simulated.truth[system, prompt]) == "fluent"


def test_a_campaign_can_be_small():
    small = campaign(items=20, metrics=())
    assert len(small.outputs) == 80
    assert len({(row["item"], row["system"]) for row in small.judgments}) == 33


def test_too_few_items_are_refused():
    with pytest.raises(InvalidArgumentError, match="`items` must be at least 20; got 19"):
        campaign(items=19)


def test_a_negative_seed_is_refused():
    with pytest.raises(InvalidArgumentError, match="`seed` must not be negative; got -1"):
        campaign(seed=-1)
