import asyncio
import html
import json
import threading

import pytest

from steelyard.collect.dashboard import routes as administration
from steelyard.collect.dashboard.observer import ObserverError

NAMES = (
    "judgments.jsonl",
    "judgments.csv",
    "judgments.parquet",
    "submissions.jsonl",
    "ledger.csv",
    "codebook.md",
)


def rater_id(server):
    """Return the only rater's id."""
    ((found,),) = server.store.read(
        lambda connection: connection.exec_driver_sql("SELECT id FROM raters").all()
    )
    return found


def test_the_admin_link_becomes_a_cookie_for_the_admin_pages_only(server):
    visitor = server.visitor()
    answer = visitor.get(server.site.admin_link())
    assert answer.status_code == 303
    assert answer.headers["location"] == "/admin"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{server.site.cookie_name('sy_admin')}=")
    assert "; Path=/admin; Max-Age=604800; HttpOnly; SameSite=Lax" in cookie
    page = visitor.get("/admin")
    assert page.status_code == 200
    assert "A campaign" in page.text


def test_the_admin_link_and_the_login_expire(server):
    link = server.site.admin_link()
    admin = server.admin()
    server.clock.forward(days=7)
    assert admin.get("/admin").status_code == 401
    server.clock.forward(days=83)
    assert server.visitor().get(link).status_code == 401


def test_no_login_outlives_the_link_it_came_from(server):
    link = server.site.admin_link()
    server.clock.forward(days=89)
    visitor = server.visitor()
    visitor.follow(link)
    server.clock.forward(days=1)
    assert visitor.get("/admin").status_code == 401


def test_an_invitation_is_no_admin_link(server):
    token = server.site.invitation("ann").partition("token=")[2]
    assert server.visitor().get(f"/admin/enter?token={token}").status_code == 401


def test_the_snapshot_counts_what_came_in(server):
    server.rater().judge()
    snapshot = server.admin().get("/admin/api/snapshot").json()
    assert snapshot["progress"]["judgments"] == 1


def test_pausing_resuming_and_stopping_is_answered_with_what_holds_now(server):
    admin = server.admin()
    for state in ("paused", "running", "stopped"):
        answer = admin.send("/admin/api/state", {"state": state})
        assert answer.json()["state"] == state
    assert admin.send("/admin/api/state", {"state": "gone"}).status_code == 422


def test_the_goal_changes_by_what_is_given(server):
    admin = server.admin()
    assert admin.send("/admin/api/goal", {"half_width": 0.2}).json()["half_width"] == 0.2
    changed = admin.send("/admin/api/goal", {"budget": 12.5}).json()
    assert (changed["half_width"], changed["budget"]) == (0.2, 12.5)
    lifted = admin.send("/admin/api/goal", {"unlimited": True}).json()
    assert (lifted["half_width"], lifted["budget"]) == (0.2, None)
    for body in ({"half_width": 0}, {"budget": -1}, {"half_width": "0.1"}, {"else": 1}):
        assert admin.send("/admin/api/goal", body).status_code == 422
    both = admin.send("/admin/api/goal", {"budget": 1, "unlimited": True})
    assert both.status_code == 400
    assert "must not be given with `unlimited`" in both.json()["error"]["message"]


def test_more_outputs_are_drawn_until_none_is_left(serve, tmp_path):
    server = serve(outputs=12)
    # a campaign that drew a part of the pool
    text = (tmp_path / "campaign.yaml").read_text().replace("n: 6", "n: 4")
    (tmp_path / "campaign.yaml").write_text(text + "database: part.sqlite\n")
    from steelyard.collect.config.campaign import load_campaign
    from steelyard.collect.store import Store

    campaign = load_campaign(tmp_path / "campaign.yaml")
    with Store.open(campaign.database) as store:
        part = type(server)(campaign, store, server.clock, server.portal)
        admin = part.admin()
        added = admin.send("/admin/api/outputs", {"more": 2})
        assert added.json() == {"units": 4, "sample_size": 6}
        refused = admin.send("/admin/api/outputs", {"more": 1})
        assert refused.status_code == 400
        assert "must not exceed the 0" in refused.json()["error"]["message"]
        rater = part.rater()
        for _ in range(12):
            rater.judge()
        assert rater.next()["reason"] == "none-left"
        part.portal.call(part.site.live.close)


def test_invitations_are_links_of_different_raters(server):
    links = server.admin().send("/admin/api/invitations", {"count": 3}).json()["links"]
    assert len(set(links)) == 3
    given = set()
    for link in links:
        visitor = server.visitor()
        visitor.follow(link)
        given.add(visitor.next()["assignment"]["id"])
    assert len(given) == 3
    for count in (0, 1_001, "3"):
        assert server.admin().send("/admin/api/invitations", {"count": count}).status_code == 422


def test_a_decision_about_the_estimate_leaves_payment_alone(server):
    rater = server.rater()
    rater.judge()
    admin = server.admin()
    body = {"rater": rater_id(server), "about": "estimate", "verdict": "exclude", "reason": "hasty"}
    assert admin.send("/admin/api/decisions", body).json() == {
        "about": "estimate",
        "verdict": "exclude",
        "reason": "hasty",
    }
    assert "0.125" in admin.get("/admin/export/ledger.csv").text
    assert rater.next()["reason"] == "excluded"
    included = {**body, "verdict": "include", "reason": "a mistake of mine"}
    assert admin.send("/admin/api/decisions", included).status_code == 200
    assert rater.next()["status"] == "task"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"rater": "nobody"}, 404),
        ({"verdict": "refuse"}, 400),
        ({"verdict": "delete"}, 422),
        ({"reason": ""}, 422),
        ({"reason": "a\0b"}, 422),
        ({"about": "life"}, 422),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(server, change, status):
    server.rater()
    body = {"rater": rater_id(server), "about": "estimate", "verdict": "exclude", "reason": "x"}
    answer = server.admin().send("/admin/api/decisions", body | change)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("name", NAMES)
def test_every_file_can_be_downloaded(server, name):
    rater = server.rater()
    for _ in range(12):
        rater.judge()
    answer = server.admin().get(f"/admin/export/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content


def test_files_that_are_not_there_are_refused(server):
    admin = server.admin()
    for name in ("campaign.sqlite", "..%2Fcampaign.yaml", "judgments.exe"):
        assert admin.get(f"/admin/export/{name}").status_code in {404, 422}
    assert admin.get("/admin/export/judgments.csv?rows=none").status_code == 422
    assert admin.get("/admin/export/judgments.csv?rows=all").status_code == 200


def test_exported_judgments_name_system_and_score(server):
    server.rater().judge({"fluency": 1, "edit": "Better text."})
    lines = server.admin().get("/admin/export/judgments.jsonl?rows=all").text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["prompt"] for row in rows} == {"fluency", "Edit"}
    assert all(row["system"].startswith("secret-system-") for row in rows)


def test_events_end_when_the_server_ends_and_when_the_reader_leaves(server):
    cookie = server.admin().client.cookies[server.site.cookie_name("sy_admin")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/admin/events",
        "raw_path": b"/admin/events",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"cookie", f"{server.site.cookie_name('sy_admin')}={cookie}".encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }

    async def follow(stop):
        """Read events until the first has come, then end by `stop`; return all that was sent."""
        sent, came, left = [], asyncio.Event(), asyncio.Event()
        asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive():
            for message in asked:
                return message
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)
            if b"event: snapshot" in message.get("body", b""):
                came.set()

        stream = asyncio.create_task(server.app(dict(scope), receive, send))
        await asyncio.wait_for(came.wait(), 120)
        await stop(left)
        await asyncio.wait_for(stream, 120)
        return sent

    async def leave(left):
        left.set()

    async def end(_left):
        await server.site.live.close()

    async def both():
        return await follow(leave), await follow(end)

    for sent in server.portal.call(both):
        headers = dict(sent[0]["headers"])
        assert headers[b"content-type"].startswith(b"text/event-stream")
        assert headers[b"cache-control"] == b"no-store"
        assert headers[b"x-accel-buffering"] == b"no"


def test_a_write_that_fails_is_an_alert_until_one_succeeds(server):
    rater, admin = server.rater(), server.admin()
    assert admin.get("/admin/api/snapshot").json()["alerts"] == []

    def limited(connection, more):
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + more}").all()

    given = rater.next()["assignment"]["id"]
    long_edit = {"fluency": 0, "edit": "x" * 19_000}
    server.store.write(lambda connection: limited(connection, 1)).result()
    refused = rater.submit(given, long_edit)
    assert refused.status_code == 503
    assert "disk" not in refused.text
    (alert,) = admin.get("/admin/api/snapshot").json()["alerts"]
    assert alert.startswith("Judgments cannot be stored: database or disk is full.")
    server.store.write(lambda connection: limited(connection, 1_000)).result()
    assert rater.submit(given, long_edit).status_code == 200
    server.portal.call(server.site.live.refresh)
    assert admin.get("/admin/api/snapshot").json()["alerts"] == []


def test_a_dashboard_whose_numbers_take_long_comes_without_them_and_they_follow(
    server, monkeypatch
):
    admin = server.admin()
    gate, ask = threading.Event(), server.site.live.observer.ask

    async def slow(question):
        await asyncio.to_thread(gate.wait)
        return await ask(question)

    monkeypatch.setattr(server.site.live.observer, "ask", slow)
    monkeypatch.setattr(administration, "_PATIENCE_SECONDS", 0.01)
    server.site.live.refresh()
    page = admin.get("/admin")
    assert page.status_code == 200
    assert "The numbers come in a moment." in page.text
    assert "progress" not in html.unescape(page.text.partition("data-snapshot=")[2][:500])
    gate.set()
    assert admin.get("/admin/api/snapshot").json()["progress"]["judgments"] == 0
    assert "The numbers come in a moment." not in admin.get("/admin").text


def test_a_dashboard_whose_numbers_fail_at_once_says_so(server, monkeypatch):
    admin = server.admin()

    async def broken(_question):
        raise ObserverError("ended")

    monkeypatch.setattr(server.site.live.observer, "ask", broken)
    server.site.live.refresh()
    assert admin.get("/admin").status_code == 503
