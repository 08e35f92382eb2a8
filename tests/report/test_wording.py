from dataclasses import replace

from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.wording import enumeration, headline, noise_meaning


def findings(*estimates, random=(), metrics=("m",)):
    outer = {one.system: one for one in random}
    systems = tuple(
        SystemFindings(one.system, one, outer.get(one.system), None, (), None) for one in estimates
    )
    return PromptFindings("p", metrics, systems, None)


def test_the_headline_names_the_leader_with_its_interval(make_estimate):
    found = headline(findings(make_estimate("a", 0.5), make_estimate("b", 0.1)), 2)
    assert found.leader == "a"
    assert found.sentences[0] == (
        "has the highest mean human score: 0.50 (95% interval 0.40 to 0.60)."
    )
    assert found.sentences[1] == "Its interval lies wholly above that of every other system."


def test_overlapping_intervals_make_the_lead_uncertain(make_estimate):
    others = [make_estimate(name, 0.4) for name in ("b", "c", "d", "e")]
    found = headline(findings(make_estimate("a", 0.5), *others), 2)
    assert "overlaps with that of b, c and 2 others" in found.sentences[1]


def test_the_lead_may_not_outlast_other_raters(make_estimate):
    ranked = [make_estimate("a", 0.5), make_estimate("b", 0.1)]
    wide = [replace(one, low=one.low - 1, high=one.high + 1) for one in ranked]
    assert "but no longer when raters" in headline(findings(*ranked, random=wide), 2).sentences[1]
    assert "also when raters" in headline(findings(*ranked, random=ranked), 2).sentences[1]


def test_the_headline_counts_the_judgments_saved(make_estimate):
    # Standard errors 1.2 : 1, and no item variance: data efficiency 1.44, so 40 are worth 57.6.
    found = headline(findings(make_estimate("a", 0.5)), 2)
    assert found.sentences[0].startswith("has a mean human score of 0.50 (")
    assert found.sentences[-1] == (
        "With m, the 40 judgments tell as much as about 58 would in plain means: 18 saved (31%)."
    )


def test_a_metric_that_costs_saves_nothing(make_estimate):
    one = make_estimate("a", 0.5)
    worse = replace(one, standard_error=2 * one.standard_error)
    assert headline(findings(worse), 2).sentences[-1].endswith("no judgment was saved.")


def test_a_census_leaves_the_metric_nothing_to_add(make_estimate):
    one = replace(make_estimate("a", 0.5), pool_size=20)
    assert headline(findings(one), 2).sentences[-1].startswith("Every output was judged")


def test_plain_means_are_called_so(make_estimate):
    plain = make_estimate("a", 0.5, corrected=False)
    assert "No metric was given" in headline(findings(plain, metrics=()), 2).sentences[-1]
    assert "No metric could be used" in headline(findings(plain), 2).sentences[-1]


def test_without_an_estimate_there_is_no_leader():
    empty = PromptFindings("p", (), (SystemFindings("a", None, None, None, (), None),), None)
    assert headline(empty, 2).leader is None


def test_names_are_put_into_a_phrase():
    assert enumeration(["a", "b"]) == "a and b"


def test_the_noise_ratio_is_explained_in_shares(make_diagnosis):
    assert noise_meaning(make_diagnosis("a", 3.0, 0.5)).startswith("75% of the variance")
    assert "all of their variance" in noise_meaning(make_diagnosis("a", float("inf"), 0.5))
