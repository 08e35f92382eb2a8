"""The socket that a server listens at, and how its address is written."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.errors import InvalidArgumentError

__all__ = ["BACKLOG", "bound_socket", "origin_of"]

BACKLOG = 2_048


@contextmanager
def bound_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at an address, so that links work from the moment they are printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InvalidArgumentError(
            f"`--host` {host} `--port` {port} cannot be used: {_reason(error)}; choose another"
        ) from error
    with listener:
        yield listener


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def origin_of(host: str, port: int) -> str:
    """Return how a browser reaches a server; others reach one that listens everywhere by its name."""
    everywhere = {"0.0.0.0", "::"}  # noqa: S104 - only if asked for
    name = socket.gethostname() if host in everywhere else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
