"""Services outside, on this machine: what Prolific documents of its API, receivers of webhooks and of mail."""

import base64
import json
import re
import socketserver
import ssl
import threading
from contextlib import contextmanager, suppress
from email import message_from_bytes
from email.policy import default
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


class MailServer:
    """A mail server on loopback that keeps what it took; `answers` replaces its reply to a command.

    With a certificate it offers STARTTLS, or speaks TLS from the start; `in_the_clear` has the commands that came
    unencrypted.
    """

    def __init__(self, certificate=None, *, wrapped=False):
        self.messages = []
        self.logins = []
        self.answers = {}
        self.in_the_clear = []
        self.wrapped = wrapped
        self.context = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)

    @contextmanager
    def running(self):
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Talk)
        server.mail = self
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.port = server.server_address[1]
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


class _Talk(socketserver.StreamRequestHandler):
    """One connection to a `MailServer`."""

    def handle(self):
        self.mail = self.server.mail
        self.secure = None
        try:
            # a client that does not trust the certificate goes away
            with suppress(ssl.SSLError, ConnectionError):
                if self.mail.wrapped:
                    self._secure()
                self._talk()
        finally:
            if self.secure is not None:
                self.rfile.close()
                self.secure.close()

    def _say(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def _secure(self):
        self.secure = self.mail.context.wrap_socket(self.connection, server_side=True)
        self.rfile = self.secure.makefile("rb")
        self.wfile = _Sent(self.secure)

    def _talk(self):
        self._say("220 here")
        receivers = []
        while line := self.rfile.readline().decode().rstrip("\r\n"):
            word = line.split(" ", 1)[0].upper()
            if self.secure is None:
                self.mail.in_the_clear.append(word)
            if word in self.mail.answers:
                self._say(self.mail.answers[word])
            elif word == "EHLO":
                is_offered = self.mail.context is not None and self.secure is None
                self._say(
                    f"250-here\r\n{'250-STARTTLS' if is_offered else '250-8BITMIME'}\r\n250 AUTH PLAIN"
                )
            elif word == "STARTTLS":
                self._say("220 go ahead")
                self._secure()
            elif word == "AUTH":
                self.mail.logins.append(base64.b64decode(line.split(" ")[2]).split(b"\0")[1:])
                self._say("235 welcome")
            elif word == "RCPT":
                receivers.append(line.partition("<")[2].partition(">")[0])
                self._say("250 fine")
            elif word == "DATA":
                self._say("354 go on")
                text = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.mail.messages.append((receivers, message_from_bytes(text, policy=default)))
                self._say("250 taken")
            else:
                self._say("221 bye" if word == "QUIT" else "250 fine")


class _Sent:
    """What is written goes out at once, as to a socket."""

    closed = True

    def __init__(self, connection):
        self.write = connection.sendall
