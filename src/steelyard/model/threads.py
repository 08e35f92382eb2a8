"""Small matrices are not spread over threads, which costs several times what it saves."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra on one thread, whatever the environment says; also a decorator."""
    with _controller().limit(limits=1):
        yield
