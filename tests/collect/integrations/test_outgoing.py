import asyncio
import socket
import threading
from contextlib import contextmanager

import pytest

from stand_ins import Service
from steelyard.collect.integrations.outgoing import OutgoingError, send_json, web_address


def sent(*args, **options):
    return asyncio.run(send_json(*args, **options))


@contextmanager
def answering(text):
    """A server that says the same to whoever comes, and then closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(text)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@pytest.fixture
def service():
    with Service().running() as started:
        yield started


def test_a_request_carries_json_and_brings_the_answer_back(service):
    service.answers = [(201, {"a": [1]}, {"Retry-After": "7"})]
    got = sent("POST", f"{service.address}/a?b=c", {"text": "Grüße"})
    assert (got.status, got.json(), got.retry_seconds) == (201, {"a": [1]}, 7.0)
    assert service.asked == [("POST", "/a?b=c", {"text": "Grüße"})]


def test_a_redirect_is_an_answer_and_is_not_followed(service):
    service.answers = [(307, b"", {"Location": f"{service.address}/elsewhere"})]
    assert sent("POST", service.address, {}).status == 307
    assert len(service.asked) == 1


def test_an_answer_in_chunks_is_put_together():
    text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n2\r\n,2\r\n1\r\n]\r\n0\r\n\r\n"
    with answering(text) as url:
        assert sent("GET", url).json() == [1, 2]


def test_an_answer_of_unknown_length_ends_with_the_connection():
    with answering(b"HTTP/1.1 200 OK\r\n\r\n{}") as url:
        assert sent("GET", url).json() == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "before the answer was whole"),
        (b"", "before the answer was whole"),
        (b"SSH-2.0-nothing\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 1_100_000, "larger than 1,000,000 bytes"),
    ],
)
def test_half_an_answer_is_none(text, says):
    with answering(text) as url, pytest.raises(OutgoingError, match=says):
        sent("GET", url)


def test_an_answer_that_is_not_json_is_refused():
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n<>") as url:
        got = sent("GET", url)
    with pytest.raises(OutgoingError, match="not JSON"):
        got.json()


def test_who_does_not_answer_is_not_waited_for_long(service):
    service.wait.clear()
    with pytest.raises(OutgoingError, match=r"no answer within 0\.2 seconds"):
        sent("GET", service.address, seconds=0.2)


def test_nobody_there_is_said_without_the_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(OutgoingError, match="no connection") as caught:
        sent("GET", f"http://127.0.0.1:{port}/secret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "example.org/hook",
        "https://",
        "https://user:word@example.org",
        "https://example.org/a b",
        "https://example.org/\r\nX: y",
        "https://example.org/#part",
        "https://exämple.org",
        "https://example.org:99999",
    ],
)
def test_an_address_that_cannot_be_asked_is_told(url):
    assert web_address(url) == "must be like https://example.org/path, in plain letters"
