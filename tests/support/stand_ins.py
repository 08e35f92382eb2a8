"""A receiver of webhooks on this machine."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service:
    """A server on loopback that keeps what was asked; `answers` come before an empty one."""

    def __init__(self):
        self.asked = []
        self.answers = []
        self.wait = threading.Event()
        self.wait.set()

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
                status, said, *headers = given or (200, {})
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
