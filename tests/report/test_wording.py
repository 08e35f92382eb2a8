import pytest

from steelyard.questions.about import About
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import PairDifference
from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.wording import headline, interval_abouts
from steelyard.study.answer import Answer


def pair(a, b, low, high, verdict="undecided"):
    return PairDifference(
        a=a,
        b=b,
        difference=(low + high) / 2,
        standard_error=(high - low) / 4,
        low=low,
        high=high,
        simultaneous_low=low,
        simultaneous_high=high,
        p_value=0.5,
        verdict=verdict,
        n_items=20,
        identical_items=0,
        n_judgments=40,
        more_judgments=100,
    )


def findings(*estimates, metrics=("m",), answer=None):
    systems = tuple(SystemFindings(one.system, one, None) for one in estimates)
    return PromptFindings("p", metrics, systems, None, None, answer)


def test_the_headline_is_what_the_comparison_says(make_estimate):
    compared = Comparison(
        prompt="p",
        level=0.95,
        about=About.of("pool", "random"),
        margin=None,
        pairs=(pair("a", "b", -0.1, 0.3),),
        ranks=(),
        groups=(),
        notes=(),
    )
    answer = Answer(sentence=compared.sentence, comparison=compared)
    found = headline(findings(make_estimate("a", 0.5), make_estimate("b", 0.1), answer=answer))
    assert found.answer == compared.sentence
    assert found.basis == "About these outputs, by raters like these. Holds at 95%."
    assert (found.worth.used, round(found.worth.share, 2)) == (80, 0.69)


@pytest.mark.parametrize("other", [0.45, -9.0])
def test_nothing_is_concluded_from_intervals_that_overlap_or_do_not(make_estimate, other):
    refused = Answer(sentence="Which system is better is not known: one common item.")
    found = headline(findings(make_estimate("a", 0.5), make_estimate("b", other), answer=refused))
    assert (found.answer, found.basis) == (refused.sentence, None)


def test_what_intervals_are_about_is_said_once_for_pools_of_any_size(make_estimate):
    one, other = make_estimate("a", 0.5), make_estimate("b", 0.4)
    words = "these 100 outputs, by exactly these raters"
    assert interval_abouts(findings(one, other)) == {words: ["a", "b"]}
    smaller = make_estimate("b", 0.4, pool_size=50)
    words = "these outputs, by exactly these raters"
    assert interval_abouts(findings(one, smaller)) == {words: ["a", "b"]}
    sampled = make_estimate("b", 0.4, raters="random", pool_size=50)
    assert interval_abouts(findings(one, sampled)) == {
        words: ["a"],
        "these outputs, by raters like these": ["b"],
    }


def test_the_headline_says_what_plain_means_would_need(make_estimate):
    answer = Answer(sentence="a scores 0.50 [0.40, 0.60] on average.")
    found = headline(findings(make_estimate("a", 0.5), answer=answer))
    assert found.answer == answer.sentence
    assert found.worth.sentence == (
        "This interval would have cost about 58 judgments with plain means; 40 were used."
    )
    assert found.worth.priced(0.5).endswith("40 were used (20.00 instead of 28.80).")


def test_without_an_estimate_the_headline_says_so():
    empty = SystemFindings("a", None, None)
    found = headline(PromptFindings("p", (), (empty,), None, None, None))
    assert found.answer == "No system has an estimate under this prompt; the reasons are below."
