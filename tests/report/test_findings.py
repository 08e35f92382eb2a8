import pytest

from steelyard.errors import InvalidArgumentError
from steelyard.report.findings import judged_metrics, prompt_findings, wanted_systems
from steelyard.study import Study


def test_systems_are_ranked_by_their_estimate(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    scores = [one.estimate.estimate for one in found.systems]
    assert scores == sorted(scores, reverse=True)
    assert found.overall.system == "*"
    assert [one.system for one in found.diagnoses][-1] == "*"
    assert all(one.random_raters.raters == "random" for one in found.systems)
    assert all(one.gaps == () for one in found.systems)


def test_estimates_are_those_of_the_study(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("good",), level=0.8)
    expected = {one.system: one for one in study.estimate(["good"], prompts=["overall"], level=0.8)}
    assert {one.system: one.estimate for one in found.systems} == expected


def test_a_system_with_a_constant_metric_keeps_its_plain_mean(make_study):
    study = make_study(("reference", "b", "c"), constant=("reference",))
    found = prompt_findings(study, "overall", study.systems, metrics=study.metrics)
    rows = {one.system: one for one in found.systems}
    reference = rows["reference"]
    assert reference.corrected is None
    [expected] = study.estimate((), systems=["reference"])
    assert (reference.plain.low, reference.plain.high) == (expected.low, expected.high)
    assert reference.random_raters is not None
    assert reference.plain.notes[0].startswith("plain mean only: metric 1 of 2 is constant")
    assert all(rows[name].corrected is not None for name in ("b", "c"))


def test_without_repeated_judgments_there_is_no_diagnosis_but_a_reason(make_study):
    study = make_study(judgments=1)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert found.overall is None
    assert found.diagnoses == ()
    assert found.metric == "good"
    assert all("two judgments" in one.diagnosis_gap for one in found.systems)
    assert all(one.corrected is not None for one in found.systems)


def test_a_system_without_a_diagnosis_counts_among_all_systems(make_study):
    study = make_study(("a", "b", "c"))
    frame = study.judgments.frame
    once = frame.unique(["item", "system"], keep="first", maintain_order=True)
    rows = frame.filter(frame["system"] != "c").vstack(once.filter(once["system"] == "c"))
    mixed = Study.read(study.outputs.rows(), rows)
    found = prompt_findings(mixed, "overall", mixed.systems, metrics=("good",))
    [*_, expected] = mixed.diagnose(["good"])
    assert found.overall.to_dict() == expected.to_dict()
    assert [one.system for one in found.systems if one.diagnosis is None] == ["c"]


def test_judgments_that_are_all_equal_leave_nothing_but_reasons(make_study):
    study = make_study(score=2.0)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert all(one.estimate is None for one in found.systems)
    assert all(one.gaps[0].startswith("no estimate: all judged outputs") for one in found.systems)


def test_one_rater_is_no_sample_of_raters(make_study):
    study = make_study(judgments=1, raters=1)
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert all(one.random_raters is None for one in found.systems)
    assert all("at least two raters" in one.gaps[0] for one in found.systems)


def test_the_only_system_is_its_own_whole(make_study):
    study = make_study(("only",))
    found = prompt_findings(study, "overall", study.systems, metrics=("good",))
    assert found.overall is found.systems[0].diagnosis
    assert len(found.diagnoses) == 1


def test_judged_outputs_come_with_the_most_useful_metric(study):
    found = prompt_findings(study, "overall", study.systems, metrics=("poor", "good"))
    judged = judged_metrics(study, found)
    assert found.metric == found.overall.best
    assert [one.system for one in judged] == [one.system for one in found.systems]
    assert all(len(one.metric) == len(one.human) == 14 for one in judged)
    assert judged[0].correlation == found.systems[0].diagnosis.metrics[found.metric].correlation


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
