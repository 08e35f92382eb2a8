"""A real server, in a thread, and a real browser that visits it."""

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright
from sqlalchemy import select

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store, tables
from steelyard.collect.web.app import create_app
from steelyard.collect.web.limits import Limits
from steelyard.collect.web.serving import Server, bound_socket

EXAMPLES = Path(__file__).parents[2] / "src" / "steelyard" / "collect" / "examples"
# A sandbox inside a container has none of its own; and nothing calls home.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# For every wait of every test here: far more than any takes, for the machine may be busy.
_PATIENCE_MS = 60_000
expect.set_options(timeout=_PATIENCE_MS)
# Where a quotation begins and ends on the screen: a point inside its first and its last letter.
_PLACES = """(marker, quote) => {
  marker.scrollIntoView({ block: "center" });
  const place = (offset) => {
    const walker = document.createTreeWalker(marker, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (offset < node.length) {
        const range = document.createRange();
        range.setStart(node, offset);
        range.setEnd(node, offset + 1);
        return range.getBoundingClientRect();
      }
      offset -= node.length;
    }
  };
  const at = marker.textContent.indexOf(quote);
  const [first, last] = [place(at), place(at + quote.length - 1)];
  const right = getComputedStyle(marker).direction === "rtl";
  const middle = (box) => box.top + box.height / 2;
  return [
    [right ? first.right - 1 : first.left + 1, middle(first)],
    [right ? last.left + 1 : last.right - 1, middle(last)],
  ];
}"""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of this folder, which is a package for that reason alone.

    Not one for the session: as long as Playwright runs, this thread has a running event loop, and
    tests elsewhere that call `asyncio.run` would fail.
    """
    with sync_playwright() as playwright:
        names = ("chromium", "chromium-browser", "google-chrome")
        installed = next(filter(None, map(shutil.which, names)), None)  # else Playwright's own
        try:
            started = playwright.chromium.launch(
                executable_path=installed, args=_ARGUMENTS, timeout=_PATIENCE_MS
            )
        except Error as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Chromium: run `make tools` ({error.message[:80]})")
        yield started
        started.close()


@dataclass
class Served:
    """A campaign that is being served."""

    app: FastAPI
    store: Store
    url: str

    @property
    def admin_link(self) -> str:
        return self.app.state.site.admin_link()

    @property
    def rater_link(self) -> str:
        return self.app.state.site.rater_link()

    def invitation(self, rater: str = "first") -> str:
        return self.app.state.site.invitation(rater)

    def submissions(self) -> list[dict[str, Any]]:
        """The answers that are stored, in order, with their active time."""
        table = tables.submissions
        wanted = select(table.c.answer, table.c.active_ms).order_by(table.c.id)
        rows = self.store.read(lambda connection: connection.execute(wanted).all())
        return [{"answer": json.loads(row.answer), "active_ms": row.active_ms} for row in rows]

    def draft(self) -> dict[str, Any] | None:
        """The work in progress of the one rater there is."""
        wanted = select(tables.leases.c.draft).order_by(tables.leases.c.started.desc())
        text = self.store.read(lambda connection: connection.execute(wanted).scalars().first())
        return None if text is None else json.loads(text)


@pytest.fixture
def serve(with_tables: Callable[[str], str]) -> Iterator[Callable[[Path], Served]]:
    """Serve a campaign file on a port of its own until the test is over."""
    with ExitStack() as ends:

        def start(path: Path) -> Served:
            campaign = load_campaign(path)
            listener = ends.enter_context(bound_socket("127.0.0.1", 0))
            store = ends.enter_context(closing(Store.open(with_tables(campaign.database))))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            app = create_app(campaign, store, origin=url, limits=Limits(requests_per_second=1000))
            ends.enter_context(running(app, listener))
            return Served(app, store, url)

        yield start


@contextmanager
def running(app: FastAPI, listener: socket.socket) -> Iterator[None]:
    """Run a server in a thread; it waits for no connection that the browser keeps open."""
    config = uvicorn.Config(
        app, access_log=False, log_config=None, lifespan="on", timeout_graceful_shutdown=60
    )
    server = Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def write_campaign(tmp_path: Path) -> Callable[..., Path]:
    """Write a campaign with a shipped task or one given, and its outputs."""

    def write(
        task: str | dict[str, Any] = "language-quality",
        outputs: list[dict[str, Any]] | None = None,
        *,
        tutorial: bool = False,
        **keys: Any,
    ) -> Path:
        if isinstance(task, str):
            task = yaml.safe_load((EXAMPLES / task / "task.yaml").read_text("utf-8"))
        if not tutorial:
            task = {key: value for key, value in task.items() if key != "tutorial"}
        rows = outputs or [{"output": f"The dog number {number} bark."} for number in range(4)]
        rows = [
            {"item": f"i{place}", "system": "unseen-system", "score": place / 7} | row
            for place, row in enumerate(rows)
        ]
        items = {row["item"] for row in rows}
        campaign = {
            "title": "Test campaign",
            "outputs": "outputs.jsonl",
            "task": "task.yaml",
            "sample": {"n": len(items), "seed": 1},
            "panel": {"kind": "invitation"},
        } | keys
        folder = tmp_path / f"campaign-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "outputs.jsonl").write_text(lines, "utf-8")
        (folder / "task.yaml").write_text(yaml.safe_dump(task, allow_unicode=True), "utf-8")
        (folder / "campaign.yaml").write_text(yaml.safe_dump(campaign, allow_unicode=True), "utf-8")
        return folder / "campaign.yaml"

    return write


@dataclass
class Console:
    """What the pages complain of: scripts that fail, policies that are violated."""

    said: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Do not mind complaints that match."""
        self.expected.append(pattern)

    @property
    def unexpected(self) -> list[str]:
        return [
            text
            for text in self.said
            if not any(re.search(pattern, text) for pattern in self.expected)
        ]


@pytest.fixture
def console() -> Iterator[Console]:
    """No page of a test may complain, unless the test expects it."""
    kept = Console()
    yield kept
    assert kept.unexpected == []


@pytest.fixture
def open_page(browser: Browser, console: Console) -> Iterator[Callable[..., Page]]:
    """Open a page in a context of its own: another browser, as far as the server can tell."""
    contexts = []

    def listen(page: Page) -> None:
        page.on(
            "console",
            lambda message: (
                console.said.append(message.text) if message.type in {"error", "warning"} else None
            ),
        )
        page.on("pageerror", lambda error: console.said.append(str(error)))

    def start(url: str | None = None, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
        context.set_default_timeout(_PATIENCE_MS)
        context.on("page", listen)
        contexts.append(context)
        page = context.new_page()
        if url is not None:
            page.goto(url)
        return page

    yield start
    for context in contexts:
        context.close()


@dataclass
class Visit:
    """A rater before the page."""

    page: Page
    served: Served

    @property
    def question(self) -> Locator:
        """The question that is open."""
        return self.page.locator("#work .step.open")

    def drag(self, quote: str) -> None:
        """Drag with the mouse over a quotation of the text that can be marked."""
        first, last = self.page.locator("sy-marker:visible").evaluate(_PLACES, quote)
        self.page.mouse.move(*first)
        self.page.mouse.down()
        self.page.mouse.move(*last, steps=3)
        self.page.mouse.up()

    def mark_by_keys(self, first: int, last: int) -> None:
        """Mark from one word of the text to another, by their numbers, with the keyboard."""
        keys = self.page.keyboard
        for key in ("t", "Home", *["ArrowRight"] * first, "Space"):
            keys.press(key)
        for key in (*["ArrowRight"] * (last - first), "Space"):
            keys.press(key)

    def at_work(self) -> Page:
        """Wait until there is a text to judge: after a submission the old one is locked until then."""
        self.page.locator("#work:not([hidden]) #questions:enabled").wait_for()
        return self.page

    def submitted(self, number: int) -> list[dict[str, Any]]:
        """Wait until so many are done, and return the answers."""
        shown = re.compile(rf"^{number} (of \d+ )?done")
        self.page.locator("#progress-text", has_text=shown).or_(
            self.page.locator("#message:not([hidden]) h1", has_text=re.compile("left|visit"))
        ).first.wait_for()
        found = self.served.submissions()
        assert len(found) == number
        return found


@pytest.fixture
def visit(
    write_campaign: Callable[..., Path],
    serve: Callable[[Path], Served],
    open_page: Callable[..., Page],
) -> Callable[..., Visit]:
    """Serve a campaign and follow the link of its first rater."""

    def start(
        task: str | dict[str, Any] = "language-quality",
        outputs: list[dict[str, Any]] | None = None,
        *,
        context: dict[str, Any] | None = None,
        **keys: Any,
    ) -> Visit:
        served = serve(write_campaign(task, outputs, **keys))
        return Visit(open_page(served.rater_link, **(context or {})), served)

    return start


@pytest.fixture(scope="session")
def axe() -> Axe:
    return Axe()


@pytest.fixture
def accessible(axe: Axe) -> Callable[[Page], None]:
    """Assert that axe finds nothing on a page as it is now."""

    def check(page: Page) -> None:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page)
            assert found.violations_count == 0, f"{scheme}: {found.generate_report()}"
        page.emulate_media(color_scheme="light")

    return check
