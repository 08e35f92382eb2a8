from dataclasses import replace

from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.wording import enumeration, headline, interval_abouts, noise_meaning


def findings(*estimates, metrics=("m",)):
    systems = tuple(SystemFindings(one.system, one, None, None, None) for one in estimates)
    return PromptFindings("p", metrics, systems, None)


def test_the_headline_names_the_leader_with_its_interval(make_estimate):
    found = headline(findings(make_estimate("a", 0.5), make_estimate("b", 0.1)), 2)
    assert found.leader == "a"
    assert found.sentences[0] == (
        "has the highest mean human score: 0.50 (95% interval 0.40 to 0.60, about these 100 outputs, "
        "by exactly these raters)."
    )
    assert "does not say how sure the order is" in found.sentences[1]


def test_nothing_is_concluded_from_intervals_that_overlap_or_do_not(make_estimate):
    near = headline(findings(make_estimate("a", 0.5), make_estimate("b", 0.45)), 2)
    far = headline(findings(make_estimate("a", 0.5), make_estimate("b", -9.0)), 2)
    assert near.sentences[1:] == far.sentences[1:]


def test_what_intervals_are_about_is_said_once_for_pools_of_any_size(make_estimate):
    one, other = make_estimate("a", 0.5), make_estimate("b", 0.4)
    words = "these 100 outputs, by exactly these raters"
    assert interval_abouts(findings(one, other)) == {words: ["a", "b"]}
    smaller = replace(other, pool_size=50)
    words = "these outputs, by exactly these raters"
    assert interval_abouts(findings(one, smaller)) == {words: ["a", "b"]}
    sampled = replace(other, raters="random")
    assert interval_abouts(findings(one, sampled)) == {
        words: ["a"],
        "these outputs, by raters like these": ["b"],
    }


def test_the_headline_counts_the_judgments_saved(make_estimate):
    # Standard errors 1.2 : 1, and no item variance: data efficiency 1.44, so 40 are worth 57.6.
    found = headline(findings(make_estimate("a", 0.5)), 2)
    assert found.sentences[0].startswith("has a mean human score of 0.50 (")
    assert found.sentences[-1] == (
        "With m, the 40 judgments are worth about 58 in plain means: 18 saved (31%)."
    )


def test_what_leniency_saves_is_not_put_down_to_the_metric(make_estimate):
    adjusted = replace(make_estimate("a", 0.5), raters="adjusted")
    both = headline(findings(adjusted), 2).sentences[-1]
    assert both.startswith("With m, and the leniency of raters taken out, the 40 judgments")
    without = headline(findings(replace(adjusted, shares=(0.0,), slope=(0.0,))), 2).sentences[-1]
    assert without.startswith("With the leniency of raters taken out, the 40 judgments")


def test_a_control_that_carries_nothing_saves_nothing(make_estimate):
    unused = replace(make_estimate("a", 0.5), shares=(0.0,), slope=(0.0,))
    assert headline(findings(unused), 2).sentences[-1] == (
        "No use is made of m, because judgments do not follow: no judgment was saved."
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
    empty = PromptFindings("p", (), (SystemFindings("a", None, None, None, None),), None)
    assert headline(empty, 2).leader is None


def test_names_are_put_into_a_phrase():
    assert enumeration(["a", "b"]) == "a and b"


def test_the_noise_ratio_is_explained_in_shares(make_diagnosis):
    assert noise_meaning(make_diagnosis("a", 3.0, 0.5)).startswith("75% of the variance")
    assert "all of their variance" in noise_meaning(make_diagnosis("a", float("inf"), 0.5))
