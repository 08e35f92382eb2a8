from urllib.parse import parse_qs, urlsplit

import pytest

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.integrations.panels import (
    Arrival,
    ExternalQuestionPanel,
    GenericPanel,
    InvitationPanel,
    OpenPanel,
    ProlificPanel,
)
from steelyard.errors import InvalidArgumentError, InvalidDataError


@pytest.fixture
def write_campaign(tmp_path):
    """Write a campaign with this panel; return it."""

    def write(panel):
        (tmp_path / "outputs.jsonl").write_text('{"item": "1", "system": "a", "output": "x"}\n')
        (tmp_path / "task.yaml").write_text(
            "{name: t, title: T, show: [{field: output}], "
            "widgets: [{id: q, kind: slider, label: Q, min: 0, max: 100, step: 1}], "
            "scores: [{prompt: q, rule: value, from: q}]}"
        )
        path = tmp_path / "campaign.yaml"
        path.write_text(
            "title: A\noutputs: outputs.jsonl\ntask: task.yaml\nsample: {n: 1, seed: 1}\n"
            f"panel: {panel}\n"
        )
        return load_campaign(path)

    return write


def test_an_invited_rater_has_one_visit_and_no_way_back():
    panel = InvitationPanel()
    assert panel.arrival({"rater": "r1"}) == Arrival("r1", "invitation")
    assert panel.way_back({}, outcome="complete") is None
    assert panel.link("https://here.example", "a.b+c") == (
        "https://here.example/join?token=a.b%2Bc"
    )


def test_an_open_link_is_the_same_for_all():
    assert OpenPanel().arrival({"rater": "new"}) == Arrival("new", "open")
    assert OpenPanel().way_back({}, outcome="complete") is None
    assert OpenPanel().link("http://here", "t") == "http://here/join/open?token=t"


PROLIFIC = {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "v1"}


def test_prolific_names_the_participant_and_the_submission():
    assert ProlificPanel(complete="DONE").arrival(PROLIFIC) == Arrival(
        "p1", "v1", {"STUDY_ID": "s1"}
    )


@pytest.mark.parametrize("missing", PROLIFIC)
def test_a_link_without_one_of_prolifics_parameters_is_refused_by_name(missing):
    query = {name: value for name, value in PROLIFIC.items() if name != missing}
    with pytest.raises(InvalidArgumentError, match=f"`{missing}` must stand in the link"):
        ProlificPanel(complete="DONE").arrival(query)


@pytest.mark.parametrize("value", ["", "x" * 201, "a\0b", "a\nb", "\ud800"])
def test_an_id_that_is_no_id_is_refused(value):
    with pytest.raises(InvalidArgumentError, match="printable"):
        ProlificPanel(complete="DONE").arrival({**PROLIFIC, "PROLIFIC_PID": value})


def test_prolific_is_told_the_code_of_the_outcome():
    panel = ProlificPanel(complete="DONE", screen_out="OUT")
    assert panel.way_back({}, outcome="complete").url == (
        "https://app.prolific.com/submissions/complete?cc=DONE"
    )
    assert panel.way_back({}, outcome="screened-out").url == (
        "https://app.prolific.com/submissions/complete?cc=OUT"
    )


def test_without_a_screen_out_code_nobody_gets_the_completion_code_for_failing():
    assert ProlificPanel(complete="DONE").way_back({}, outcome="screened-out") is None


def test_a_code_cannot_change_the_address():
    url = ProlificPanel(complete="A&cc=B#").way_back({}, outcome="complete").url
    assert parse_qs(urlsplit(url).query) == {"cc": ["A&cc=B#"]}
    assert urlsplit(url).fragment == ""


def test_the_link_for_prolific_has_the_placeholders_that_it_fills_in():
    assert (
        ProlificPanel(complete="DONE")
        .link("https://here", "t")
        .endswith(
            "/join/prolific?token=t&PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
            "&SESSION_ID={{%SESSION_ID%}}"
        )
    )


MARKETPLACE = ExternalQuestionPanel(
    hosts=["https://www.mturk.com", "https://workersandbox.mturk.com"]
)
ASSIGNED = {
    "assignmentId": "A1",
    "hitId": "H1",
    "workerId": "W1",
    "turkSubmitTo": "https://workersandbox.mturk.com",
}


def test_an_assignment_is_submitted_where_it_came_from():
    arrived = MARKETPLACE.arrival(ASSIGNED)
    assert (arrived.rater, arrived.session) == ("W1", "A1")
    back = MARKETPLACE.way_back(arrived.parameters, outcome="complete")
    assert back.method == "POST"
    assert back.url == "https://workersandbox.mturk.com/mturk/externalSubmit"
    # the protocol wants one more field than assignmentId
    assert back.fields == {"assignmentId": "A1", "outcome": "complete"}


def test_work_that_is_not_accepted_yet_is_a_preview():
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"}
    assert MARKETPLACE.arrival(preview) is None


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example",
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com@evil.example",
        "https://evil.example/https://www.mturk.com",
        "http://www.mturk.com",
        "https://www.mturk.com:8443",
        "javascript:alert(1)//www.mturk.com",
        "//www.mturk.com",
    ],
)
def test_a_form_goes_to_no_host_that_the_campaign_does_not_name(place):
    with pytest.raises(InvalidArgumentError, match="`turkSubmitTo` must be one of"):
        MARKETPLACE.arrival({**ASSIGNED, "turkSubmitTo": place})


def test_what_stands_behind_the_host_does_not_reach_the_form():
    arrived = MARKETPLACE.arrival({**ASSIGNED, "turkSubmitTo": "https://www.mturk.com/x?y#z"})
    back = MARKETPLACE.way_back(arrived.parameters, outcome="complete")
    assert back.url == "https://www.mturk.com/mturk/externalSubmit"


GENERIC = GenericPanel(
    rater="pid",
    session="sid",
    complete="https://panel.example/done?who={pid}&visit={sid}&wave={wave}",
    screen_out="https://panel.example/out/{pid}",
)


def test_a_generic_panel_gets_back_what_it_sent():
    arrived = GENERIC.arrival({"pid": "a b", "sid": "s/1", "wave": "ä&x=1#", "other": "o"})
    assert (arrived.rater, arrived.session) == ("a b", "s/1")
    back = GENERIC.way_back(arrived.parameters, outcome="complete")
    assert back.url == "https://panel.example/done?who=a%20b&visit=s%2F1&wave=%C3%A4%26x%3D1%23"
    assert parse_qs(urlsplit(back.url).query)["wave"] == ["ä&x=1#"]
    screened = GENERIC.way_back(arrived.parameters, outcome="screened-out")
    assert screened.url == "https://panel.example/out/a%20b"


def test_an_id_cannot_climb_out_of_its_place_in_the_address():
    arrived = GENERIC.arrival({"pid": "../../evil?x", "sid": "s", "wave": "w"})
    back = GENERIC.way_back(arrived.parameters, outcome="screened-out")
    assert back.url == "https://panel.example/out/..%2F..%2Fevil%3Fx"


def test_a_parameter_of_the_way_back_must_come_with_the_rater():
    with pytest.raises(InvalidArgumentError, match="`wave` must stand in the link"):
        GENERIC.arrival({"pid": "p", "sid": "s"})


def test_a_panel_without_visits_or_ways_back_is_enough():
    panel = GenericPanel(rater="pid")
    arrived = panel.arrival({"pid": "p"})
    assert arrived == Arrival("p", "panel")
    assert panel.way_back(arrived.parameters, outcome="complete") is None
    assert panel.submits_to == ()


def test_the_link_for_a_generic_panel_names_all_that_it_must_fill_in():
    assert GENERIC.link("https://here", "t") == (
        "https://here/join/panel?token=t&pid=...&sid=...&wave=..."
    )


def test_pages_may_lead_to_the_panel_and_be_framed_by_it_only():
    assert GENERIC.submits_to == ("https://panel.example",)
    assert GENERIC.framed_by == ()
    assert ProlificPanel(complete="DONE").submits_to == ("https://app.prolific.com",)
    assert MARKETPLACE.submits_to == MARKETPLACE.framed_by == tuple(MARKETPLACE.hosts)
    assert OpenPanel().framed_by == InvitationPanel().framed_by == ()


@pytest.mark.parametrize(
    ("panel", "found"),
    [
        ("{kind: invitation}", InvitationPanel()),
        ("{kind: open}", OpenPanel()),
        (
            "{kind: prolific, complete: C, screen_out: S}",
            ProlificPanel(complete="C", screen_out="S"),
        ),
        (
            "{kind: generic, rater: p, session: s, complete: 'https://x.example/{p}'}",
            GenericPanel(rater="p", session="s", complete="https://x.example/{p}"),
        ),
    ],
)
def test_the_campaign_file_names_the_panel(write_campaign, panel, found):
    assert write_campaign(panel).panel == found


def test_hosts_of_a_marketplace_are_origins():
    panel = ExternalQuestionPanel(hosts=["Frame.example", "http://localhost:9/"])
    assert panel.submits_to == ("https://frame.example", "http://localhost:9")


@pytest.mark.parametrize("address", ["/done", "javascript:alert(1)", "https://{p}/x", "ftp://a/b"])
def test_a_way_back_must_say_where_it_leads(write_campaign, address):
    with pytest.raises(InvalidDataError, match=r"panel\.complete: must begin with https://"):
        write_campaign(f"{{kind: generic, rater: p, complete: '{address}'}}")


@pytest.mark.parametrize(
    ("panel", "says"),
    [
        ("{kind: prolific, completion_code: C}", "it is called `complete`"),
        ("{kind: prolific, complete: C, excluded_code: E}", "goes back with `screen_out`"),
        ("{kind: generic, rater: p, return: 'https://x.example'}", "it is called `complete`"),
        ("{kind: generic, rater: p, excluded: 'https://x.example'}", "goes to `screen_out`"),
    ],
)
def test_keys_of_before_are_told(write_campaign, panel, says):
    with pytest.raises(InvalidDataError, match=f"is gone: .*{says}"):
        write_campaign(panel)


def test_who_does_not_agree_goes_back_to_any_panel_where_it_says():
    address = "https://panel.example/no?id={pid}"
    panel = GenericPanel(rater="pid", complete="https://panel.example/done", no_consent=address)
    assert panel.arrival({"pid": "a"}).parameters == {"pid": "a"}
    assert panel.way_back({"pid": "a"}, outcome="no-consent").url.endswith("no?id=a")
