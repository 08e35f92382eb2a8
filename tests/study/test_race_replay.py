import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest, ttest_rel

from steelyard.design.race import Race, RaceOptions
from steelyard.design.race.fixed_design import fixed_decisions
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.study import Study

MEANS = {"alpha": 0.75, "beta": 0.45, "gamma": 0.6}


def campaign(*, items=150, judged=150, twice=False, same=0, means=None):
    """A campaign; gamma wrote what alpha wrote for the first `same` items."""
    rng = np.random.default_rng(0)
    outputs, judgments = [], []
    for system, mean in (means or MEANS).items():
        for item in range(items):
            author = "alpha" if system == "gamma" and item < same else system
            text = f"{author} {item}"
            outputs.append({"item": f"i{item:03}", "system": system, "output": text})
            for rater in range(1 + twice) if item < judged and author == system else ():
                score = float(np.clip(mean + 0.2 * rng.normal(), 0, 1))
                row = {"item": f"i{item:03}", "system": system, "prompt": "p", "score": score}
                judgments.append(row | {"rater": f"r{rater}"})
    return Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))


def test_a_replay_is_the_race_over_the_pool_in_random_orders():
    study = campaign()
    found = study.simulate_race(runs=60, seed=3)
    race, fixed = found
    scores = study.judgments.frame.pivot(on="system", index="item", values="score")
    scores = scores.select("alpha", "beta", "gamma").to_numpy()
    rng = np.random.default_rng(8)
    judgments, ends = [], []
    for _ in range(60):  # the same, one campaign after the other
        again = Race(150 * (1 - np.eye(3, dtype=int)), 150, RaceOptions())
        for row in rng.permutation(scores):
            again.judge(row[np.newaxis])
            if not again.running[0]:
                break
        stops = np.where(again.out_at > 0, again.out_at, again.decided_at[:, np.newaxis])
        judgments.append(stops.sum())
        ends.append(again.items)
    doubt = np.std(judgments) * np.sqrt(2 / 60)
    assert abs(race.judgments - np.mean(judgments)) < 4 * doubt
    assert abs(race.n_items - np.mean(ends)) < 4 * np.std(ends) * np.sqrt(2 / 60)
    assert race.decided == 1
    assert race.wrong <= 0.05
    assert race.systems[0].won >= 0.95
    assert [one.system for one in race.systems] == ["alpha", "gamma", "beta"]
    assert race.systems[2].judgments < race.systems[1].judgments < race.systems[0].judgments + 1
    assert sum(one.judgments for one in race.systems) == pytest.approx(race.judgments)
    assert race.ledger.plain - race.ledger.used == pytest.approx(race.ledger.saved["race"])
    assert race.ledger.plain == pytest.approx(3 * race.n_items)
    assert fixed.judgments == 3 * fixed.n_items
    assert race.relative_judgments == pytest.approx(race.judgments / fixed.judgments)


def test_the_pool_has_its_real_size_and_judgments_are_drawn():
    part = campaign(items=600, judged=100, twice=True).simulate_race(runs=20)[0]
    assert (part.pool_size, part.judged_items, part.runs) == (600, 100, 20)
    whole = campaign(items=100, twice=True).simulate_race(runs=20)[0]
    assert whole.pool_size == 100
    # A small pool is known sooner.
    assert whole.n_items < part.n_items


def test_a_shared_text_has_one_judgment_and_no_difference():
    found = campaign(same=75, items=150).simulate_race("order", runs=10)
    assert found[0].judged_items == 150
    assert found[0].decided == 1
    # Only the last item can show which of the two is better: it is waited for.
    nearly = campaign(same=149, items=150).simulate_race(runs=20)[0]
    assert nearly.wrong == 0
    assert nearly.n_items > 40


def test_a_tie_ends_at_the_margin_and_says_who_was_named():
    tie = campaign(means=dict.fromkeys(MEANS, 0.5), items=400, judged=400)
    best = tie.simulate_race(margin=0.1, runs=20)[0]
    assert best.decided == 1
    assert best.wrong <= 0.05
    assert sum(one.won for one in best.systems) == pytest.approx(1)
    pairs = tie.simulate_race("difference", margin=0.1, runs=10)[0]
    assert pairs.decided == 1
    assert pairs.systems[0].won is None


def test_level_holds_over_replays_of_a_close_race():
    close = campaign(means={"alpha": 0.52, "beta": 0.5, "gamma": 0.5}, items=200, judged=200)
    found = close.simulate_race(runs=120)[0]
    wrong = round(found.wrong * 120)
    assert binomtest(wrong, 120, 0.05, alternative="greater").pvalue > 0.01


def test_fixed_designs_are_decided_by_paired_t_tests():
    rng = np.random.default_rng(4)
    scores = rng.normal([0.3, 0.0, -0.2], 0.5, size=(30, 10**6 // 10**4, 3))
    got = fixed_decisions(scores, [12, 30], RaceOptions(bounds=None, method="asymptotic"))
    for column, n in enumerate((12, 30)):
        for run in range(30):
            part = scores[run, :n]
            lead = part.mean(axis=0).argmax()
            # SciPy's t, with the finite-pool correction of 100 items
            tests = [
                ttest_rel(part[:, lead], part[:, other]).statistic / np.sqrt(1 - n / 100)
                for other in range(3)
                if other != lead
            ]
            needed = {12: 2.200985, 30: 2.045230}[n]  # t at 1 - 0.05/2
            assert got[run, column] == (min(tests) > needed)


def test_a_fixed_design_decides_orders_and_differences_by_all_pairs():
    scores = np.tile(np.array([[0.9, 0.5, 0.5], [0.7, 0.3, 0.3], [0.8, 0.2, 0.2]]), (1, 5, 1))
    scores[..., 2] += np.where(np.arange(15) % 2, 0.01, -0.01)
    assert fixed_decisions(scores, [14], RaceOptions()).all()
    assert not fixed_decisions(scores, [14], RaceOptions(goal="order")).any()
    assert fixed_decisions(scores, [14], RaceOptions(goal="difference", margin=0.1)).all()
    assert not fixed_decisions(scores, [14], RaceOptions(goal="difference", margin=0.001)).any()


def test_without_bounds_a_replay_is_asymptotic():
    found = campaign().simulate_race(bounds=None, runs=5)[0]
    assert (found.method, found.guarantee) == ("asymptotic", "asymptotic")
    assert found.n_items >= 50


def test_what_cannot_be_replayed_is_refused():
    study = campaign(items=20, judged=20)
    with pytest.raises(InvalidArgumentError, match="`systems` must be at least two"):
        study.simulate_race(systems=["alpha"])
    with pytest.raises(InvalidArgumentError, match="`runs` must be at least 1; got 0"):
        study.simulate_race(runs=0)
    with pytest.raises(InvalidArgumentError, match="lies outside `bounds`"):
        study.simulate_race(bounds=(0, 0.1))
    with pytest.raises(NotEstimableError, match="two items or more that were judged for all"):
        campaign(items=20, judged=1).simulate_race()


def test_metrics_shorten_the_replays_of_a_race():
    study = campaign(
        items=300, judged=300, same=30, means={"alpha": 0.54, "beta": 0.5, "gamma": 0.5}
    )
    rng = np.random.default_rng(1)
    rows = study.outputs.rows()
    found = study.judgments.frame.select("item", "system", "score")
    likeness = rows.join(found, on=["item", "system"], how="left", maintain_order="left")["score"]
    # gamma wrote alpha's texts for some items, and has no judgments of its own there
    likeness = likeness.fill_null(0.6) + pl.Series(0.05 * rng.normal(size=rows.height))
    scored = Study.read(rows.with_columns(likeness=likeness), study.judgments.frame)
    plain, used = (
        scored.simulate_race(runs=30, metrics=metrics)[0] for metrics in ((), ("likeness",))
    )
    assert used.metrics == ("likeness",)
    assert used.judgments < 0.9 * plain.judgments
    assert used.wrong <= 0.1
    with pytest.raises(InvalidArgumentError, match="liking"):
        scored.simulate_race(metrics=["liking"])
