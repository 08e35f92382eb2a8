import asyncio
import json
import socket
import struct
import threading
from collections import Counter
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from printed_json import schema_errors
from steelyard.cli import main
from steelyard.judge import Rubric

# What never comes would be waited for so many seconds.
PATIENCE = 120


def completion(content, *, finish="stop", usage=(90, 1), **choice):
    message = {"role": "assistant", "content": content}
    found = {"choices": [{"index": 0, "message": message, "finish_reason": finish, **choice}]}
    if usage is not None:
        found["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return found


class Endpoint(ThreadingHTTPServer):
    """A judge that misbehaves on command.

    `play` decides what comes back: it is called with the body of the request and how often its
    question was asked before, and returns something with which `Handler` knows what to do.
    """

    daemon_threads = True
    # the judge opens its connections all at once
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.say = completion
        self.play = lambda body, nth: completion("4")  # noqa: ARG005
        self.asked = Counter()
        self.bodies = []
        self.authorizations = []
        self.release = threading.Event()
        self.lock = threading.Lock()
        self.under_way = self.most_under_way = 0
        self.all_here = None
        # called when a request is kept without a reply
        self.kept = lambda: None

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def requests(self):
        return sum(self.asked.values())

    def handle_error(self, request, client_address):
        """Clients that go away in the middle are part of the play."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # headers and body in one packet
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = body["messages"][-1]["content"]
        server = self.server
        with server.lock:
            nth = server.asked[question]
            server.asked[question] += 1
            server.bodies.append(body)
            server.authorizations.append(self.headers["Authorization"])
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
        if server.all_here is not None:
            server.all_here.wait(timeout=PATIENCE)
        try:
            self.act(server.play(body, nth) if self.path == "/v1/chat/completions" else 404)
        finally:
            with server.lock:
                server.under_way -= 1

    def act(self, what):
        if what == "hold":
            self.server.kept()
            self.server.release.wait(timeout=PATIENCE)
            self.close_connection = True
        elif what == "stall":
            self.send(200, b'{"choices', length=100)
            self.wfile.flush()
            self.server.kept()
            self.server.release.wait(timeout=PATIENCE)
            self.close_connection = True
        elif what == "hang up":
            self.close_connection = True
        elif what == "reset":
            # closing without a farewell: the client's system is told that the connection is gone
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        elif what == "half":
            text = json.dumps(completion("4")).encode()
            self.send(200, text[:40], length=len(text))
            self.close_connection = True
        elif isinstance(what, bytes):
            self.send(200, what)
        elif isinstance(what, int):
            self.send(what, json.dumps({"error": {"message": f"says {what}"}}).encode())
        elif isinstance(what, tuple) and isinstance(what[1], str):
            self.send(what[0], json.dumps({"error": {"message": what[1]}}).encode())
        elif isinstance(what, tuple):
            status, headers = what
            self.send(status, b"", headers=headers)
        else:
            self.send(200, json.dumps(what).encode())

    def send(self, status, text, *, length=None, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture
def server(monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Endpoint() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.release.set()
        found.shutdown()
        thread.join()


@pytest.fixture
def say():
    return completion


@pytest.fixture
def rubric():
    return Rubric(name="brevity", low=1, high=5, user="{output}")


@pytest.fixture
def waits(monkeypatch):
    """The waits that were asked for; nothing waits."""
    asked_for, sleep = [], asyncio.sleep

    async def remember(seconds):
        if seconds > 0:
            asked_for.append(seconds)
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", remember)
    return asked_for


@pytest.fixture
def time_limits(server, monkeypatch):
    """The limits that were set to replies; each is over when the server keeps silent, by no clock."""
    limits, timeout = [], asyncio.timeout

    @asynccontextmanager
    async def until_silence(seconds):
        limits.append(seconds)
        loop = asyncio.get_running_loop()
        async with timeout(None) as limit:
            server.kept = lambda: loop.call_soon_threadsafe(limit.reschedule, loop.time())
            yield

    monkeypatch.setattr("steelyard.judge.client.asyncio.timeout", until_silence)
    return limits


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        if "--json" in arguments and captured.out:
            assert schema_errors(arguments[0], json.loads(captured.out)) == []
        return stop.value.code, captured.out, captured.err

    return call
