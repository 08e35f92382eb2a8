"""Slow and oversized requests, against a real server on a socket."""

import resource
import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn

from steelyard.collect.web.connections import TimedConnection, allow_many_connections
from steelyard.collect.web.serving import Server, bound_socket

# Longer than any wait here; a server that never closes would be waited for so many seconds.
PATIENCE = 60
SLOW = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "


async def echo(scope, receive, send):
    """Answer a request with its body."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    length = str(len(body)).encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]}
    )
    await send({"type": "http.response.body", "body": body})


@contextmanager
def running(**limits):
    protocol = type("Limited", (TimedConnection,), limits)
    config = uvicorn.Config(
        echo, http=protocol, log_config=None, lifespan="off", timeout_graceful_shutdown=5
    )
    server = Server(config)
    with bound_socket("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def connect(address):
    return socket.create_connection(address, timeout=PATIENCE)


def closed_with(connection):
    """Return all that the server says until it closes the connection."""
    said = b""
    while True:
        try:
            part = connection.recv(65_536)
        except ConnectionResetError:
            return said
        if not part:
            return said
        said += part


def ask(address, body=b"hello"):
    """Ask in one go; return the status and the body."""
    with connect(address) as connection:
        head = f"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(head.encode() + b"\r\n" + body)
        said = closed_with(connection)
    return said.split(b" ")[1], said.partition(b"\r\n\r\n")[2]


def test_headers_that_do_not_end_are_not_waited_for():
    with running(header_seconds=0.05) as address, connect(address) as slow:
        slow.sendall(SLOW)
        assert closed_with(slow).startswith(b"HTTP/1.1 408")


def test_a_connection_that_says_nothing_is_closed():
    with running(header_seconds=0.05) as address, connect(address) as mute:
        assert closed_with(mute).startswith(b"HTTP/1.1 408")


def test_a_body_that_does_not_end_is_not_waited_for():
    with running(header_seconds=0.05, request_seconds=0.1) as address, connect(address) as slow:
        slow.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")
        assert closed_with(slow).startswith(b"HTTP/1.1 408")


def test_headers_of_more_than_the_limit_are_refused():
    with running(header_bytes=1_000) as address, connect(address) as large:
        large.sendall(SLOW + b"a" * 5_000)
        assert closed_with(large).startswith(b"HTTP/1.1 431")


def test_a_connection_may_ask_again_and_again_within_the_time_of_each_request():
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
    with running() as address, connect(address) as patient:
        for number in range(3):
            patient.sendall(head[:20])
            patient.sendall(head[20:] + b"%02d" % number)
            said = b""
            while not said.endswith(b"\r\n\r\n%02d" % number):
                said += patient.recv(65_536)
            assert said.startswith(b"HTTP/1.1 200")


def test_many_slow_connections_do_not_keep_others_out():
    with running(most=8) as address:
        slow = [connect(address) for _ in range(30)]
        for one in slow:
            one.sendall(SLOW)
        # the slow ones would be waited for, 15 seconds each, if they filled all places
        assert [ask(address) for _ in range(5)] == [(b"200", b"hello")] * 5
        for one in slow:
            one.close()


def test_a_process_may_open_as_many_files_as_its_hard_limit_says():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        allow_many_connections()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert hard == before[1]
        assert soft == min(hard, 65_536) or hard == resource.RLIM_INFINITY
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("size", [0, 200_000])
def test_an_honest_request_is_answered_whole(size):
    with running() as address:
        assert ask(address, b"x" * size) == (b"200", b"x" * size)
