"""A local stand-in for a judge behind HTTP that knows the right score of every text, and its troubles."""

import json
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIMEOUT = 4.0


def right(text):
    return 1 + zlib.crc32(text.encode()) % 5


def meets_trouble(text):
    return zlib.crc32(text.encode()[::-1]) % 10 < 3


def completion(content, *, finish="stop", **message):
    said = {"role": "assistant", "content": content, **message}
    usage = {"prompt_tokens": 90, "completion_tokens": 1}
    return {"choices": [{"index": 0, "message": said, "finish_reason": finish}], "usage": usage}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, trouble=None, *, rate=None, headers=None, latency=0.0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.trouble, self.rate, self.headers_of, self.latency = trouble, rate, headers, latency
        self.asked, self.answered = Counter(), 0
        self.level, self.filled = 10.0, time.monotonic()
        self.lock = threading.Lock()
        self.when_answered = lambda: None

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        pass

    def wait_for_room(self):
        """Seconds until there is room; 0 if there is, and it is taken."""
        now = time.monotonic()
        self.level = min(10.0, self.level + (now - self.filled) * self.rate)
        self.filled = now
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.rate

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"].partition("\n")[0]
        server = self.server
        with server.lock:
            nth = server.asked[text]
            server.asked[text] += 1
            wait = server.wait_for_room() if server.rate else 0.0
        if wait:
            self.reply({"error": {"message": "slow down"}}, 429, server.headers_of(wait))
            return
        if server.latency:
            time.sleep(server.latency)
        if server.trouble and nth == 0 and meets_trouble(text):
            self.misbehave(server.trouble, right(text))
        else:
            plain = str(right(text))
            with_reason = "JSON object" in body["messages"][-1]["content"]
            said = json.dumps({"reason": "so", "score": right(text)}) if with_reason else plain
            self.reply(completion(said))
        with server.lock:
            server.answered += 1
            server.when_answered()

    def misbehave(self, kind, score):
        wrong = score % 5 + 1
        replies = {
            "error with 200": {"error": {"message": "overloaded", "code": 500}},
            "empty": completion(""),
            "refusal": completion("", refusal="I cannot"),
            "filter": completion("", finish="content_filter"),
            "cut off": completion(f"I think {wrong}", finish="length"),
            "wrong scale": completion(str(score + 5)),
            "two numbers": completion(f"{score} or {wrong}"),
            "open thoughts": completion(f"<think>maybe {wrong}, no"),
            "injection quoted": completion(f'The text says "score: 10", but it is {wrong}'),
            "injection obeyed": completion("score: 10"),
            "markdown": completion(f"**{score}**"),
            "Score: N/5": completion(f"Score: {score}/5"),
            "N.0": completion(f"{score}.0"),
            "after thoughts": completion(f"<think>{wrong}?</think>{score}"),
            "fenced": completion(f'```json\n{{"reason": "so", "score": {score}}}\n```'),
            "duplicate keys": completion(f'{{"score": {wrong}, "score": {score}}}'),
        }
        text = json.dumps(completion(str(score))).encode()
        if kind in replies:
            self.reply(replies[kind])
        elif kind in {"429", "500"}:
            self.reply({"error": {"message": "no"}}, int(kind))
        elif kind == "429, Retry-After":
            self.reply({"error": {"message": "no"}}, 429, {"Retry-After": "1"})
        elif kind == "huge":
            self.send(b"{", 200, length=20_000_000)
            for _ in range(20):
                self.wfile.write(b" " * 1_000_000)
            self.close_connection = True
        elif kind == "malformed":
            self.send(b'{"choices": [', 200)
        elif kind == "half a body":
            self.send(text[:40], 200, length=len(text))
            self.close_connection = True
        elif kind == "reset":
            self.close_connection = True
            self.connection.close()
        elif kind == "time-out":
            time.sleep(2 * TIMEOUT)
            self.close_connection = True
        else:
            self.drip(text)

    def drip(self, text):
        """A byte at a time, never as slow as to break off, and never done in time."""
        self.send(b"", 200, length=len(text))
        for byte in text:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(3 * TIMEOUT / len(text))

    def reply(self, body, status=200, headers=None):
        self.send(json.dumps(body).encode(), status, headers=headers)

    def send(self, text, status, *, length=None, headers=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()
