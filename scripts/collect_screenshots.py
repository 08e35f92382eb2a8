"""Take the pictures of the rater's pages for the documentation: docs/images/collect/*.png.

Every picture is of a real server and a shipped example. Run it when a page has changed:

    .venv/bin/python scripts/collect_screenshots.py [NAME ...]
"""

import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import uvicorn
import yaml
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, sync_playwright

import steelyard.collect
from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.store import Store
from steelyard.collect.web.app import create_app
from steelyard.collect.web.serving import Server, bound_socket

EXAMPLES = Path(steelyard.collect.__file__).parent / "examples"
PICTURES = Path(__file__).parents[1] / "docs" / "images" / "collect"
SCREEN = {"viewport": {"width": 1280, "height": 760}}
PHONE = {"viewport": {"width": 390, "height": 1200}, "is_mobile": True, "has_touch": True}


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        page.keyboard.press(key)


def tutorial(page: Page) -> None:
    """A wrong answer, a hint, another try."""
    press(page, "2", "Enter")
    page.get_by_text("Try once more").wait_for()


def rating(page: Page) -> None:
    """The second of three facets, with the cue of a level."""
    press(page, "2")
    page.locator("#work .step.open").get_by_role("radio").nth(1).hover()


def editing(page: Page) -> None:
    """A text below the top has to be edited."""
    press(page, "2", "3", "2")
    area = page.get_by_role("textbox").locator("visible=true")
    area.fill(area.input_value().replace("The", "A", 1).replace(" was ", " is ", 1) + " More.")
    page.get_by_text("Your work is saved.").wait_for()


def passage(page: Page) -> None:
    """A verdict with its justification, read back."""
    for name in ("Yes", "Yes", "Right"):
        page.locator("#work .step.open").get_by_role("radio", name=name, exact=True).click()
    words = page.locator("#work sy-marker [data-word]")
    page.locator("#work sy-marker").focus()
    press(
        page, "Home", *["ArrowRight"] * 4, "Space", *["ArrowRight"] * min(5, words.count()), "Space"
    )
    page.locator("#work .step.open").scroll_into_view_if_needed()


def errors(page: Page) -> None:
    """Two errors marked, one of them rated."""
    page.locator("#work sy-marker").focus()
    press(page, "Home", "Space", "ArrowRight", "Space", "m")
    page.locator("#work sy-marker").focus()
    press(page, "End", "ArrowLeft", "Space", "Space", "j")


def pair(page: Page) -> None:
    """Two replies, one better."""
    press(page, "1")


def done(page: Page) -> None:
    """The end of a visit."""
    for _ in range(2):
        page.locator("#work .step.open .step-label", has_text="fluent").wait_for()
        press(page, "3", "3", "3", "Enter")
    page.get_by_role("heading", name="That is all for this visit").wait_for()


Shot = tuple[str, str, Callable[[Page], None], dict[str, object]]
SHOTS: list[Shot] = [
    ("tutorial", "language-quality", tutorial, SCREEN),
    ("language-rating", "language-quality", rating, SCREEN),
    ("language-editing", "language-quality", editing, SCREEN),
    ("language-phone", "language-quality", rating, PHONE),
    ("done", "language-quality", done, SCREEN),
    ("answer-passage", "answer-correctness", passage, SCREEN),
    ("errors", "direct-assessment", errors, SCREEN),
    ("pairwise", "pairwise", pair, SCREEN),
]


@contextmanager
def served(example: str, *, name: str) -> Iterator[str]:
    """Serve a copy of an example as a picture wants it; yields the link of a rater."""
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory())) / example
        shutil.copytree(EXAMPLES / example, folder)
        if name != "tutorial":
            task = yaml.safe_load((folder / "task.yaml").read_text("utf-8"))
            del task["tutorial"]
            (folder / "task.yaml").write_text(yaml.safe_dump(task, sort_keys=False), "utf-8")
        chosen = yaml.safe_load((folder / "campaign.yaml").read_text("utf-8"))
        visit = {"session": {"judgments": 2}, "panel": {"kind": "open"}}
        (folder / "campaign.yaml").write_text(yaml.safe_dump(chosen | visit), "utf-8")
        campaign = load_campaign(folder / "campaign.yaml")
        listener = ends.enter_context(bound_socket("127.0.0.1", 0))
        store = ends.enter_context(closing(Store.open(campaign.database)))
        app = create_app(campaign, store, origin=f"http://127.0.0.1:{listener.getsockname()[1]}")
        ends.enter_context(running(app, listener))
        yield app.state.site.rater_link()


@contextmanager
def running(app: FastAPI, listener: socket.socket) -> Iterator[None]:
    """Run a server in a thread."""
    server = Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def take(browser: Browser, shot: Shot) -> None:
    """Take one picture."""
    name, example, prepare, options = shot
    with served(example, name=name) as link:
        origin = link.partition("/join")[0]
        context = browser.new_context(base_url=origin, **options)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(link)
        page.locator("#work:not([hidden]), #tutorial:not([hidden])").wait_for()
        prepare(page)
        page.screenshot(path=PICTURES / f"{name}.png")
        context.close()


def main(names: list[str]) -> None:
    """Take all pictures, or those named."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in SHOTS:
            if not names or shot[0] in names:
                take(browser, shot)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
