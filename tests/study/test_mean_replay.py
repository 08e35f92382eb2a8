import numpy as np
import polars as pl
import pytest

from steelyard import Study
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.campaign import campaign_means
from steelyard.study.campaign_replays import CampaignReplays

SYSTEMS = ("a", "b", "c")


class World:
    """Pools of three systems, of which a part is judged twice by a panel of raters."""

    def __init__(self, *, size=400, raters=12, lenient=0.2, share=0.0, seed=0):
        rng = np.random.default_rng(seed)
        self.size, self.panel = size, raters
        item = rng.standard_normal(size)
        self.score = {one: 0.7 * item + 0.7 * rng.standard_normal(size) for one in SYSTEMS}
        # The second system copies the first on some items.
        self.same = rng.random(size) < share
        self.score["b"] = np.where(self.same, self.score["a"], self.score["b"])
        self.metric = {
            one: 0.8 * self.score[one] + 0.6 * rng.standard_normal(size) for one in SYSTEMS
        }
        self.metric["b"] = np.where(self.same, self.metric["a"], self.metric["b"])
        self.leniency = lenient * rng.standard_normal(raters)
        self.leniency -= self.leniency.mean()

    def outputs(self):
        return pl.concat(
            pl.DataFrame(
                {
                    "item": [f"i{one:04}" for one in range(self.size)],
                    "system": system,
                    "output": [
                        f"{one} of {'a' if self.same[one] and system == 'b' else system}"
                        for one in range(self.size)
                    ],
                    "metric": self.metric[system],
                }
            )
            for system in SYSTEMS
        )

    def judgments(self, rng, items, *, each=1):
        """Judge these items of all systems, by so many raters each."""
        rows = []
        for system in SYSTEMS:
            for item in items:
                for rater in rng.choice(self.panel, each, replace=False):
                    noise = self.leniency[rater] + 0.6 * rng.standard_normal()
                    score = self.score[system][item] + noise
                    rows.append((f"i{item:04}", system, f"r{rater:02}", "p", score))
        names = ["item", "system", "rater", "prompt", "score"]
        return pl.DataFrame(rows, schema=names, orient="row")


def replayed(world, judged, n, *, runs, seed=1, **options):
    """Replay one finished campaign in which so many items are judged twice."""
    rng = np.random.default_rng(seed)
    items = rng.permutation(world.size)[:judged]
    study = Study.read(world.outputs(), world.judgments(rng, items, each=2))
    return study.simulate_means([n], runs=runs, **options)


def independent(world, n, *, runs, seed=2):
    """Draw campaigns of n items from the full pool and estimate through the front door.

    Returns the root mean squared error about the means of the pool, and the mean half-width.
    """
    rng = np.random.default_rng(seed)
    outputs = world.outputs()
    errors, widths = [], []
    for _ in range(runs):
        items = rng.permutation(world.size)[:n]
        found = Study.read(outputs, world.judgments(rng, items)).estimate()
        errors.append([found[one].estimate - world.score[one].mean() for one in SYSTEMS])
        widths.append([found[one].half_width for one in SYSTEMS])
    return float(np.sqrt(np.mean(np.square(errors)))), float(np.mean(widths))


@pytest.mark.parametrize("judged", [150, 400])
def test_plain_means_have_the_error_of_draws_from_the_whole_pool(judged):
    world = World(lenient=0.0)
    *_, plain = replayed(world, judged, 60, runs=2)
    # one judgment of each of 60 outputs of 400, noise of variance 0.36
    spread = np.mean([world.score[one].var(ddof=1) for one in SYSTEMS])
    error = np.sqrt(spread * (1 / 60 - 1 / 400) + 0.36 / 60)
    assert plain.error == pytest.approx(error, rel=0.05)
    assert (plain.system, plain.rule, plain.pool_size) == ("*", "plain mean", 1200)


@pytest.mark.slow
@pytest.mark.parametrize(("judged", "n"), [(150, 60), (250, 120)])
def test_a_replay_of_a_part_agrees_with_one_from_the_full_pool(judged, n):
    world = World()
    campaigns = [replayed(world, judged, n, runs=40, seed=seed)[-2] for seed in range(6)]
    error = float(np.sqrt(np.mean([one.error**2 for one in campaigns])))
    true_error, width = independent(world, n, runs=300)
    assert error == pytest.approx(true_error, rel=0.05)
    assert np.mean([one.half_width for one in campaigns]) == pytest.approx(width, rel=0.05)
    assert np.mean([one.coverage for one in campaigns]) > 0.94


def test_a_text_of_two_systems_is_judged_once():
    world = World(share=0.5)
    found = replayed(world, 200, 80, runs=10)
    ours = found[-2]
    shared = world.same.mean()
    assert ours.judgments == pytest.approx(80 * (3 - shared), rel=0.08)
    assert ours.ledger.used == pytest.approx(ours.judgments, rel=0.05)
    assert ours.ledger.saved["sharing"] > 0
    a, b = found[0], found[2]
    assert (a.system, b.system) == ("a", "b")
    assert a.judgments == b.judgments < 80
    assert found[4].judgments == 80


def test_the_ledger_adds_up_and_equal_error_counts_judgments():
    *_, ours, plain = replayed(World(), 200, 60, runs=20)
    assert ours.ledger.plain - ours.ledger.used == pytest.approx(sum(ours.ledger.saved.values()))
    assert ours.relative_judgments == pytest.approx((ours.error / plain.error) ** 2)
    assert (plain.relative_judgments, plain.ledger) == (1, None)


def test_a_spread_draw_is_replayed_and_says_so():
    world = World()
    *_, ours, plain = replayed(world, 400, 40, runs=20, design="spread", by=["metric"])
    assert (ours.design, plain.design) == ("spread", "simple")
    assert "spread" in ours.ledger.saved
    assert ours.error < plain.error


def test_systems_that_were_drawn_apart_are_replayed_apart():
    world, rng = World(share=0.5), np.random.default_rng(3)
    parts = []
    for number, system in enumerate(SYSTEMS):
        rows = world.judgments(rng, range(100 * number, 100 * number + 100), each=2)
        parts.append(rows.filter(pl.col("system") == system))
    study = Study.read(world.outputs(), pl.concat(parts))
    *_, ours, _ = study.simulate_means([50], runs=4)
    assert ours.judgments == 150
    *_, ours, _ = study.simulate_means([50], runs=4, design="spread")
    assert ours.design == "spread"


def test_a_goal_is_reached_by_the_share_of_intervals_that_are_narrow_enough():
    found = replayed(World(), 100, 40, runs=10, half_width=0.36)
    assert 0 < found[-2].reached < 1
    assert found[-2].reached == pytest.approx(np.mean([one.reached for one in found[:-2:2]]))
    wide, narrow = (replayed(World(), 60, 20, runs=2, half_width=one)[-2] for one in (9, 0.01))
    assert (wide.reached, narrow.reached) == (1, 0)
    assert replayed(World(), 60, 20, runs=2)[-2].reached is None


def test_some_systems_are_shown_as_they_are_among_all():
    everything = replayed(World(), 100, 40, runs=6)
    part = replayed(World(), 100, 40, runs=6, systems=["c"])
    assert [one.system for one in part] == ["c", "c"]
    assert part[0] == everything[4]


def test_the_seed_decides_and_progress_is_told():
    world, steps = World(), []
    items = np.random.default_rng(1).permutation(world.size)[:40]
    study = Study.read(world.outputs(), world.judgments(np.random.default_rng(1), items, each=2))
    first = study.simulate_means(
        [10, 20], runs=12, progress=lambda done, of: steps.append((done, of))
    )
    assert steps == [(10, 24), (12, 24), (22, 24), (24, 24)]
    assert first == study.simulate_means([10, 20], runs=12)
    assert first != study.simulate_means([10, 20], runs=12, seed=1)


def test_what_cannot_be_replayed_is_named():
    world, rng = World(), np.random.default_rng(0)
    study = Study.read(world.outputs(), world.judgments(rng, range(40)))
    with pytest.raises(InvalidArgumentError, match="`design` must be one of simple, spread"):
        study.simulate_means([20], design="stratified")
    with pytest.raises(InvalidArgumentError, match="items judged for all systems; got 41"):
        study.simulate_means([41])
    with pytest.raises(InvalidArgumentError, match="at least one number"):
        study.simulate_means([])
    rows = world.judgments(rng, range(40))
    last = rows["system"].max()
    other, own = rows.filter(pl.col("system") != last), rows.filter(pl.col("system") == last)
    single = Study.read(world.outputs(), pl.concat([other, own.head(1)]))
    with pytest.raises(NotEstimableError, match=f"system '{last}': a replay needs at least 2"):
        single.simulate_means([10])
    rows = world.judgments(rng, range(20)).with_columns(
        probability=pl.when(pl.col("item") < "i0010").then(0.1).otherwise(0.2)
    )
    with pytest.raises(NotEstimableError, match="unequal probabilities"):
        Study.read(world.outputs(), rows).simulate_means([10])


def test_an_estimate_alone_is_the_estimate_with_all_that_stands_beside_it():
    world, rng = World(share=0.3), np.random.default_rng(5)
    study = Study.read(world.outputs(), world.judgments(rng, range(80), each=2))
    replays = CampaignReplays.of(study, None, prompt=None, systems=None, level=0.95)
    for by in (None, [np.arange(80.0)]):
        drawn = replays.campaign.drawn(40, np.random.default_rng(1), by=by)
        alone, whole = (
            campaign_means(drawn.systems, options=replays.options, beside=beside)
            for beside in (False, True)
        )
        for one, other in zip(alone, whole, strict=True):
            assert (one.estimate, one.low, one.high) == (other.estimate, other.low, other.high)
            assert (one.baseline, other.baseline is None) == (None, False)
