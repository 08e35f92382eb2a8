"""A report in a real browser: nothing is wider than the screen, axe finds nothing, nothing is loaded."""

import numpy as np
import polars as pl
import pytest

from steelyard.report import write_report
from steelyard.study import Study


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report on nine systems with long names and twelve metrics: some of it is folded away."""
    rng = np.random.default_rng(7)
    names = [f"organisation/model-{n}-with-a-long-name" for n in range(9)]
    metrics = [f"metric-{n}" for n in range(14)]
    outputs, judgments = [], []
    for place, system in enumerate(names):
        quality = rng.normal(-0.4 * place, 1, size=24)
        for item in range(24):
            scores = {name: quality[item] + rng.normal() for name in metrics}
            text = {"input": "Why?", "output": f"word {item} " * 9}
            outputs.append({"item": item, "system": system} | text | scores)
            judgments += [
                {
                    "item": item,
                    "system": system,
                    "rater": f"r{rater}",
                    "prompt": "overall",
                    "score": float(np.clip(round(3 + quality[item] + rng.normal()), 1, 5)),
                }
                for rater in rng.choice(6, 2, replace=False)
                if item < 14
            ]
    study = Study.read(pl.DataFrame(outputs), pl.DataFrame(judgments))
    return write_report(study, tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_it_fits_the_screen_and_loads_nothing(report, open_page, width):
    page = open_page(viewport={"width": width, "height": 900})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_axe_finds_nothing_folded_or_not(report, open_page, accessible):
    page = open_page(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    accessible(page)


def test_figures_are_dark_in_the_dark(report, open_page):
    page = open_page(report.as_uri(), color_scheme="dark")
    ground = "() => getComputedStyle(document.querySelector('figure svg path')).fill"
    assert page.evaluate(ground) == "rgb(20, 24, 29)"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
