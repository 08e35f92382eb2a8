"""Services outside, on this machine: what Prolific documents of its API and receivers of webhooks."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-prolific"  # noqa: S105 - opens nothing
STUDY = "64395e9c2332b8a59a65d51e"


class Service:
    """A server on loopback that keeps what was asked; `answers` come before what `reply` says."""

    def __init__(self):
        self.asked = []
        self.answers = []
        self.wait = threading.Event()
        self.wait.set()

    def reply(self, method, path, headers, body):  # noqa: ARG002 - others use them
        """Return a status and what to say."""
        return 200, {}

    @contextmanager
    def running(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size) or b"null")
                service.asked.append((self.command, self.path, body))
                service.wait.wait()
                given = service.answers.pop(0) if service.answers else None
                status, said, *headers = given or service.reply(
                    self.command, self.path, self.headers, body
                )
                text = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - the library calls them

            def log_message(self, *words):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            self.wait.set()
            server.shutdown()
            server.server_close()
            thread.join()


class Prolific(Service):
    """A study: published, with places, participants who take them, and codes."""

    def __init__(self, *, places=2, status="ACTIVE"):
        super().__init__()
        self.status, self.places = status, places
        self.submissions = {}
        self.codes = {"DONE": "COMPLETED", "OUT": "FIXED_SCREENOUT", "NO": "NO_CONSENT"}
        self.url = None
        self.bonuses = None

    @property
    def taken(self):
        # who gave no consent, or returned the submission, leaves the place to another
        return sum(one["status"] != "RETURNED" for one in self.submissions.values())

    def study(self):
        return {
            "id": STUDY,
            "status": self.status,
            "total_available_places": self.places,
            "places_taken": self.taken,
            "completion_codes": [
                {"code": code, "code_type": kind, "actions": [{"action": "MANUALLY_REVIEW"}]}
                for code, kind in self.codes.items()
            ],
        }

    def reply(self, method, path, headers, body):
        if headers.get("Authorization") != f"Token {TOKEN}":
            return 401, {"error": {"status": 401, "detail": "Invalid token."}}
        if path == "/api/v1/submissions/bonus-payments/":
            return self._bonus(body)
        found = re.fullmatch(rf"/api/v1/studies/{STUDY}/(transition/)?", path)
        if not found:
            return 404, {"error": {"status": 404, "detail": "Not found."}}
        if found[1]:
            return self._transition(body["action"])
        if method == "PATCH":
            return self._more(body["total_available_places"])
        return 200, self.study()

    def _transition(self, action):
        before, after = {"PAUSE": ("ACTIVE", "PAUSED"), "START": ("PAUSED", "ACTIVE")}[action]
        if self.status != before:
            return 400, {"error": {"status": 400, "detail": f"The study is {self.status}."}}
        self.status = after
        return 200, self.study()

    def _more(self, places):
        if places < self.places:
            return 400, {"error": {"status": 400, "detail": "Places cannot be reduced."}}
        self.places = places
        if self.status == "AWAITING REVIEW":
            self.status = "ACTIVE"
        return 200, self.study()

    def _bonus(self, body):
        lines = body["csv_bonuses"].splitlines()
        known = {one["pid"] for one in self.submissions.values()}
        if not all(re.fullmatch(r"\w+,\d+\.\d{2}", line) for line in lines) or not known >= {
            line.split(",")[0] for line in lines
        }:
            return 400, {"error": {"status": 400, "detail": "csv_bonuses"}}
        self.bonuses = dict(line.split(",") for line in lines)
        return 201, {"id": "b1", "study": body["study_id"]}

    def take_place(self, pid):
        """Return where Prolific sends a participant; None if the study shows no free place."""
        if self.status != "ACTIVE" or self.taken >= self.places:
            return None
        session = f"s{len(self.submissions)}"
        self.submissions[session] = {"pid": pid, "status": "ACTIVE"}
        filled = {"PROLIFIC_PID": pid, "STUDY_ID": STUDY, "SESSION_ID": session}
        return re.sub(r"\{\{%(\w+)%\}\}", lambda place: filled[place[1]], self.url)

    def complete(self, pid, way_back):
        """Take a participant back with a code."""
        place = urlsplit(way_back["url"])
        assert f"{place.netloc}{place.path}" == "app.prolific.com/submissions/complete"
        kind = self.codes[parse_qs(place.query)["cc"][0]]
        status = {"NO_CONSENT": "RETURNED", "FIXED_SCREENOUT": "SCREENED OUT"}.get(kind)
        for one in self.submissions.values():
            if one["pid"] == pid and one["status"] == "ACTIVE":
                one["status"] = status or "AWAITING REVIEW"
        is_active = any(one["status"] == "ACTIVE" for one in self.submissions.values())
        if self.taken >= self.places and not is_active and self.status == "ACTIVE":
            self.status = "AWAITING REVIEW"
        return kind
