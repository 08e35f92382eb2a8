"""Runs a campaign: one process, or several on one PostgreSQL, behind one socket."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn

from steelyard.collect.app import create_app, first_units, public_origin, site_for
from steelyard.collect.campaign import Campaign, load_campaign
from steelyard.collect.connections import TimedConnection, allow_many_connections
from steelyard.collect.live.observer import end_with_parent
from steelyard.collect.logs import LogFormat, start_log
from steelyard.collect.routes.site import system_clock
from steelyard.collect.store import Store, settings
from steelyard.errors import InvalidArgumentError

__all__ = ["Links", "Server", "bound_socket", "renew_secret", "serve"]

_BACKLOG = 2_048
# A process that dies at once, again and again, must not keep a core busy.
_RESTART_SECONDS = 1.0
_GRACE_SECONDS = 10
# A shorter word could be guessed.
_TOKEN_LENGTH = 16
# The writer lets go of the interpreter in every statement of SQL and waits for it afterwards, by
# default up to 5 ms while the event loop is busy.
_SWITCH_SECONDS = 0.0005


@dataclass(frozen=True)
class Links:
    """Where people go.

    Attributes
    ----------
    rater
        The link for raters: that of the panel, or the first invitation.
    admin
        The link to the dashboard: whoever has it may do everything.
    """

    rater: str
    admin: str


class Server(uvicorn.Server):
    """A server that tells its application to end its streams before it waits for them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        close = self.lifespan.state.get("end_streams")
        if close is not None:
            await close()
        await super().shutdown(sockets)


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8_000,
    processes: int = 1,
    log_format: LogFormat = "text",
    metrics_token_env: str | None = None,
    announce: Callable[[Campaign, Links], None],
) -> None:
    """Serve a campaign until the process is told to end.

    Parameters
    ----------
    path
        The campaign file.
    host, port
        Where to listen; port 0 takes any that is free.
    processes
        How many server processes; more than one needs PostgreSQL.
    log_format
        Lines of words, or of JSON with one for each request.
    metrics_token_env
        The environment variable with the token for ``/metrics``; without it there is no such page.
    announce
        Is told the links, once, when they work.

    Raises
    ------
    InvalidArgumentError
        If the port is taken, several processes were to share an SQLite file, or the variable is not
        set.
    InvalidDataError
        If the campaign's files are not right.
    StoreError
        If the database cannot be reached or holds another campaign.
    """
    campaign = load_campaign(path)
    if processes < 1:
        raise InvalidArgumentError(f"`--processes` must be at least 1; got {processes}")
    if processes > 1 and not str(campaign.database).startswith("postgresql"):
        raise InvalidArgumentError(
            f"`--processes` above 1 needs `database: postgresql://...` in {path.name}: an SQLite "
            "file has one writer"
        )
    running = _Running(log_format, _token(metrics_token_env))
    start_log(log_format)
    with bound_socket(host, port) as listener, _ended_like_ctrl_c():
        origin = public_origin(campaign) or _origin(host, listener.getsockname()[1])
        units = first_units(campaign)
        with Store.open(campaign.database) as store:
            site = site_for(campaign, store, origin=origin, units=units)
            announce(campaign, Links(rater=site.rater_link(), admin=site.admin_link()))
            if processes == 1:
                _run(campaign, store, running, origin=origin, listener=listener)
        if processes > 1:
            _supervise(path, running, origin=origin, listener=listener, processes=processes)


def renew_secret(path: Path) -> Campaign:
    """Make every link and login of a campaign worthless, and return the campaign.

    A server that is running keeps the old secret until it is started again.

    Parameters
    ----------
    path
        The campaign file.

    Raises
    ------
    InvalidArgumentError
        If the campaign has not begun.
    InvalidDataError
        If the campaign's files are not right.
    StoreError
        If the database cannot be reached or holds another campaign.
    """
    campaign = load_campaign(path)
    if not Store.is_there(campaign.database):
        raise InvalidArgumentError(
            f"`--renew-secret` is for a campaign that has begun; {path.name} has no database yet: there is nothing to renew"
        )
    with Store.open(campaign.database) as store:
        store.write(
            partial(settings.renew_secret, fingerprint=campaign.fingerprint, now=system_clock())
        ).result()
    return campaign


@contextmanager
def bound_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at an address, so that links work from the moment they are printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InvalidArgumentError(
            f"`--host` {host} `--port` {port} cannot be used: {_reason(error)}; choose another"
        ) from error
    with listener:
        yield listener


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _origin(host: str, port: int) -> str:
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - only if asked for
    name = everywhere.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


@dataclass(frozen=True)
class _Running:
    """How a process is watched."""

    log_format: LogFormat
    metrics_token: str | None = field(repr=False)


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.get(variable, "").strip()
    if len(token) < _TOKEN_LENGTH:
        raise InvalidArgumentError(
            f"`--metrics-token-env` must name an environment variable that holds at least {_TOKEN_LENGTH} "
            f"characters; {variable} does not"
        )
    return token


def _run(
    campaign: Campaign, store: Store, running: _Running, *, origin: str, listener: socket.socket
) -> None:
    sys.setswitchinterval(_SWITCH_SECONDS)
    allow_many_connections()
    server = Server(
        uvicorn.Config(
            create_app(campaign, store, origin=origin, metrics_token=running.metrics_token),
            # the address of a request with its token stands in no log
            access_log=False,
            log_config=None,
            lifespan="on",
            http=TimedConnection,
            ws="none",
            server_header=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    # uvicorn has ended in order when it repeats the signal
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def _work(path: Path, running: _Running, origin: str, listener: socket.socket) -> None:
    """Be one of several processes."""
    start_log(running.log_format)
    with suppress(KeyboardInterrupt), _ended_like_ctrl_c():
        end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
        campaign = load_campaign(path)
        with Store.open(campaign.database) as store:
            _run(campaign, store, running, origin=origin, listener=listener)


def _supervise(
    path: Path, running: _Running, *, origin: str, listener: socket.socket, processes: int
) -> None:
    """Keep so many processes alive until told to end, then end them."""
    context = multiprocessing.get_context("spawn")

    def start() -> BaseProcess:
        process = context.Process(target=_work, args=(path, running, origin, listener))
        process.start()
        return process

    workers = [start() for _ in range(processes)]
    try:
        while True:
            wait([worker.sentinel for worker in workers])
            time.sleep(_RESTART_SECONDS)
            for place, worker in enumerate(workers):
                if not worker.is_alive():
                    logging.getLogger("steelyard.collect").warning(
                        "a server process ended with code %s; started another", worker.exitcode
                    )
                    workers[place] = start()
    except KeyboardInterrupt:
        pass
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let the signal by which services are stopped end the server in order, too."""
    if threading.current_thread() is not threading.main_thread():
        # only the main thread hears signals
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
