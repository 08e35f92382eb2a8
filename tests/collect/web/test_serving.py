import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest
import uvicorn

from steelyard.collect.web.serving import (
    Server,
    bound_socket,
    origin_of,
    renew_secret,
    serve,
)
from steelyard.errors import InvalidArgumentError, SteelyardError

# A process that does not end would be waited for so many seconds.
PATIENCE = 120

TASK = (
    "{name: t, title: T, show: [{field: output}], "
    "widgets: [{id: q, kind: slider, label: Q, min: 0, max: 100, step: 1}], "
    "scores: [{prompt: q, rule: value, from: q}]}"
)


@pytest.fixture
def campaign(tmp_path):
    """Write a campaign for whoever has the link; return its path."""

    def write(extra=""):
        rows = [{"item": f"{n}", "system": "a", "output": f"Text {n}."} for n in range(20)]
        (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "task.yaml").write_text(TASK)
        path = tmp_path / "campaign.yaml"
        path.write_text(
            "title: A\noutputs: outputs.jsonl\ntask: task.yaml\nsample: {n: 20, seed: 1}\n"
            f"panel: {{kind: open}}\n{extra}"
        )
        return path

    return write


class Running:
    """The real command in a process of its own, on a port that was free."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "steelyard", "serve", str(path), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.links = {}
        self.connections = []
        for line in self.process.stdout:
            found = re.match(r" +(raters|admin) +(http://\S+)", line)
            if found:
                self.links[found[1]] = found[2]
            if line.startswith("Stop with Ctrl-C"):
                return
        raise AssertionError(self.process.stderr.read())

    def connect(self):
        place = urlsplit(self.links["admin"]).netloc
        self.connections.append(http.client.HTTPConnection(place, timeout=PATIENCE))
        return self.connections[-1]

    def kill(self):
        """Kill the first process and no other; return when every one that it started has ended."""
        self.process.kill()
        # there is an end of the output when nobody is left who could write
        self.process.communicate(timeout=PATIENCE)

    def stop(self, number=signal.SIGINT):
        """End it as Ctrl-C does; return code, output and errors."""
        os.killpg(self.process.pid, number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@pytest.fixture
def run():
    started = []

    def start(path, *options):
        started.append(Running(path, *options))
        return started[-1]

    yield start
    for one in started:
        for connection in one.connections:
            connection.close()
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.communicate()


def enter(connection, link):
    """Follow a link; return the cookie."""
    address = urlsplit(link)
    connection.request("GET", f"{address.path}?{address.query}")
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 303
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return {"Cookie": f"{cookie.key}={cookie.value}"}


def judge(connection, cookie):
    """Judge the next text; return what the server says to it."""
    connection.request("GET", "/work", headers=cookie)
    page = connection.getresponse().read().decode()
    word = re.search(r'csrf-token" content="([^"]+)"', page)[1]
    headers = {**cookie, "X-CSRF-Token": word, "Content-Type": "application/json"}

    def call(path, body):
        connection.request("POST", path, json.dumps(body), headers)
        return json.loads(connection.getresponse().read())

    given = call("/api/next", {})["assignment"]["id"]
    key = f"key-{given}"
    answer = {"assignment": given, "key": key, "answer": {"q": 50}, "active_ms": 1}
    return call("/api/submit", answer)


def status(server, path, cookie=None):
    """Return how a request is answered."""
    connection = server.connect()
    connection.request("GET", path, headers=cookie or {})
    return connection.getresponse().status


def watch(connection, cookie):
    """Open the stream of the dashboard and wait for a snapshot; return the stream."""
    connection.request("GET", "/admin/events", headers=cookie)
    events = connection.getresponse()
    while not events.readline().startswith(b"event: snapshot"):
        pass
    return events


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_links_work_and_ctrl_c_ends_streams_and_server(campaign, run, number):
    server = run(campaign())
    rater = server.connect()
    assert judge(rater, enter(rater, server.links["raters"]))["accepted"] is True
    admin, stream = server.connect(), server.connect()
    events = watch(stream, enter(admin, server.links["admin"]))
    code, out, err = server.stop(number)
    assert code == 0
    assert out.endswith("Stopped. The same command goes on from here.\n")
    # nothing was logged: no token, no address, no complaint
    assert err == ""
    # the stream was ended in order, not cut off
    events.read()
    events.close()


def test_a_server_that_was_killed_starts_again_and_knows_everybody(campaign, run):
    path = campaign()
    server = run(path)
    rater = server.connect()
    cookie = enter(rater, server.links["raters"])
    assert judge(rater, cookie)["done"] == 1
    server.stop(signal.SIGKILL)
    again = run(path)
    assert judge(again.connect(), cookie)["done"] == 2
    assert again.stop(signal.SIGTERM)[0] == 0


def test_a_folder_of_campaigns_is_served_and_ended_as_one(campaign, run, tmp_path):
    path = campaign()
    folder = tmp_path / "all"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        for file in (path, path.with_name("task.yaml"), path.with_name("outputs.jsonl")):
            (folder / name / file.name).write_text(file.read_text())
    (folder / "two" / "task.yaml").write_text("{}")
    server = run(folder)
    assert server.links["raters"].split("?")[0].endswith("/one/join/open")
    rater, admin, stream = (server.connect() for _ in range(3))
    enter(rater, server.links["raters"])
    cookie = enter(admin, server.links["admin"])
    stream.request("GET", "/one/admin/events", headers=cookie)
    events = stream.getresponse()
    while not events.readline().startswith(b"event: snapshot"):
        pass
    code, out, err = server.stop()
    assert (code, err) == (0, "")
    assert out.endswith("Stopped. The same command goes on from here.\n")
    events.read()
    events.close()


def test_a_second_ctrl_c_does_not_keep_the_application_from_ending_in_order():
    seen = []

    async def app(_scope, receive, send):
        for state in ("startup", "shutdown"):
            seen.append((await receive())["type"])
            await send({"type": f"lifespan.{state}.complete"})

    server = Server(uvicorn.Config(app, lifespan="on", log_config=None))
    for _ in range(2):
        server.handle_exit(signal.SIGINT, None)
    # signals are sent again at the end, to a main thread
    with suppress(KeyboardInterrupt), bound_socket("127.0.0.1", 0) as listener:
        server.run(sockets=[listener])
    assert seen == ["lifespan.startup", "lifespan.shutdown"]


def test_a_server_that_was_killed_leaves_no_process_behind(campaign, run):
    server = run(campaign())
    admin, stream = server.connect(), server.connect()
    with watch(stream, enter(admin, server.links["admin"])):
        server.kill()


def test_nobody_else_is_listened_to_unasked(campaign, run):
    server = run(campaign())
    assert server.links["admin"].startswith("http://127.0.0.1:")
    port = urlsplit(server.links["admin"]).port
    # another address of this machine
    with pytest.raises(OSError, match=r"refused|unreachable|assign"):
        socket.create_connection(("127.0.0.2", port), timeout=PATIENCE)


def test_several_processes_share_a_database_and_a_port(campaign, run, postgresql):
    import psycopg

    with psycopg.connect(postgresql(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE served TEMPLATE migrated")
    server = run(campaign(f"database: {postgresql('served')}\n"), "--processes", "2")
    cookie, done = None, []
    for _ in range(6):
        # a connection each: any of the processes may get it
        connection = server.connect()
        cookie = cookie or enter(connection, server.links["raters"])
        done.append(judge(connection, cookie)["done"])
        connection.close()
    assert done == [1, 2, 3, 4, 5, 6]
    admin, stream = server.connect(), server.connect()
    events = watch(stream, enter(admin, server.links["admin"]))
    code, _, err = server.stop()
    assert (code, err) == (0, "")
    events.close()


def test_several_processes_end_when_the_first_is_killed(campaign, run, postgresql):
    import psycopg

    with psycopg.connect(postgresql(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE orphaned TEMPLATE migrated")
    server = run(campaign(f"database: {postgresql('orphaned')}\n"), "--processes", "2")
    admin, stream = server.connect(), server.connect()
    with watch(stream, enter(admin, server.links["admin"])):
        server.kill()


def announce(_served):
    raise AssertionError("nothing should have started")


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(InvalidArgumentError, match=f"`--port` {port} cannot be used: address"),
            bound_socket("127.0.0.1", port),
        ):
            pass


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no.such.host.invalid", 0)])
def test_an_address_that_cannot_be_is_named(host, port):
    with (
        pytest.raises(InvalidArgumentError, match=r"cannot be used: .*; choose another"),
        bound_socket(host, port),
    ):
        pass


def test_several_processes_are_refused_with_sqlite(campaign):
    with pytest.raises(InvalidArgumentError, match="needs `database: postgresql://"):
        serve([campaign()], processes=2, announce=announce)


def test_no_process_is_too_few(campaign):
    with pytest.raises(InvalidArgumentError, match="`--processes` must be at least 1; got 0"):
        serve([campaign()], processes=0, announce=announce)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n: 20", "n: 21", r"21"),
        ("outputs: outputs.jsonl", "outputs: outputs.jsonl\nmetrics: [bleu]", "'bleu' is no"),
        ("kind: open", "kind: generic, rater: pid, complete: '{where}'", "must begin with https"),
    ],
)
def test_a_campaign_that_cannot_begin_leaves_nothing_behind(campaign, old, new, says):
    path = campaign()
    path.write_text(path.read_text().replace(old, new))
    before = sorted(path.parent.iterdir())
    with pytest.raises(SteelyardError, match=says):
        serve([path], port=0, announce=announce)
    assert sorted(path.parent.iterdir()) == before


def test_a_campaign_that_cannot_begin_makes_no_tables(campaign, postgresql):
    import psycopg

    with psycopg.connect(postgresql(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE untouched")
    path = campaign(f"metrics: [bleu]\ndatabase: {postgresql('untouched')}\n")
    with pytest.raises(SteelyardError, match="'bleu' is no"):
        serve([path], port=0, announce=announce)
    with psycopg.connect(postgresql("untouched")) as connection:
        tables = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone()
    assert tables == (0,)


def test_a_renewed_secret_ends_links_and_visits_but_keeps_the_judgments(campaign, run):
    path = campaign()
    server = run(path)
    rater, admin = server.connect(), server.connect()
    visit = enter(rater, server.links["raters"])
    login = enter(admin, server.links["admin"])
    assert judge(rater, visit)["done"] == 1
    server.stop()
    renew_secret(path)
    again = run(path)
    for link in server.links.values():
        address = urlsplit(link)
        assert status(again, f"{address.path}?{address.query}") == 401
    assert status(again, "/work", visit) == 401
    assert status(again, "/admin", login) == 401
    newcomer = again.connect()
    assert judge(newcomer, enter(newcomer, again.links["raters"]))["accepted"] is True
    admin = again.connect()
    admin.request("GET", "/admin/api/snapshot", headers=enter(admin, again.links["admin"]))
    assert json.loads(admin.getresponse().read())["progress"]["judgments"] == 2


def test_a_secret_that_is_not_there_is_not_renewed(campaign):
    path = campaign()
    with pytest.raises(InvalidArgumentError, match=r"campaign\.yaml has no database yet"):
        renew_secret(path)
    assert not (path.parent / "campaign.sqlite").exists()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", f"http://{socket.gethostname()}:80"),  # noqa: S104
        ("::1", "http://[::1]:80"),
        ("::", f"http://{socket.gethostname()}:80"),
        ("rate.example", "http://rate.example:80"),
    ],
)
def test_links_lead_where_the_server_listens(host, origin):
    assert origin_of(host, 80) == origin


def test_ctrl_c_is_heard_where_the_shell_lets_programs_in_the_background_ignore_it():
    from steelyard.collect.web.serving import _ended_like_ctrl_c

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), _ended_like_ctrl_c():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
