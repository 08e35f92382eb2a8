import numpy as np
import pytest
from scipy.stats import binomtest, norm

from steelyard.campaign.part import part_of
from steelyard.model.anytime import (
    Looks,
    growth_needed,
    half_widths_later,
    later,
    looks_at,
    same_variances,
)
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals

ONCE = norm.ppf(0.975)


def campaign(n=60, k=2, seed=0, pool=400):
    """The same n items for k systems, one judgment of each output."""
    rng = np.random.default_rng(seed)
    item, system = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    score = rng.normal(size=n)[item] + 0.3 * system + rng.normal(size=n * k)
    size = np.full(k, pool)
    return Campaign(
        systems=tuple(f"s{one}" for one in range(k)),
        metrics=(),
        score=score,
        output=np.arange(n * k),
        item=item,
        writers=np.eye(k)[system],
        metric=np.zeros((n * k, 0)),
        pools=Pools.apart(
            size, np.zeros((k, 0)), np.zeros((k, 0, 0)), np.full((k, k), float(pool))
        ),
        in_pool=np.ones((n, k), dtype=bool),
    )


def at(information, worth=100.0):
    return Looks(np.array([information]), np.array([worth]))


def test_the_boundary_of_obrien_and_fleming_is_met_at_the_end_and_before():
    # P(|B| ever beyond c) = 2 P(|B(1)| > c) = 0.05, so c = 2.2414
    assert at(1.0).critical(ONCE) == pytest.approx(2.2414, abs=1e-4)
    assert at(0.25).critical(ONCE) == pytest.approx(2 * 2.2414, abs=1e-3)
    # no score is asked for that is 100,000 times rarer than the level allows
    assert at(0.01).critical(ONCE) == pytest.approx(norm.isf(0.025e-5))


def test_the_mixture_is_that_of_its_formula_and_nearly_flat():
    ratio = 80 / 10
    expected = np.sqrt((1 + 1 / ratio) * (np.log1p(ratio) - 2 * np.log(0.05)))
    assert at(0.0, worth=80.0).critical(ONCE) == pytest.approx(expected)
    wide = [float(at(0.0, worth=n).critical(ONCE)[0]) / ONCE for n in (20, 50, 200, 600)]
    assert max(wide) < 1.7
    assert min(wide) == pytest.approx(1.55, abs=0.02)


@pytest.mark.parametrize("information", [0.0, 0.02, 0.3, 1.0, 1.5])
@pytest.mark.parametrize("once", [1.96, 2.8, 3.5])
def test_scores_and_critical_values_are_each_others_inverse(information, once):
    looks = at(information)
    assert looks.once(looks.critical(once)) == pytest.approx(once, abs=1e-9)
    assert looks.once(-looks.critical(once)) == pytest.approx(-once, abs=1e-9)


@pytest.mark.parametrize("planned", [400, 200, None])
def test_a_random_walk_leaves_its_intervals_at_some_look_as_rarely_as_promised(planned):
    rng = np.random.default_rng(1)
    n = np.arange(1, 401)
    walk = rng.standard_normal((4000, 400)).cumsum(axis=1) / np.sqrt(n)
    information = np.zeros(400) if planned is None else n / planned
    critical = Looks(information, n.astype(float)).critical(ONCE)
    missed = (np.abs(walk) > critical)[:, 9:].any(axis=1).sum()
    assert binomtest(int(missed), 4000, 0.05, "greater").pvalue > 0.001


def test_errors_later_are_those_now_at_the_end_and_fall_before():
    found = fit(campaign())
    answers = found.answers()
    now, half = later(found, answers, np.eye(2), np.array([[1.0, 1.0], [0.5, 0.5]]))
    assert now == pytest.approx(np.diag(answers.covariance))
    assert (half < 0.55 * now).all()


def test_information_is_the_share_of_judgments_where_the_pool_is_large():
    found = fit(campaign(pool=10**6))
    looks = looks_at(found, found.answers(), np.array([[1.0, -1.0]]), np.full(2, 0.3))
    assert looks.information == pytest.approx(0.3, rel=1e-3)


def test_a_look_at_the_planned_end_is_an_interval_of_97_and_a_half_percent():
    found = fit(campaign())
    answers, forms = found.answers(), np.eye(2)
    looks = looks_at(found, answers, forms, np.ones(2))
    looked = intervals(found, answers, forms, 0.95, looks)
    once = intervals(found, answers, forms, 0.975)
    assert looked.low == pytest.approx(once.low)
    assert looked.high == pytest.approx(once.high)


def test_four_times_the_judgments_halve_an_interval():
    found = fit(campaign(pool=10**6))
    answers, form = found.answers(), np.array([[1.0, -1.0]])
    options = {"share": None, "now": np.array([0.4]), "once": ONCE}
    half = half_widths_later(found, answers, form, growth=np.array([1.0, 4.0]), **options)
    assert half[0] == pytest.approx(0.4)
    # the mixture's factor moves a little, and so do degrees of freedom
    assert half[1] == pytest.approx(0.2, rel=0.1)
    growth = growth_needed(found, answers, form, aim=half[1], **options)
    assert growth == pytest.approx(4.0, rel=0.06)
    assert growth_needed(found, answers, form, aim=np.array([1e-4]), **options) == np.inf


def test_the_same_judgments_at_known_variances_give_the_same_answers():
    made = campaign()
    learned = fit(made)
    again = same_variances(learned, made)
    assert again.answers().mean == pytest.approx(learned.answers().mean)
    assert again.answers().covariance == pytest.approx(learned.answers().covariance)


def test_variances_are_not_lent_to_other_effects():
    made = campaign()
    first = part_of(made, np.flatnonzero(made.writers[made.output][:, 0] > 0))
    assert same_variances(fit(made), first) is None
