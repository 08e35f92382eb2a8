"""Who may only look, and what all raters are told."""

import pytest

from steelyard.collect.store.settings import current

CHANGES = {
    "/admin/api/state": {"state": "stopped"},
    "/admin/api/goal": {"budget": 1},
    "/admin/api/message": {"text": "Hello"},
    "/admin/api/outputs": {"more": 1},
    "/admin/api/invitations": {"count": 1},
    "/admin/api/invitations/revoke": {"name": "ann"},
    "/admin/api/hand-backs": {"rater": "r"},
    "/admin/api/decisions": {
        "rater": "r",
        "about": "estimate",
        "verdict": "exclude",
        "reason": "so",
    },
}


@pytest.fixture
def viewer(server):
    """Somebody who came by the link for looking."""
    found = server.visitor()
    found.page = found.follow(server.site.admin_link("viewer"))
    return found


@pytest.mark.parametrize("path", CHANGES)
def test_who_only_looks_changes_nothing(server, viewer, path):
    before = server.store.read(current)
    refused = viewer.send(path, CHANGES[path])
    assert (refused.status_code, "for looking only" in refused.text) == (403, True)
    assert server.store.read(current) == before


def test_every_change_of_the_dashboard_is_kept_from_those_who_look(server):
    paths = server.app.openapi()["paths"]
    assert {
        path for path, methods in paths.items() if path.startswith("/admin/") and "post" in methods
    } == set(CHANGES)


def test_who_only_looks_sees_dashboard_and_answers_without_panel_ids(server, viewer):
    server.rater("panel-id-of-ann").judge()
    assert viewer.page.status_code == 200
    for path in ("/admin", "/admin/answers", "/admin/api/snapshot", "/admin/api/answers"):
        shown = viewer.get(path)
        assert shown.status_code == 200
        assert "panel-id-of-ann" not in shown.text
    assert "panel-id-of-ann" in server.admin().get("/admin/api/answers").text
    assert viewer.get("/admin/export/judgments.csv").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/admin/export/ledger.csv",
        "/admin/export/payments.csv",
        "/admin/export/bonuses.csv",
        "/admin/api/invitations",
        "/admin/api/viewer",
        "/admin/api/rater-link",
    ],
)
def test_what_pays_or_lets_in_is_not_for_those_who_look(viewer, path):
    assert viewer.get(path).status_code == 403


def test_the_page_of_those_who_look_offers_no_change(server, viewer):
    assert "Looking only" in viewer.page.text
    assert "data-action" not in viewer.page.text
    assert "payments.csv" not in viewer.page.text
    assert "data-action" in server.admin().get("/admin").text


def test_the_link_for_looking_is_on_the_dashboard(server):
    link = server.admin().get("/admin/api/viewer").json()["link"]
    assert "Looking only" in server.visitor().follow(link).text


def test_raters_are_told_what_the_dashboard_says_as_plain_text(server):
    rater = server.rater()
    assert rater.get("/api/notice").json() == {"text": ""}
    admin = server.admin()
    admin.send("/admin/api/message", {"text": " <b>We are back at noon.</b> "})
    assert rater.get("/api/notice").json() == {"text": "<b>We are back at noon.</b>"}
    assert "&lt;b&gt;We are back at noon." in rater.get("/work").text
    assert admin.get("/admin/api/snapshot").json()["message"] == "<b>We are back at noon.</b>"
    admin.send("/admin/api/message", {"text": ""})
    assert rater.get("/api/notice").json() == {"text": ""}
    assert server.store.read(current).message is None


def test_a_message_outlives_the_server_and_other_changes(server, serve):
    server.admin().send("/admin/api/message", {"text": "Noon."})
    server.admin().send("/admin/api/state", {"state": "paused"})
    again = serve()
    assert again.rater().get("/api/notice").json() == {"text": "Noon."}


def test_nobody_but_raters_reads_the_message(server):
    assert server.visitor().get("/api/notice").status_code == 401
