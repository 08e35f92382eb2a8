import json
import logging
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from steelyard.collect.store import StoreError
from steelyard.collect.web.app import create_app
from steelyard.collect.web.logs import start_log

TOKEN = "scrape-me-0123456789"  # noqa: S105
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def scraped(server):
    """The same campaign with metrics."""
    app = create_app(server.campaign, server.store, clock=server.clock, metrics_token=TOKEN)
    with_metrics = SimpleNamespace(app=app, site=app.state.site)
    client = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
    client.portal = server.portal
    with_metrics.client = client
    return with_metrics


def samples(text):
    """Values by name and labels; every line must be one of the text format."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))", line)
        else:
            match = re.fullmatch(
                r'([a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\S+)', line
            )
            assert match, line
            assert match[1] not in found
            found[match[1]] = float(match[2])
    return found


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


def test_metrics_are_for_whoever_has_the_token(server, scraped):
    assert server.visitor().get("/metrics").status_code == 404
    assert scraped.client.get("/metrics").status_code == 401
    wrong = scraped.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}x"})
    assert wrong.status_code == 401
    answer = scraped.client.get("/metrics", headers=AUTHORIZED)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


def test_metrics_count_requests_by_route_and_the_campaign(server, scraped):
    server.rater().judge()
    link = scraped.site.invitation("ann").removeprefix(scraped.site.origin)
    scraped.client.get(link)
    scraped.client.get("/join?token=bad")
    for path in ("/nowhere/1", "/nowhere/2", "/static/style.css"):
        scraped.client.get(path)
    found = samples(scraped.client.get("/metrics", headers=AUTHORIZED).text)
    name = "steelyard_http_requests_total"
    assert found[f'{name}{{route="/join",status="303"}}'] == 1
    assert found[f'{name}{{route="other",status="404"}}'] == 2
    assert found[f'{name}{{route="/static",status="200"}}'] == 1
    seconds = "steelyard_http_request_seconds"
    assert found[f'{seconds}_bucket{{route="/join",le="+Inf"}}'] == 2
    assert found[f'{seconds}_count{{route="/join"}}'] == 2
    assert found["steelyard_campaign_judgments"] == 1
    assert found["steelyard_campaign_raters"] == 1
    assert found["steelyard_disk_free_bytes"] > 0
    assert not [one for one in found if "ann" in one or "token" in one]


def test_a_log_of_json_has_a_line_for_each_request_and_no_secret(server):
    link = server.site.admin_link()
    script = (
        "import logging, sys\n"
        "from steelyard.collect.web.logs import start_log\n"
        "start_log('json')\n"
        "logging.getLogger('steelyard.collect').warning('lost %s', sys.argv[1])\n"
        "facts = {'route': '/join', 'status': 303, 'milliseconds': 1.5}\n"
        "logging.getLogger('steelyard.access').info('GET /join 303', extra={'facts': facts})\n"
        "try:\n    raise KeyError(sys.argv[1])\n"
        "except KeyError:\n    logging.getLogger('uvicorn.error').exception('broken')\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, link], capture_output=True, text=True, check=True
    ).stderr
    lost, access, broken = map(json.loads, told.splitlines())
    assert (lost["level"], lost["logger"]) == ("warning", "steelyard.collect")
    assert lost["message"].endswith("/admin/enter?token=[...]")
    assert (access["route"], access["status"], access["milliseconds"]) == ("/join", 303, 1.5)
    assert "KeyError" in broken["exception"]
    assert link.rpartition("=")[2] not in told


def test_requests_are_logged_by_route_only_if_asked(server, caplog):
    with caplog.at_level(logging.INFO, logger="steelyard.access"):
        server.rater()
        server.visitor().get("/healthz")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["GET /join 303", "GET /work 200"]
    assert caplog.records[0].facts["status"] == 303
    caplog.clear()
    server.rater("bob")
    assert not caplog.records


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


def test_starting_a_log_of_words_logs_no_requests():
    start_log("text")
    assert not logging.getLogger("steelyard.access").isEnabledFor(logging.INFO)
