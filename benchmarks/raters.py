"""Raters that work as the page does, over plain HTTP: open, next, submit; without a browser.

Shared by the load benchmark and by the test that kills the server.
"""

import asyncio
import json
import re
import secrets
import socket
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

# Three facets and an edit that is required below the top: the shape of the paper's first task.
TASK = """\
name: load
title: Load
version: "1"
instructions: Rate the text.
show:
  - {field: output, label: Text}
widgets:
  - {id: fluency, kind: likert, label: Fluent?, levels: &levels [{value: 0, label: Bad}, {value: 1, label: Fair}, {value: 2, label: Good}]}
  - {id: overall, kind: likert, label: Good?, levels: *levels}
  - {id: edit, kind: post-edit, field: output, label: Improve it, required: "fluency < 2 or overall < 2"}
scores:
  - {prompt: fluency, rule: value, from: fluency}
  - {prompt: overall, rule: value, from: overall}
  - {prompt: Edit, rule: edit-distance, from: edit, otherwise: 0}
"""
CAMPAIGN = """\
title: Load
outputs: outputs.jsonl
task: task.yaml
sample: {{n: {outputs}, seed: 1}}
judgments_per_output: {judgments}
metrics: [length]
goal: {{half_width: 0.01, prompts: [overall]}}
database: {database}
panel: {{kind: open}}
pay: {{currency: USD, per_judgment: 0.25}}
"""
WORDS = ("the", "report", "says", "that", "rain", "fell", "over", "hills", "before", "noon")


def write_campaign(folder, *, outputs, judgments=1, database="campaign.sqlite"):
    """Write a campaign of so many outputs of about 55 words; return its path."""
    with (folder / "outputs.jsonl").open("w", encoding="utf-8") as file:
        for item in range(outputs):
            text = " ".join(WORDS[(item * 7 + k * k) % len(WORDS)] for k in range(55))
            row = {"item": f"{item}", "system": "a", "output": f"{item} {text}", "length": item % 9}
            file.write(json.dumps(row) + "\n")
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    path = folder / "campaign.yaml"
    path.write_text(
        CAMPAIGN.format(outputs=outputs, judgments=judgments, database=database), encoding="utf-8"
    )
    return path


class BadResponseError(Exception):
    """The server answered with a status that a rater's page does not expect."""


@dataclass
class Rater:
    """One rater: a connection that is kept, cookies, and the token of the page.

    `submit` and `next` may be called again after the connection broke, as the page does.
    """

    link: str
    timeout: float = 60.0
    csrf: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    streams: tuple | None = None

    async def open(self):
        """Follow the link, take the cookie, read the page."""
        address = urlsplit(self.link)
        status, headers, _ = await self.request("GET", f"{address.path}?{address.query}")
        if status != 303:
            raise BadResponseError(f"join: {status}")
        status, _, body = await self.request("GET", headers["location"])
        found = re.search(rb'name="csrf-token" content="([^"]+)"', body)
        if status != 200 or found is None:
            raise BadResponseError(f"work: {status}")
        self.csrf = found[1].decode()

    async def next(self):
        """Ask for work; return the assignment, or None when there is none."""
        reply = await self._call("POST", "/api/next", {})
        return reply["assignment"] if reply["status"] == "task" else None

    async def submit(self, assignment, key):
        """Send a complete answer under an idempotency key; return the reply."""
        body = {
            "assignment": assignment["id"],
            "key": key,
            "answer": answer_to(assignment["content"]["output"]),
            "active_ms": 5000,
        }
        return await self._call("POST", "/api/submit", body)

    async def _call(self, method, path, body):
        # a campaign among others is below its name
        below = urlsplit(self.link).path.partition("/join")[0]
        status, _, data = await self.request(method, below + path, json.dumps(body).encode())
        if status != 200:
            raise BadResponseError(f"{path}: {status} {data[:200].decode(errors='replace')}")
        return json.loads(data)

    async def request(self, method, path, body=b"", *, kind="application/json"):
        """Send one request; return status, headers and body. A failure closes the connection.

        A kept connection that the server has closed meanwhile is opened anew, as browsers do.
        """
        kept = self.streams is not None
        try:
            async with asyncio.timeout(self.timeout):
                try:
                    return await self._exchange(method, path, body, kind)
                except (ConnectionError, asyncio.IncompleteReadError):
                    if not kept:
                        raise
                    self.close()
                    return await self._exchange(method, path, body, kind)
        except BaseException:
            self.close()
            raise

    async def listen(self, path):
        """Ask for a stream that does not end; return its reader."""
        return await self._send("GET", path, b"")

    async def _send(self, method, path, body, kind="application/json"):
        address = urlsplit(self.link)
        if self.streams is None:
            self.streams = await asyncio.open_connection(address.hostname, address.port)
        reader, writer = self.streams
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        more = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Cookie: {cookies}\r\nX-CSRF-Token: {self.csrf}\r\n"
            f"{more}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        return reader

    async def _exchange(self, method, path, body, kind):
        reader = await self._send(method, path, body, kind)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in head[1:-2]:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                self.cookies |= {k: morsel.value for k, morsel in SimpleCookie(value).items()}
            headers[name.lower()] = value
        data = await self._body(reader, headers)
        if headers.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), headers, data

    @staticmethod
    async def _body(reader, headers):
        if headers.get("transfer-encoding") != "chunked":
            return await reader.readexactly(int(headers.get("content-length", 0)))
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readexactly(2)
        return b"".join(parts)

    def close(self):
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


def answer_to(text):
    """An answer as a rater would give: four in five are content, the rest shorten the text."""
    content = sum(map(ord, text)) % 5 > 0
    level = 2 if content else 1
    return (
        {"fluency": level, "overall": 2, "edit": text}
        if content
        else {
            "fluency": level,
            "overall": 1,
            "edit": text.rsplit(" ", 2)[0],
        }
    )


def new_key():
    """An idempotency key, as the page makes one for each submit."""
    return secrets.token_urlsafe(16)


def free_port():
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
