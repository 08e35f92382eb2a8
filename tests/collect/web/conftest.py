"""A campaign on a server in this process, its clock in the test's hand."""

import json
import re

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store
from steelyard.collect.web.app import create_app

TASK = """\
name: tiny
title: How good is this text?
version: "1"
instructions: Read it.
show: [{field: output, label: Text}]
widgets:
  - {id: fluency, kind: likert, label: "Fluent?", levels: [{value: 0, label: Bad}, {value: 1, label: Fair}, {value: 2, label: Good}]}
  - {id: edit, kind: post-edit, field: output, label: Improve it, required: "fluency < 2"}
scores:
  - {prompt: fluency, rule: value, from: fluency}
  - {prompt: Edit, rule: edit-distance, from: edit, otherwise: 0}
"""
TUTORIAL = """\
tutorial:
  pass: 1
  tries: 2
  questions:
    - {id: nothing-wrong, content: {output: Good text.}, ask: fluency, answer: [2], hint: Look again., feedback: It is good.}
    - {id: garbled, content: {output: Bad text.}, ask: fluency, answer: [0], hint: Look again., feedback: It is bad.}
"""
CAMPAIGN = """\
title: A campaign
outputs: outputs.jsonl
task: task.yaml
sample: {n: 12, seed: 1}
metrics: [length]
pay: {currency: EUR, per_judgment: 0.125, tutorial_bonus: 0.5}
"""
GOOD = {"fluency": 2}
START = 1_800_000_000_000


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now

    def forward(self, *, seconds=0, minutes=0, days=0):
        self.now += int(((days * 24 * 60 + minutes) * 60 + seconds) * 1_000)


class Visitor:
    """A browser: keeps cookies, sends the token of the page it loaded."""

    def __init__(self, server):
        self.server = server
        self.client = TestClient(
            server.app,
            base_url=server.origin,
            follow_redirects=False,
            raise_server_exceptions=False,
        )
        # all requests in one event loop, as in a server
        self.client.portal = server.portal
        self.csrf = None

    def follow(self, link):
        """Open a link and the page it leads to; return that page."""
        answer = self.client.get(link.removeprefix(self.server.origin))
        assert answer.status_code == 303, answer.text
        page = self.client.get(answer.headers["location"])
        found = re.search(r'name="csrf-token" content="([^"]+)"', page.text)
        self.csrf = found[1] if found else None
        return page

    def get(self, path):
        return self.client.get(path)

    def send(self, path, body, *, method="POST", **headers):
        given = {} if self.csrf is None else {"X-CSRF-Token": self.csrf}
        return self.client.request(method, path, json=body, headers=given | headers)

    def next(self):
        answer = self.send("/api/next", {})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, assignment, answer=GOOD, *, key="key-00000001", active_ms=1_000):
        body = {"assignment": assignment, "key": key, "answer": answer, "active_ms": active_ms}
        return self.send("/api/submit", body)

    def judge(self, answer=GOOD):
        """Judge whatever is next."""
        given = self.next()["assignment"]
        stored = self.submit(given["id"], answer, key=f"key-{given['id']}")
        assert stored.status_code == 200, stored.text
        return stored.json()


class Server:
    """The application, its store and its clock."""

    def __init__(
        self, campaign, store, clock, portal, *, origin="http://127.0.0.1:8000", limits=None
    ):
        self.campaign, self.store, self.clock = campaign, store, clock
        self.portal, self.origin = portal, origin
        self.app = create_app(campaign, store, origin=origin, clock=clock, limits=limits)

    @property
    def site(self):
        return self.app.state.site

    def visitor(self):
        return Visitor(self)

    def rater(self, name="ann"):
        """Return a rater who was invited and has come."""
        found = self.visitor()
        found.follow(self.site.invitation(name))
        return found

    def admin(self):
        """Return whoever runs the campaign."""
        found = self.visitor()
        found.follow(self.site.admin_link())
        return found


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def serve(tmp_path, clock, with_tables, observer_here):  # noqa: ARG001 - for quickness
    """Start a campaign: lines for the campaign file, outputs, with or without a tutorial."""
    servers = []

    def start(
        extra="",
        *,
        outputs=12,
        tutorial=False,
        texts=None,
        task=TASK,
        chosen="",
        rows=None,
        n=None,
        limits=None,
    ):
        rows = rows or [
            {
                "item": f"i{number // 2}",
                "system": f"secret-system-{number % 2}",
                "output": texts[number] if texts else f"Text number {number}.",
                "length": number,
            }
            for number in range(outputs)
        ]
        (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "task.yaml").write_text(task + (TUTORIAL if tutorial else ""))
        path = tmp_path / "campaign.yaml"
        sample = f"n: {n or outputs // 2}{chosen}"
        path.write_text(CAMPAIGN.replace("n: 12", sample) + extra)
        campaign = load_campaign(path)
        store = Store.open(with_tables(campaign.database))
        servers.append(Server(campaign, store, clock, portal, limits=limits))
        return servers[-1]

    with start_blocking_portal() as portal:
        yield start
        for server in servers:
            portal.call(server.site.live.close)
    for server in servers:
        server.store.close()


@pytest.fixture
def server(serve):
    return serve()
