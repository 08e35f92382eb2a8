"""How far ``steelyard judge`` is: a bar on a terminal, lines in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from steelyard.cli.printing import plain_console
from steelyard.judge import Usage
from steelyard.judge.result import Progress as Listener

__all__ = ["log_lines", "progress"]

# Seconds between two lines of a log; a run that is over before prints none.
_EVERY = 30.0
Prices = tuple[float | None, float | None]


@contextmanager
def progress(name: str, *, prices: Prices) -> Iterator[Listener]:
    """Show how far the questions of one column are."""
    if not sys.stderr.isatty():
        yield log_lines(name, prices=prices, clock=time.monotonic)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}"),
    )
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="", cost="")

        told = _batch_lines(name, bar.console.print)

        def listen(done: int, total: int, usage: Usage) -> None:
            told(usage)
            speed = bar.tasks[0].speed
            rate = "" if speed is None else f"{speed:.1f}/s"
            bar.update(task, completed=done, total=total, rate=rate, cost=_cost(usage, prices))

        yield listen


def log_lines(name: str, *, prices: Prices, clock: Callable[[], float]) -> Listener:
    """Return what prints a line on standard error from time to time.

    Parameters
    ----------
    name : str
        The column.
    prices : pair of float or None
        Of a million tokens of questions and of replies.
    clock : callable
        The time in seconds.
    """
    start = last = clock()
    told = _batch_lines(name, lambda line: click.echo(line, err=True))

    def listen(done: int, total: int, usage: Usage) -> None:
        nonlocal last
        told(usage)
        now = clock()
        if now - last < _EVERY:
            return
        last = now
        rate = done / (now - start)
        words = [f"{done:,} of {total:,} questions", f"{rate:.1f}/s"]
        words += [f"about {(total - done) / rate / 60:.0f} min left"] if rate else []
        cost = _cost(usage, prices)
        words += [cost] if cost else []
        click.echo(f"steelyard: {name}: {', '.join(words)}", err=True)

    return listen


def _batch_lines(name: str, say: Callable[[str], None]) -> Callable[[Usage], None]:
    """Return what says at once that a batch is under way: the run may be stopped from then on."""
    known: set[str] = set()

    def listen(usage: Usage) -> None:
        for batch in usage.batches:
            if batch not in known:
                known.add(batch)
                say(
                    f"steelyard: {name}: {batch} is under way; stop when you like, the same command "
                    "fetches it"
                )

    return listen


def _cost(usage: Usage, prices: Prices) -> str:
    price_in, price_out = prices
    if price_in is None or price_out is None:
        return ""
    return f"cost {usage.cost(price_in, price_out):.4f}"
