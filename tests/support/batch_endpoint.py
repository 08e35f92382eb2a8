"""A stand-in of the batch mode that OpenAI documents: files of questions in, files of replies out."""

import json
import re
import socket
import struct
import threading
from collections import Counter
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, urlsplit


def completion(content, *, finish="stop"):
    message = {"role": "assistant", "content": content}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 1},
    }


class BatchEndpoint(ThreadingHTTPServer):
    """Works on batches, and misbehaves on command.

    Attributes
    ----------
    play : callable
        From the body of a question to what stands in its line: a completion, an int for an HTTP status,
        a dict {"error": ...}, "missing" for no line, or bytes for a line of rubbish.
    looks : int
        How often a batch is looked at before it is over.
    end : str
        Its status then. What is not worked on by an expired or cancelled batch is told by `play`.
    trouble : dict
        What happens instead, or as well, by "METHOD kind": a list that is taken from its start. An int is a
        status, "reset" drops the connection before anything is done, "deaf" after all is done, bytes are the
        body.
    after : dict
        What to call when something is done and before it is told, by "METHOD kind".
    answered : Counter
        Questions worked on, which is what is paid for.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.play = lambda body: completion("4")  # noqa: ARG005
        self.looks, self.end, self.errors = 0, "completed", None
        self.lists_batches = self.has_batches = True
        self.trouble, self.after = {}, {}
        self.answered = Counter()
        self.requests = Counter()
        self.keys = set()
        self.files, self.batches, self.seen = {}, {}, Counter()
        self.lock = threading.RLock()
        self._numbers = count(1)

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        """Clients that go away in the middle are part of the play."""

    def keep(self, content, purpose="batch_output"):
        name = f"file-{next(self._numbers)}"
        self.files[name] = content
        return {"id": name, "object": "file", "purpose": purpose, "status": "processed"}

    def create(self, asked):
        name = f"batch_{next(self._numbers)}"
        problem = self._problem(asked)
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"],
            "status": "failed" if problem else "validating",
            "errors": {"object": "list", "data": [{"message": problem}]} if problem else None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        return self.batches[name]

    def _problem(self, asked):
        if self.errors is not None:
            return self.errors
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        if asked["completion_window"] != "24h":
            return "only 24h"
        if len({line["custom_id"] for line in lines}) < len(lines):
            return "a custom_id is there twice"
        if any((one["method"], one["url"]) != ("POST", asked["endpoint"]) for one in lines):
            return "another url"
        return "several models" if len({one["body"]["model"] for one in lines}) > 1 else None

    def look(self, name):
        batch = self.batches[name]
        self.seen[name] += 1
        if batch["status"] in {"validating", "in_progress"}:
            batch["status"] = "in_progress"
            if self.seen[name] > self.looks:
                self._finish(batch)
        return batch

    def _finish(self, batch):
        good, bad = [], []
        for line in self.files[batch["input_file_id"]].splitlines():
            asked = json.loads(line)
            said = self.play(asked["body"])
            if isinstance(said, bytes):
                good.append(said)
                continue
            if said == "missing":
                continue
            found = {"id": "x", "custom_id": asked["custom_id"], "response": None, "error": None}
            if isinstance(said, dict) and set(said) == {"error"}:
                bad.append(json.dumps(found | said).encode())
                continue
            status, body = (
                (said, {"error": {"message": f"says {said}"}})
                if isinstance(said, int)
                else (200, said)
            )
            if status == 200:
                self.answered[asked["body"]["messages"][-1]["content"]] += 1
            found["response"] = {"status_code": status, "request_id": "r", "body": body}
            (good if status == 200 else bad).append(json.dumps(found).encode())
        batch["status"] = self.end
        # replies come in any order
        for key, lines in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            batch[key] = self.keep(b"\n".join(lines) + b"\n")["id"] if lines else None
        batch["request_counts"] = {"total": len(good + bad), "completed": len(good), "failed": 0}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._do("GET", b"")

    def do_POST(self):
        self._do("POST", self.rfile.read(int(self.headers["Content-Length"])))

    def _do(self, method, content):
        server = self.server
        path = urlsplit(self.path).path.removeprefix("/v1/")
        kind = re.sub(r"(file-|batch_)\d+", "NAME", path)
        with server.lock:
            server.requests[f"{method} {kind}"] += 1
            server.keys.add(self.headers["Authorization"])
            queue = server.trouble.get(f"{method} {kind}") or [None]
            trouble = queue.pop(0)
            if trouble == "reset":
                self._drop()
                return
            if trouble is None or trouble == "deaf":
                status, body = self._done(method, path, content)
                server.after.get(f"{method} {kind}", lambda: None)()
            else:
                status, body = trouble if isinstance(trouble, tuple) else (200, trouble)
                if isinstance(trouble, int):
                    status, body = trouble, {"error": {"message": f"says {trouble}"}}
        if trouble == "deaf":
            self._drop()
            return
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _done(self, method, path, content):
        server, parts = self.server, path.split("/")
        query = parse_qs(urlsplit(self.path).query)
        nothing = 404, {"error": {"message": "nothing here"}}
        if not server.has_batches:
            return nothing
        if (method, path) == ("POST", "files"):
            head = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n"
            form = {
                part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
                for part in BytesParser(policy=HTTP).parsebytes(head + content).iter_parts()
            }
            assert form["purpose"] == b"batch"
            return 200, server.keep(form["file"], "batch")
        if path == "batches" and (method == "POST" or server.lists_batches):
            return 200, server.create(json.loads(content)) if content else self._page(query)
        if parts[0] == "batches" and parts[1:] and parts[1] in server.batches:
            return 200, server.look(parts[1])
        if parts[0] == "files" and parts[1:] and parts[1] in server.files:
            return 200, server.files[parts[1]] if parts[2:] else {"id": parts[1]}
        return nothing

    def _page(self, query):
        names = list(self.server.batches)[::-1]
        if "after" in query:
            names = names[names.index(query["after"][0]) + 1 :]
        most = int(query["limit"][0])
        return {
            "object": "list",
            "data": [self.server.batches[name] for name in names[:most]],
            "has_more": len(names) > most,
        }

    def _drop(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
