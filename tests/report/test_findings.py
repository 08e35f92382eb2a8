import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.report.findings import prompt_findings, wanted_systems
from steelyard.study import Study


def test_systems_are_ranked_by_their_estimate(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    scores = [one.estimate.estimate for one in found.systems]
    assert scores == sorted(scores, reverse=True)
    assert found.diagnosis == study.diagnose(["good"], prompts=["overall"])[0]
    assert all(one.estimate.about.raters == "raters like these" for one in found.systems)
    assert all(one.gap is None for one in found.systems)


def test_all_metrics_and_all_systems_are_used_unless_others_are_named(study):
    found = prompt_findings(study, "overall", ["beta"])
    [expected] = study.estimate(prompts=["overall"], systems=["beta"])
    assert found.metrics == study.metrics
    assert found.systems[0].estimate == expected
    assert expected.metrics == study.metrics


def test_estimates_are_those_of_the_study(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",), level=0.8)
    expected = {one.system: one for one in study.estimate(["good"], prompts=["overall"], level=0.8)}
    assert {one.system: one.estimate for one in found.systems} == expected


def test_a_system_with_a_constant_metric_is_estimated_with_the_others(make_study):
    study = make_study(("reference", "b", "c"), constant=("reference",))
    found = prompt_findings(study, "overall", study.systems, metrics=study.metrics)
    expected = {one.system: one for one in study.estimate()}
    assert {one.system: one.estimate for one in found.systems} == expected


def test_without_repeated_judgments_there_is_a_diagnosis_that_says_what_is_missing(make_study):
    study = make_study(judgments=1)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert found.metric == "good"
    assert any("hardly any output has a second" in note for note in found.diagnosis.notes)
    assert all(one.estimate is not None for one in found.systems)


def test_judgments_that_are_all_equal_leave_nothing_but_reasons(make_study):
    study = make_study(score=2.0)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert all(one.estimate is None for one in found.systems)
    assert all(
        one.gap.startswith("all judgments of each system are equal") for one in found.systems
    )
    assert found.diagnosis is None
    assert "all judgments of each system are equal" in found.diagnosis_gap


def test_one_rater_is_no_sample_of_raters(make_study):
    study = make_study(judgments=1, raters=1)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert all(one.estimate.about.raters == "exactly these raters" for one in found.systems)
    assert any("only one rater is known" in remark for remark in found.remarks)


def test_the_only_system_is_its_own_whole(make_study):
    study = make_study(("only",))
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert found.diagnosis.judges[0].ranks is None
    assert found.answer.comparison is None
    assert found.answer.sentence.startswith("only scores ")


def test_the_answer_is_what_compare_says(study):
    found = prompt_findings(study, "overall", study.systems, level=0.9)
    [expected] = study.compare(prompts=["overall"], level=0.9)
    assert found.answer.comparison == expected


def test_where_lower_is_better_the_least_estimate_comes_first(study):
    turned = Study(study.outputs, study.judgments.directed(["overall"]))
    found = prompt_findings(turned, "overall", study.systems)
    scores = [one.estimate.estimate for one in found.systems]
    assert scores == sorted(scores)


def test_wanted_systems_are_those_that_were_judged(study):
    everything = wanted_systems(study, None, None)
    assert everything == {"overall": list(study.systems), "fluent": list(study.systems)}
    assert wanted_systems(study, ["fluent"], ["beta", "beta"]) == {"fluent": ["beta"]}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prompts": ["nope"], "systems": None}, "`prompts` must have judgments .* got 'nope'"),
        ({"prompts": None, "systems": ["nope"]}, "`systems` must have judgments .* got 'nope'"),
        ({"prompts": [], "systems": None}, "got none that has"),
    ],
)
def test_what_was_not_judged_is_refused(study, asked, message):
    with pytest.raises(InvalidArgumentError, match=message):
        wanted_systems(study, **asked)
