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
from dataclasses import replace
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import uvicorn

from steelyard.collect.campaign_files import CampaignFile, campaign_files
from steelyard.collect.config.campaign import Campaign, load_campaign
from steelyard.collect.dashboard.observer import end_with_parent
from steelyard.collect.sampling.added_systems import begun_with
from steelyard.collect.store import Store, settings
from steelyard.collect.web.connections import TimedConnection, allow_many_connections
from steelyard.collect.web.listening import BACKLOG, bound_socket, origin_of
from steelyard.collect.web.logs import LogFormat, start_log
from steelyard.collect.web.many import several
from steelyard.collect.web.opening import (
    Links,
    Opened,
    Running,
    Served,
    opened_campaigns,
    read_campaigns,
)
from steelyard.collect.web.site import system_clock
from steelyard.errors import InvalidArgumentError

__all__ = ["Links", "Served", "Server", "bound_socket", "campaign_files", "renew_secret", "serve"]

# A process that dies at once, again and again, must not keep a core busy.
_RESTART_SECONDS = 1.0
_GRACE_SECONDS = 10
# A shorter word could be guessed.
_TOKEN_LENGTH = 16


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
    log_format: LogFormat = "text",
    metrics_token_env: str | None = None,
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
    InvalidDataError, StoreError
        If no campaign can be opened: its files are not right, or its database cannot be reached or
        holds another campaign. Of several, those that can be opened are served.
    """
    found = campaign_files(given)
    if processes < 1:
        raise InvalidArgumentError(f"`--processes` must be at least 1; got {processes}")
    read = read_campaigns(found, processes=processes)
    running = Running(log_format, _token(metrics_token_env), processes=processes)
    start_log(log_format)
    with bound_socket(host, port) as listener, _ended_like_ctrl_c():
        origin = origin_of(host, listener.getsockname()[1])
        with opened_campaigns(read, running, origin=origin) as opened:
            announce([one.served for one in opened])
            if processes == 1:
                _run(opened, listener)
        if processes > 1:
            _supervise(found, running, origin=origin, listener=listener)


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
        there = store.read(settings.current)
        known = campaign.fingerprint
        if there is not None and begun_with(campaign, there.fingerprint) is not None:
            known = there.fingerprint
        store.write(partial(settings.renew_secret, fingerprint=known, now=system_clock())).result()
    return campaign


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.get(variable, "").strip()
    if len(token) < _TOKEN_LENGTH:
        raise InvalidArgumentError(
            f"the environment variable {variable}, which opens /metrics, must hold at least {_TOKEN_LENGTH} "
            f"characters; it has {len(token)}: make it longer, or unset it"
        )
    return token


def _run(opened: Sequence[Opened], listener: socket.socket) -> None:
    allow_many_connections()
    apps = {one.served.file.name: one.app for one in opened if one.app is not None}
    lost = [one.served.file.name for one in opened if one.app is None]
    server = Server(
        uvicorn.Config(
            apps[""] if "" in apps else several(apps, lost),
            # the address of a request with its token stands in no log
            access_log=False,
            log_config=None,
            lifespan="on",
            http=TimedConnection,
            ws="none",
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    # uvicorn has ended in order when it repeats the signal
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def _work(
    found: Sequence[CampaignFile], running: Running, origin: str, listener: socket.socket
) -> None:
    """Be one of several processes."""
    start_log(running.log_format)
    with suppress(KeyboardInterrupt), _ended_like_ctrl_c():
        end_with_parent(lambda: os.kill(os.getpid(), signal.SIGTERM))
        read = read_campaigns(found, processes=running.processes)
        with opened_campaigns(read, running, origin=origin) as opened:
            _run(opened, listener)


def _supervise(
    found: Sequence[CampaignFile], running: Running, *, origin: str, listener: socket.socket
) -> None:
    """Keep so many processes alive until told to end, then end them."""
    context = multiprocessing.get_context("spawn")

    def start(number: int) -> BaseProcess:
        # one of them deals with services outside
        own = replace(running, keeper=number == 0)
        process = context.Process(target=_work, args=(found, own, origin, listener))
        process.start()
        return process

    workers = [start(number) for number in range(running.processes)]
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
