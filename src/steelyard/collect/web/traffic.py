"""Counts the requests of one process, by route and status, and how long they took."""

import json
import logging
import time
from bisect import bisect_left
from collections import Counter, defaultdict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.collect.web.headers import route_path

__all__ = ["Measured", "Traffic"]

# Upper bounds of the classes of seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_OWN = frozenset({"/healthz", "/readyz", "/metrics"})
_log = logging.getLogger("steelyard.access")


class Traffic:
    """What was asked of a process, and how long the answers took.

    A route is named by its pattern: neither tokens nor names of people stand in it.

    Examples
    --------
    >>> traffic = Traffic()
    >>> traffic.count("/work", 200, 0.003)
    >>> traffic.lines()[2]
    'steelyard_http_requests_total{route="/work",status="200"} 1'
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._classes: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests[route, status] += 1
        self._classes[route][bisect_left(BOUNDS, seconds)] += 1
        # a Counter takes any number
        self._seconds[route] += seconds  # type: ignore[assignment]

    def lines(self) -> list[str]:
        """Return the counts in the text format of Prometheus."""
        name = "steelyard_http_requests_total"
        lines = [f"# HELP {name} Answers by route and status.", f"# TYPE {name} counter"]
        for (route, status), count in sorted(self._requests.items()):
            lines.append(f"{name}{{route={quoted(route)},status={quoted(str(status))}}} {count}")
        name = "steelyard_http_request_seconds"
        lines += [f"# HELP {name} Time until the answer began.", f"# TYPE {name} histogram"]
        for route, counts in sorted(self._classes.items()):
            so_far = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                so_far += count
                lines.append(f'{name}_bucket{{route={quoted(route)},le="{bound}"}} {so_far}')
            lines.append(f"{name}_sum{{route={quoted(route)}}} {self._seconds[route]:.6f}")
            lines.append(f"{name}_count{{route={quoted(route)}}} {so_far}")
        return lines


def quoted(label: str) -> str:
    """Return a value of a label as Prometheus reads it."""
    return json.dumps(label, ensure_ascii=False)


class Measured:
    """Counts every answer; a stream counts when it begins.

    Parameters
    ----------
    app
        What answers the requests.
    traffic
        Where they are counted.
    """

    def __init__(self, app: ASGIApp, *, traffic: Traffic) -> None:
        self._app = app
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        # a mount will take a part off
        is_file = route_path(scope).startswith("/static/")

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - start
                self._count(scope, message["status"], seconds, "/static" if is_file else "other")
            await send(message)

        await self._app(scope, receive, counted)

    def _count(self, scope: Scope, status: int, seconds: float, otherwise: str) -> None:
        # the pattern that answered; unknown addresses are one, so that nobody can make many
        path = getattr(scope.get("route"), "path", None)
        route = path if isinstance(path, str) else otherwise
        self._traffic.count(route, status, seconds)
        if route not in _OWN and _log.isEnabledFor(logging.INFO):
            facts = {"route": route, "status": status, "milliseconds": round(1_000 * seconds, 1)}
            _log.info("%s %s %d", scope["method"], route, status, extra={"facts": facts})
