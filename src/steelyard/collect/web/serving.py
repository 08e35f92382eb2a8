"""Runs campaigns: one process, or several on one PostgreSQL, behind one socket."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn

from steelyard.collect.config.campaign import Campaign, load_campaign
from steelyard.collect.dashboard.observer import end_with_parent
from steelyard.collect.sampling.added_systems import begun_with
from steelyard.collect.store import Store, settings
from steelyard.collect.web.campaigns import (
    Served,
    campaign_files,
    opened_campaigns,
    read_campaigns,
    several,
)
from steelyard.collect.web.connections import TimedConnection, allow_many_connections
from steelyard.collect.web.logs import start_log
from steelyard.collect.web.site import system_clock
from steelyard.errors import InvalidArgumentError

__all__ = ["Served", "Server", "bound_socket", "campaign_files", "renew_secret", "serve"]

# A process that dies at once, again and again, must not keep a core busy.
_RESTART_SECONDS = 1.0
_GRACE_SECONDS = 10
_BACKLOG = 2_048


class Server(uvicorn.Server):
    """A server that tells its application to end its streams before it waits for them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        close = self.lifespan.state.get("end_streams")
        if close is not None:
            await close()
        await super().shutdown(sockets)
        if self.force_exit:
            # a second signal ends the wait for connections, not what the application puts away
            await self.lifespan.shutdown()


def serve(
    given: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8_000,
    processes: int = 1,
    announce: Callable[[Sequence[Served]], None],
) -> None:
    """Serve one campaign or several until the process is told to end.

    Parameters
    ----------
    given
        Campaign files and folders, as `campaign_files` takes them.
    host, port
        Where to listen; port 0 takes any that is free.
    processes
        How many server processes; more than one needs PostgreSQL.
    announce
        Is told the links, once, when they work.

    Raises
    ------
    InvalidArgumentError
        If the port is taken, or several processes were to share an SQLite file.
    InvalidDataError, StoreError
        If no campaign can be opened: its files are not right, or its database cannot be reached or
        holds another campaign. Of several, those that can be opened are served.
    """
    if processes < 1:
        raise InvalidArgumentError(f"`--processes` must be at least 1; got {processes}")
    read = read_campaigns(given, processes=processes)
    start_log()
    with bound_socket(host, port) as listener, _ended_like_ctrl_c():
        origin = origin_of(host, listener.getsockname()[1])
        with opened_campaigns(read, origin=origin) as served:
            announce(served)
            if processes == 1:
                _run(served, listener)
        if processes > 1:
            work = partial(_work, given, processes, origin, listener)
            _supervise(work, processes)


def renew_secret(path: Path) -> Campaign:
    """Make every link and login of a campaign worthless, and return the campaign.

    A server that is running keeps the old secret until it is started again.

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
        there = store.read(settings.current)
        known = campaign.fingerprint
        if there is not None and begun_with(campaign, there.fingerprint) is not None:
            known = there.fingerprint
        store.write(partial(settings.renew_secret, fingerprint=known, now=system_clock())).result()
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
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidArgumentError(
            f"`--host` {host} `--port` {port} cannot be used: {reason}; choose another"
        ) from error
    with listener:
        yield listener


def origin_of(host: str, port: int) -> str:
    """Return how a browser reaches a server; others reach one that listens everywhere by its name."""
    everywhere = {"0.0.0.0", "::"}  # noqa: S104 - only if asked for
    name = socket.gethostname() if host in everywhere else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def _run(served: Sequence[Served], listener: socket.socket) -> None:
    allow_many_connections()
    alone = served[0].app if len(served) == 1 and not served[0].name else None
    server = Server(
        uvicorn.Config(
            alone or several(served),
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


def _work(
    given: Sequence[Path], processes: int, origin: str, listener: socket.socket, *, keeper: bool
) -> None:
    """Be one of several processes."""
    start_log()
    with suppress(KeyboardInterrupt), _ended_like_ctrl_c():
        end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
        read = read_campaigns(given, processes=processes)
        with opened_campaigns(read, origin=origin, keeper=keeper) as served:
            _run(served, listener)


def _supervise(work: Callable[..., None], processes: int) -> None:
    """Keep so many processes alive until told to end, then end them."""
    context = multiprocessing.get_context("spawn")

    def start(number: int) -> BaseProcess:
        # one of them deals with services outside
        process = context.Process(target=work, kwargs={"keeper": number == 0})
        process.start()
        return process

    workers = [start(number) for number in range(processes)]
    try:
        while True:
            wait([worker.sentinel for worker in workers])
            time.sleep(_RESTART_SECONDS)
            for place, worker in enumerate(workers):
                if not worker.is_alive():
                    logging.getLogger("steelyard.collect").warning(
                        "a server process ended with code %s; started another", worker.exitcode
                    )
                    workers[place] = start(place)
    except KeyboardInterrupt:
        pass
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let the signal by which services are stopped end the server in order, too.

    And Ctrl-C where the shell lets programs in the background ignore it: server processes end by it all the same, and
    would be started again for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        # only the main thread hears signals
        yield
        return
    ending = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in ending]
    try:
        yield
    finally:
        for number, handler in zip(ending, before, strict=True):
            signal.signal(number, handler)
