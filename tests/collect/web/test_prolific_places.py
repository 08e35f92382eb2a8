"""From a study at Prolific (a stand-in of its documented API) to the estimate and the bonus file."""

import io
import logging

import polars as pl
import pytest

from stand_ins import STUDY, TOKEN, Prolific
from steelyard import Study
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.web.app import create_app
from steelyard.errors import InvalidDataError

PANEL = """\
panel:
  kind: prolific
  complete: DONE
  screen_out: OUT
  no_consent: NO
  places: {{study: {study}, most: {most}, at_once: {at_once}}}
session: {{judgments: 4}}
"""


@pytest.fixture
def recruiting(serve, monkeypatch):
    """Start a campaign whose places are filled through the stand-in; return both."""
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    services = []

    def start(extra="", *, most=10, at_once=2, prolific=None, **options):
        prolific = prolific or Prolific()
        services.append(prolific.running())
        services[-1].__enter__()
        monkeypatch.setattr("steelyard.collect.integrations.prolific.API", prolific.address)
        panel = PANEL.format(study=STUDY, most=most, at_once=at_once)
        server = serve(panel + extra, **options)
        prolific.url = server.site.rater_link()
        return server, prolific

    yield start
    for one in services:
        one.__exit__(None, None, None)


def tend(server):
    server.portal.call(server.app.state.periodic_work.serve_outside)


def alerts(server):
    return server.portal.call(server.site.live.latest)["alerts"]


def visit(server, prolific, pid, *, judgments=4):
    """Let a participant take a place, judge, and go back; return the kind of the code."""
    link = prolific.take_place(pid)
    if link is None:
        return None
    rater = server.visitor()
    rater.follow(link)
    for _ in range(judgments):
        rater.judge()
    return prolific.complete(pid, rater.next()["return"])


def changes(prolific):
    """What was changed at Prolific, and in which order."""
    return [
        body.get("action") or body["total_available_places"]
        for method, _, body in prolific.asked
        if method != "GET"
    ]


def test_a_study_is_filled_judged_paid_and_paused_without_a_look_into_the_database(recruiting):
    server, prolific = recruiting("welcome: {purpose: We compare., consent: I agree.}\n")
    # who does not agree goes back with the code for that, and leaves the place to another
    reluctant = server.visitor()
    reluctant.follow(prolific.take_place("nobody"))
    reluctant.send("/api/consent", {"agreed": False})
    assert prolific.complete("nobody", reluctant.next()["return"]) == "NO_CONSENT"
    for pid, fluency in (("a", 2), ("b", 1)):
        tend(server)
        rater = server.visitor()
        rater.follow(prolific.take_place(pid))
        rater.send("/api/consent", {"agreed": True})
        for _ in range(4):
            rater.judge({"fluency": fluency, "edit": f"Better, says {pid}."})
        assert prolific.complete(pid, rater.next()["return"]) == "COMPLETED"
    # a colleague does the rest, for nothing at Prolific
    colleague = server.rater("colleague")
    colleague.send("/api/consent", {"agreed": True})
    for _ in range(4):
        colleague.judge()
    tend(server)
    assert changes(prolific) == [3, "PAUSE"]
    assert prolific.take_place("late") is None
    assert [one["status"] for one in prolific.submissions.values()] == [
        "RETURNED",
        *["AWAITING REVIEW"] * 2,
    ]
    admin = server.admin()
    judged = server.campaign.directory / "judgments.jsonl"
    judged.write_text(admin.get("/admin/export/judgments.jsonl").text)
    found = Study.read(server.campaign.outputs, judged).estimate(prompts=["fluency"])
    assert {one.system for one in found} == {"secret-system-0", "secret-system-1"}
    assert all(one.n_judgments == 6 and 1 < one.estimate < 2 for one in found)
    sheet = admin.get("/admin/export/bonuses.csv").text
    assert sheet == "a,0.50\nb,0.50\n"
    status, _ = prolific._bonus({"study_id": STUDY, "csv_bonuses": sheet})
    assert (status, prolific.bonuses) == (201, {"a": "0.50", "b": "0.50"})
    assert alerts(server) == []


def test_places_are_added_as_judgments_are_lacking_few_at_once_and_never_beyond_the_most(
    recruiting,
):
    server, prolific = recruiting(outputs=24, most=3, prolific=Prolific(places=1))
    tend(server)
    assert changes(prolific) == [2]
    assert [visit(server, prolific, pid) for pid in "ab"] == ["COMPLETED"] * 2
    assert prolific.status == "AWAITING REVIEW"
    tend(server)
    assert (changes(prolific), prolific.status) == ([2, 3], "ACTIVE")
    assert visit(server, prolific, "c") == "COMPLETED"
    tend(server)
    assert changes(prolific) == [2, 3]
    (told,) = alerts(server)
    assert "All 3 places of the study are taken" in told
    assert "panel.places.most" in told


def test_no_place_is_added_for_what_raters_at_work_will_bring(recruiting):
    server, prolific = recruiting(outputs=4, prolific=Prolific(places=1))
    rater = server.visitor()
    rater.follow(prolific.take_place("a"))
    tend(server)
    assert changes(prolific) == ["PAUSE"]
    # half an hour later nobody expects anything of who never began
    server.clock.forward(minutes=31)
    tend(server)
    assert changes(prolific) == ["PAUSE", 2, "START"]


def test_a_pause_on_the_dashboard_pauses_the_study_and_a_resumption_starts_it(recruiting):
    server, prolific = recruiting()
    admin = server.admin()
    for state in ("paused", "running", "stopped"):
        admin.send("/admin/api/state", {"state": state})
        tend(server)
    assert changes(prolific) == ["PAUSE", "START", "PAUSE"]


def test_a_budget_that_is_spent_pauses_the_study(recruiting):
    server, prolific = recruiting("goal: {half_width: 0.1, budget: 0.5}\n", outputs=24)
    tend(server)
    assert changes(prolific) == []
    visit(server, prolific, "a")
    tend(server)
    assert changes(prolific) == ["PAUSE"]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("PAUSED", "paused at Prolific, and not by this server"),
        ("UNPUBLISHED", "publish it there"),
        ("AWAITING REVIEW", "was ended at Prolific"),
    ],
)
def test_what_somebody_did_at_prolific_is_told_and_not_undone(recruiting, status, says):
    server, prolific = recruiting(prolific=Prolific(status=status))
    tend(server)
    assert changes(prolific) == []
    assert says in alerts(server)[0]


def test_a_study_that_prolific_is_at_work_on_is_left_alone(recruiting):
    server, prolific = recruiting(prolific=Prolific(status="PUBLISHING"))
    tend(server)
    assert (changes(prolific), alerts(server)) == ([], [])


def test_our_own_pause_is_remembered_by_a_server_that_starts_anew(recruiting):
    server, prolific = recruiting()
    admin = server.admin()
    admin.send("/admin/api/state", {"state": "paused"})
    tend(server)
    server.app = create_app(server.campaign, server.store, origin=server.origin, clock=server.clock)
    admin.send("/admin/api/state", {"state": "running"})
    tend(server)
    assert changes(prolific) == ["PAUSE", "START"]


def test_a_code_that_the_study_does_not_know_is_told(recruiting):
    prolific = Prolific()
    del prolific.codes["NO"]
    server, _ = recruiting(prolific=prolific)
    tend(server)
    (told,) = alerts(server)
    assert "does not know panel.no_consent" in told


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((503, b"down"), "down (status 503)"),
        ((302, b"", {"Location": "http://127.0.0.1:1/"}), "redirects are not followed"),
        ((200, b"<html>"), "the answer is not JSON"),
        ((200, []), "does not describe a study"),
        ((400, {"detail": f"no {TOKEN}"}), '"no [...]"'),
    ],
)
def test_what_fails_at_prolific_is_told_and_tried_again_while_raters_work(
    recruiting, answer, says, caplog
):
    server, prolific = recruiting()
    prolific.answers = [answer]
    with caplog.at_level(logging.DEBUG):
        tend(server)
    (told,) = alerts(server)
    assert says in told
    assert "again in 30 seconds" in told
    assert TOKEN not in told + caplog.text
    assert visit(server, prolific, "a") == "COMPLETED"
    asked = len(prolific.asked)
    tend(server)
    assert len(prolific.asked) == asked, "not before the half minute is over"
    server.clock.forward(seconds=30)
    tend(server)
    server.site.live.refresh()
    assert alerts(server) == []


def test_prolific_says_when_to_ask_again(recruiting):
    server, prolific = recruiting()
    prolific.answers = [(429, {}, {"Retry-After": "120"})]
    tend(server)
    assert "again in 120 seconds" in alerts(server)[0]


def test_a_token_that_is_not_set_is_told_before_anybody_comes(recruiting, monkeypatch):
    monkeypatch.delenv("PROLIFIC_TOKEN")
    monkeypatch.setattr("os.environ", {})
    with pytest.raises(InvalidDataError, match="PROLIFIC_TOKEN, which holds no token"):
        recruiting()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("session: {judgments: 4}", ""), "needs session.judgments"),
        (
            ("most: 10", "most: 10, token_env: T"),
            "is read from the environment variable PROLIFIC_TOKEN",
        ),
        ((STUDY, "../x"), "study"),
        (("complete:", "completion_code:"), "is gone: it is called `complete`"),
    ],
)
def test_places_that_cannot_be_kept_are_refused_in_the_campaign_file(recruiting, change, says):
    server, _ = recruiting()
    path = server.campaign.directory / "campaign.yaml"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(InvalidDataError, match=says):
        load_campaign(path)


def test_bonuses_are_in_whole_cents_and_for_the_panels_raters_alone(recruiting):
    server, prolific = recruiting(outputs=24)
    # three of 0.125: Prolific takes no thousandths
    link = prolific.take_place("a")
    rater = server.visitor()
    rater.follow(link)
    for _ in range(3):
        rater.judge()
    server.rater("somebody invited").judge()
    admin = server.admin()
    assert admin.get("/admin/export/bonuses.csv").text == "a,0.38\n"
    paid = pl.read_csv(io.StringIO(admin.get("/admin/export/payments.csv").text))
    assert sorted(paid["PID"]) == ["a", "somebody invited"]
