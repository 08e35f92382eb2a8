import re
import subprocess
import sys
from types import SimpleNamespace

from starlette.testclient import TestClient

from steelyard.collect.store import StoreError


def test_health_and_readiness_are_open_to_all(server):
    visitor = server.visitor()
    health, ready = visitor.get("/healthz"), visitor.get("/readyz")
    assert (health.status_code, health.text) == (200, "ok\n")
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "trouble": []})


def test_a_server_is_not_ready_without_its_database_or_room_on_the_disk(
    server, monkeypatch, caplog
):
    def away(_):
        raise StoreError("cannot reach the database at a-secret-place")

    with monkeypatch.context() as patch:
        patch.setattr(server.store, "read", away)
        answer = server.visitor().get("/readyz")
    assert (answer.status_code, answer.json()["trouble"]) == (503, ["database: does not answer"])
    assert "a-secret-place" in caplog.text
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
    answer = server.visitor().get("/readyz")
    assert (answer.status_code, answer.json()["trouble"]) == (503, ["disk: nearly full"])
    assert server.visitor().get("/healthz").status_code == 200


def test_the_log_holds_no_secret(server):
    link = server.site.admin_link()
    script = (
        "import logging, sys\n"
        "from steelyard.collect.web.logs import start_log\n"
        "start_log()\n"
        "logging.getLogger('steelyard.collect').warning('lost %s', sys.argv[1])\n"
        "try:\n    raise KeyError(sys.argv[1])\n"
        "except KeyError:\n    logging.getLogger('uvicorn.error').exception('broken')\n"
    )
    command = [sys.executable, "-c", script, link]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "WARNING lost" in told
    assert "/admin/enter?token=[...]" in told
    assert "KeyError" in told
    assert link.rpartition("=")[2] not in told


def test_below_a_path_everything_leads_to_where_it_is(serve):
    server = serve("public_url: https://example.org/annotate\n")
    assert server.site.rater_link().startswith("https://example.org/annotate/join?token=")
    client = TestClient(server.app, base_url="https://example.org", follow_redirects=False)
    client.portal = server.portal
    answer = client.get(server.site.invitation("ann"))
    assert answer.status_code == 303
    assert answer.headers["location"] == "/annotate/work"
    assert "Path=/annotate/" in answer.headers["set-cookie"]
    page = client.get("/annotate/work")
    assert page.status_code == 200
    addresses = re.findall(r'(?:href|src)="(/[^"]+)"', page.text)
    assert addresses
    for address in addresses:
        assert address.startswith("/annotate/static/")
        script = client.get(address)
        assert script.status_code == 200
        assert int(script.headers["content-length"]) == len(script.content)
    word = re.search(r'name="csrf-token" content="([^"]+)"', page.text)[1]
    given = client.post("/annotate/api/next", json={}, headers={"X-CSRF-Token": word})
    assert given.json()["assignment"]["id"]
    # a proxy may have taken the path off
    assert client.get("/work").status_code == 401
    assert client.get("/healthz").status_code == client.get("/annotate/healthz").status_code == 200
    admin = client.get(server.site.admin_link())
    assert admin.headers["location"] == "/annotate/admin"
    assert "Path=/annotate/admin" in admin.headers["set-cookie"]
    assert client.head("/annotate/static/style.css").status_code == 200
