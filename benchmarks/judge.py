"""Troubles of an endpoint: what `steelyard judge` loses, invents, repeats and pays twice.

    python -m benchmarks.judge                    # all of it, some minutes
    python -m benchmarks.judge limits --rows 300
    python -m benchmarks.judge troubles --rows 60
    python -m benchmarks.judge kills --kills 20

A local stand-in knows the right score of every text. `limits`: it lets 10 requests per second through (a
bucket of 10) while 32 are asked at a time. `troubles`: three rows of ten meet one kind of trouble when they are first
asked about. "Right" counts rows with the right score after one run, and after a second one with
--retry-invalid; "invented" counts scores that the judge did not give. `kills`: the command is killed (SIGKILL) after a random
number of replies, again and again, until it is done; the file must be the same, byte for byte, as that of a run that
nobody disturbed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from steelyard.judge import Rubric, judge

RUBRIC = Rubric(name="brevity", low=1, high=5, user="{output}")
JSON_RUBRIC = RUBRIC.model_copy(update={"name": "reasoned", "answer": "json"})
TIMEOUT = 4.0
# Troubles of the way: they pass, and no run should show them.
PASSING = (
    "429",
    "429, Retry-After",
    "500",
    "time-out",
    "drip",
    "reset",
    "half a body",
    "malformed",
    "error with 200",
    "empty",
)
# Replies without a score: the first run says so, and a second one gets it.
UNSCORED = (
    "refusal",
    "filter",
    "cut off",
    "wrong scale",
    "two numbers",
    "open thoughts",
    "injection quoted",
    "injection obeyed",
    "huge",
)
READABLE = ("markdown", "Score: N/5", "N.0", "after thoughts")
IN_JSON = ("fenced", "duplicate keys")


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


def texts_of(rows):
    return [f"text {number}" for number in range(rows)]


def limits(rows):
    kinds = {
        "no header": lambda wait: {},  # noqa: ARG005
        "Retry-After": lambda wait: {"Retry-After": str(int(np.ceil(wait)))},
        "retry-after-ms": lambda wait: {"retry-after-ms": str(1000 * wait)},
        "x-ratelimit-reset": lambda wait: {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": f"{1000 * wait:.0f}ms",
        },
    }
    print("10 requests per second allowed, 32 asked at a time")
    print(f"{'header':20}  {'rows':>5}  {'scores':>6}  {'requests per row':>16}  {'seconds':>7}")
    for name, headers in kinds.items():
        with Server(rate=10.0, headers=headers) as server:
            start = time.monotonic()
            found = judge(
                texts_of(rows), endpoint=server.base, model="m", rubric=RUBRIC, concurrency=32
            )
            took = time.monotonic() - start
            each = sum(server.asked.values()) / rows
            scored = rows - found.n_missing
            print(f"{name:20}  {rows:5}  {scored:6}  {each:16.3f}  {took:7.1f}", flush=True)


def troubles(rows, kinds=(*PASSING, *UNSCORED, *READABLE, *IN_JSON)):
    truth = np.array([right(text) for text in texts_of(rows)])
    print(f"{sum(map(meets_trouble, texts_of(rows)))} of {rows} rows meet each trouble once")
    head = f"{'trouble':18}  {'right':>6}  {'right after 2':>13}  {'invented':>8}"
    print(f"{head}  {'requests per row, first run':>27}")
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder, Server(kind) as server:
            asked = {
                "endpoint": server.base,
                "model": "m",
                "rubric": JSON_RUBRIC if kind in IN_JSON else RUBRIC,
                "cache": Path(folder, "cache"),
                # what is large takes long on a busy machine
                "timeout": 30.0 if kind == "huge" else TIMEOUT,
            }
            first = judge(texts_of(rows), **asked)
            each = sum(server.asked.values()) / rows
            second = judge(texts_of(rows), **asked, retry_invalid=True)
        scores = [one.scores for one in (first, second)]
        invented = sum(int((~np.isnan(some) & (some != truth)).sum()) for some in scores)
        counts = [int((some == truth).sum()) for some in scores]
        print(
            f"{kind:18}  {counts[0]:6}  {counts[1]:13}  {invented:8}  {each:27.2f}",
            flush=True,
        )


def kills(count, rows=200):
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as name, Server(latency=0.02) as server:
        folder = Path(name)
        lines = [
            {"item": text, "system": "s", "output": text, "extra": [1.0, None]}
            for text in texts_of(rows)
        ]
        (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        (folder / "brevity.toml").write_text(
            'name = "brevity"\nlow = 1\nhigh = 5\nuser = "{output}"\n'
        )
        whole = run(server, folder, "whole")
        assert whole.wait() == 0
        server.asked.clear()
        killed = 0
        while killed < count:
            run_ = run(server, folder, "killed")
            most = server.answered + rng.randint(1, max(1, 2 * rows // count))
            done = kill_after(server, run_, most)
            if done:
                break
            killed += 1
        code = run(server, folder, "killed").wait()
        same = (folder / "whole.jsonl").read_bytes() == (folder / "killed.jsonl").read_bytes()
        again = sum(server.asked.values()) - rows
        print(
            f"{killed} kills, then exit code {code}; the file is {'the same' if same else 'NOT THE SAME'}"
        )
        print(
            f"{sum(server.asked.values())} requests for {rows} rows: {again} were under way at a kill"
        )


def run(server, folder, name):
    command = [sys.executable, "-m", "steelyard", "judge", "outputs.jsonl"]
    command += ["--endpoint", server.base, "--model", "m", "--rubric", "brevity.toml"]
    command += ["--cache", f"{name}.cache", "-o", f"{name}.jsonl"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=os.environ)


def kill_after(server, running, most):
    """Kill when so many replies were sent; True if the run was over before."""

    def kill():
        if server.answered >= most:
            running.send_signal(signal.SIGKILL)

    server.when_answered = kill
    code = running.wait()
    server.when_answered = lambda: None
    return code == 0


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["limits", "troubles", "kills", []])
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args(arguments)
    if not chosen.parts or "limits" in chosen.parts:
        limits(chosen.rows or 300)
    if not chosen.parts or "troubles" in chosen.parts:
        troubles(chosen.rows or 60)
    if not chosen.parts or "kills" in chosen.parts:
        kills(chosen.kills)


if __name__ == "__main__":
    main(sys.argv[1:])
