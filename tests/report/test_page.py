import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import polars as pl
import pytest

from steelyard import __version__
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.plots.style import THEME
from steelyard.questions.answer import agreed_sentence
from steelyard.report import write_report
from steelyard.study import Study

VOID = {"meta", "br", "hr", "img", "wbr"}


class Page(HTMLParser):
    """What a browser would find: elements with attributes, and texts outside of style sheets."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.placed, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)
            self.placed.append((self.open[-1] if self.open else None, data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def inside(self, tag):
        """Return the texts that stand directly in elements of this name."""
        return [text for within, text in self.placed if within == tag and text.strip()]

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    made = write_report(
        study,
        path,
        metrics=study.metrics,
        command="steelyard report a b <c>",
        title="A & B",
        notice="Simulated: nobody was asked.",
    )
    assert made == path
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(written):
    return Page(written)


@pytest.fixture(scope="module")
def crowd(make_study, tmp_path_factory):
    """A page on 25 systems with long names, and what compare says about them."""
    names = [f"organisation/a-model-with-a-long-name-{i:02d}-instruct" for i in range(25)]
    study = make_study(names, judged=8, metrics=("good",))
    [compared] = study.compare()
    return report(study, tmp_path_factory.mktemp("crowd")), compared


def report(study, tmp_path, **options):
    path = write_report(study, tmp_path / "r.html", **options)
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_is_whole_and_says_what_it_is(page, written):
    assert written.startswith("<!DOCTYPE html>")
    assert page.all("html") == [{"lang": "en"}]
    assert "A & B" in page.text
    assert f"Steelyard {__version__}" in page.text
    assert "steelyard report a b <c>" in page.text


def test_headings_follow_one_another_without_a_gap(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_asks_for_nothing_from_elsewhere(page, written):
    assert not page.all("script")
    assert not page.all("link")
    assert not page.all("img")
    assert all(one["href"].startswith("#") for one in page.all("a"))
    assert "http:" not in written
    assert "https:" not in written
    assert "@import" not in written
    policy = [one for one in page.all("meta") if one.get("http-equiv")]
    assert policy[0]["content"].startswith("default-src 'none'")


def test_ids_are_unique_and_links_lead_somewhere(page):
    ids = [one["id"] for _, one in page.elements if "id" in one]
    assert len(ids) == len(set(ids))
    targets = [one["href"][1:] for tag, one in page.elements if "href" in one]
    targets += [one["aria-labelledby"] for _, one in page.elements if "aria-labelledby" in one]
    assert set(targets) <= set(ids)


def test_every_figure_has_a_drawing_with_a_label_and_a_caption(page):
    assert len(page.all("figure")) == len(page.all("figcaption")) == 6
    drawings = page.all("svg")
    assert len(drawings) == 6
    assert all(one["role"] == "img" and one["aria-label"] for one in drawings)


def test_every_head_of_a_table_has_a_scope(page):
    assert {one.get("scope") for one in page.all("th")} == {"col", "row"}
    assert len(page.all("caption")) == len(page.all("table"))


def test_the_notice_stands_at_the_top_and_at_the_bottom(page):
    assert page.text.count("Simulated: nobody was asked.") == 2


def test_each_prompt_has_all_its_parts_in_order(page, study):
    [compared] = study.compare(prompts=["overall"])
    parts = [
        compared.sentence,
        "Can the judge be trusted",
        "Which is better",
        "Mean human score of each system",
        "What judgments vary by",
        "Examples",
    ]
    start = page.text.index("How this was made")
    places = [page.text.index(part, start) for part in parts]
    assert places == sorted(places)
    for found in study.estimate(study.metrics):
        assert found.signature in page.text
    for diagnosis in study.diagnose(study.metrics):
        for sentence in (diagnosis.sentence.replace("`", ""), diagnosis.holds_back):
            assert page.text.count(sentence) == 1


def test_the_same_study_gives_the_same_page_whatever_the_users_settings(study, tmp_path):
    options = {"metrics": ("good",), "prompts": ["overall"]}
    first = write_report(study, tmp_path / "a.html", **options).read_bytes()
    before = dict(mpl.rcParams)
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "lines.linewidth": 7}):
        second = write_report(study, tmp_path / "b.html", **options).read_bytes()
    assert first == second
    assert dict(mpl.rcParams) == before


def test_texts_from_data_are_never_markup(make_study, tmp_path):
    names = (
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(2)>',
        "日本語 & $x_1$ {{ 7*7 }}",
    )
    metric = "<i>m</i>"
    study = make_study(names, prompts=("<b>p</b>",), metrics=(metric,))
    page = report(study, tmp_path, title="</title><script>", notice="<u>", command="</code>")
    assert not page.all("script")
    assert not page.all("img")
    assert not page.all("u")
    assert not page.all("i")
    for text in (*names, metric, "<b>p</b>", "</title><script>", "<u>", "</code>"):
        assert text in page.text


def test_the_page_says_what_its_intervals_are_about_and_what_carries_them(page, study):
    [found, *_] = study.estimate(prompts=["overall"])
    assert f"intervals about {found.about}." in page.text
    assert str(found.about) == "these 24 outputs, by raters like these"
    assert "the same for new outputs" in page.text
    assert "Metrics used: good" in page.text
    assert "overlap" not in page.text


def test_a_report_uses_all_metrics_unless_some_are_named(make_study, tmp_path):
    names = tuple(f"metric {number}" for number in range(14))
    study = make_study(metrics=names)
    page = report(study, tmp_path)
    assert report(study, tmp_path, metrics=names).text == page.text
    assert "judgments with plain means; " in page.text


def test_a_metric_with_a_gap_does_not_refuse_the_page(make_study, tmp_path):
    study = make_study()
    rows = study.outputs.rows().with_row_index()
    gappy = rows.with_columns(good=pl.when(pl.col("index") > 2).then("good")).drop("index")
    page = report(Study.read(gappy, study.judgments.frame), tmp_path)
    assert "metric good is missing on 3 of 24 outputs" in page.text


def test_judged_outputs_unlike_the_pool_are_pointed_out_before_the_numbers(make_study, tmp_path):
    study = make_study(("only",), pool=200, judged=60)
    outputs = study.outputs.rows()
    judged = study.judgments.frame["item"].unique().to_list()
    off = outputs.with_columns(good=pl.col("good") + 5 * pl.col("item").is_in(judged))
    page = report(Study.read(off, study.judgments.frame), tmp_path)
    warning = page.text.index("judged outputs are not a random sample of the pool")
    assert warning < page.text.index("only scores ")


def test_what_was_taken_for_granted_in_reading_is_said(make_study, tmp_path):
    study = make_study(("alpha",))
    note = "metric <b> was missing on 2 of 24 outputs"
    assert "How the files were read" not in report(study, tmp_path).text
    text = report(replace(study, notes=(note,)), tmp_path).text
    assert text.index("How the files were read") < text.index(note) < text.index("Glossary")


def test_one_system_is_its_own_headline(make_study, tmp_path):
    page = report(make_study(("only",)), tmp_path)
    assert "Human evaluation of only" in page.text
    assert "only scores " in page.text
    assert "Which is better" not in page.text
    assert not any("matrix" in one.get("class", "") for one in page.all("table"))
    assert len(page.all("svg")) == 2


def test_without_a_metric_there_are_plain_means_and_the_page_says_so(make_study, tmp_path):
    page = report(make_study(metrics=()), tmp_path)
    assert "No metric was given." in page.text
    assert len(page.all("svg")) == 1


def test_without_repeated_judgments_the_page_says_what_is_missing(make_study, tmp_path):
    page = report(make_study(judgments=1), tmp_path)
    assert "hardly any output has a second judgment" in page.text
    assert "have about a fifth of the outputs judged by a second rater" in page.text
    assert len(page.all("svg")) == 3


def test_a_metric_that_is_constant_for_a_system_is_pointed_out(make_study, tmp_path):
    study = make_study(("reference", "b", "c"), constant=("reference",))
    page = report(study, tmp_path, metrics=("good",))
    assert "reference : metric good is the same on all outputs: it cannot correct" in page.text
    assert len(page.all("svg")) == 3


def test_judgments_that_are_all_equal_still_make_a_page(make_study, tmp_path):
    page = report(make_study(score=2.0), tmp_path)
    assert "No system has an estimate under this prompt" in page.text
    assert "no estimate: all judgments of each system are equal" in page.text


def test_25_systems_are_answered_first_and_the_rest_is_folded(crowd):
    page, compared = crowd
    assert page.text.index(compared.sentence[1:]) < page.text.index("Which is better")
    summaries = [text.strip() for text in page.inside("summary")]
    assert {
        "Every pair, with intervals and judgments still needed",
        "What judgments vary by, and raters",
    } <= set(summaries)
    assert [one.get("class") for one in page.all("table")].count("matrix") == 1
    cells = [one for one in page.all("td") if one.get("class") in {"better", "worse", "open"}]
    assert len(cells) == 25 * 24
    assert all(" minus " in one["title"] for one in cells)


def test_a_name_is_cut_only_where_the_whole_shows_when_pointed_at(crowd):
    page, compared = crowd
    cut = [text for text in page.inside("text") if "…" in text]
    assert cut
    assert {rank.system for rank in compared.ranks} <= set(page.inside("title"))
    heads = [one["title"] for one in page.all("th") if "title" in one]
    assert {rank.system for rank in compared.ranks} == set(heads)


def test_contents_lead_to_every_part_of_the_page(page):
    heads = {one["id"] for tag, one in page.elements if tag in {"h2", "h3"} and "id" in one}
    linked = {one["href"][1:] for one in page.all("a")}
    assert heads - {"prompt-1-title", "prompt-2-title"} == linked - {"prompt-1", "prompt-2"}
    assert {"prompt-1-comparison", "prompt-2-judge", "glossary", "made"} <= linked


def test_each_prompt_has_its_own_answer_at_the_top(page, study):
    top = page.text.index("outputs judged")
    for compared in study.compare():
        assert page.text.index(compared.sentence[1:]) < top


def test_what_compare_refuses_is_said_in_one_line_without_ranks(make_study, tmp_path):
    study = make_study(("a", "b"))
    frame = study.judgments.frame
    of_b = frame.filter(pl.col("system") == "b").head(1)
    page = report(
        Study.read(study.outputs.rows(), frame.filter(pl.col("system") == "a").vstack(of_b)),
        tmp_path,
    )
    assert "Which system is better is not known: a comparison needs judgments of two systems" in (
        page.text
    )
    assert "Which is better" not in page.text


def test_raters_who_each_judged_one_system_are_pointed_out_once(make_study, tmp_path):
    study = make_study(("a", "b"))
    apart = study.judgments.frame.with_columns(
        rater=pl.when(pl.col("system") == "a").then(pl.lit("x")).otherwise(pl.lit("y"))
    ).unique(["item", "system"], maintain_order=True)
    page = report(Study.read(study.outputs.rows(), apart), tmp_path)
    assert page.text.count("each system was judged by another rater") == 1


def test_the_trouble_of_one_prompt_does_not_end_the_report(make_study, tmp_path):
    study = make_study(prompts=("good", "flat"))
    frame = study.judgments.frame.with_columns(
        score=pl.when(pl.col("prompt") == "flat").then(2.0).otherwise("score")
    )
    page = report(Study.read(study.outputs.rows(), frame), tmp_path)
    [compared] = study.compare(prompts=["good"])
    assert compared.sentence[1:] in page.text
    assert "no estimate: all judgments of each system are equal" in page.text


def test_figures_take_their_colours_from_the_page_in_the_dark_too(written):
    style = written[written.index("<style>") : written.index("</style>")]
    light, dark = style.split("@media (prefers-color-scheme: dark)", 1)
    for name in THEME.values():
        assert f"--{name}:" in light
        assert f"--{name}:" in dark.split("* { box-sizing")[0]
        assert f"var(--{name}, #" in written or name in {"green", "band", "peach", "shade"}


def test_examples_are_shown_with_their_texts_as_texts(make_study, tmp_path):
    study = make_study(("only",))
    outputs = study.outputs.rows().with_columns(output=pl.lit("<b>bold</b> text"))
    page = report(Study.read(outputs, study.judgments.frame), tmp_path)
    assert "Both high" in page.text
    assert "<b>bold</b> text" in page.text
    assert all(text.strip() == "<b>bold</b> text" for text in page.inside("blockquote"))


def test_progress_is_told_step_by_step(study, tmp_path):
    told = []
    write_report(study, tmp_path / "r.html", metrics=(), progress=lambda *step: told.append(step))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_only_what_was_asked_for_is_reported(study, tmp_path):
    page = report(study, tmp_path, prompts=["fluent"], systems=["beta", "gamma"], level=0.9)
    assert "Prompt fluent" in page.text
    assert "Prompt overall" not in page.text
    assert "alpha" not in page.text
    assert "90% interval" in page.text


def test_an_older_page_is_replaced_and_nothing_else_is_left(study, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(study, str(path), metrics=(), prompts=["overall"])
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_put_in_place_leaves_the_old_one(study, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InvalidDataError, match=r"report\.html: cannot be written: no room"):
        write_report(study, path, metrics=(), prompts=["overall"])
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_not_made(study, tmp_path):
    with pytest.raises(InvalidArgumentError, match="`path` must lie in a folder that exists"):
        write_report(study, tmp_path / "no" / "report.html", metrics=())
    with pytest.raises(InvalidArgumentError, match="`path` must be a file; got the folder"):
        write_report(study, tmp_path, metrics=())
    assert [one.name for one in tmp_path.iterdir()] == []


def test_an_unknown_metric_is_refused(study, tmp_path):
    with pytest.raises(InvalidArgumentError, match="nope"):
        write_report(study, tmp_path / "report.html", metrics=("nope",))


def test_preferences_have_a_figure_and_wins_ties_and_losses(tmp_path):
    rows = [
        {"item": item, "system": a, "other_system": b, "rater": f"r{item % 4}", "prompt": "better"}
        | {"score": 1.0 if (item + len(a + b)) % 4 else 0.5}
        for item in range(30)
        for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
    ]
    outputs = [
        {"item": item, "system": system, "output": f"{system} {item}"}
        for item in range(30)
        for system in "xyz"
    ]
    page = report(Study.read(pl.DataFrame(outputs), pl.DataFrame(rows)), tmp_path)
    assert "Human evaluation of 3 systems" in page.text
    assert "90 of 90" in page.text
    assert "Wins, ties and losses" in page.text
    assert "strength, wins minus losses" in page.text


def test_prompts_that_agree_have_one_answer_and_one_open_section(make_study, tmp_path):
    study = make_study(("a", "b"), prompts=("overall", "fluent"), judged=5)
    text = write_report(study, tmp_path / "page.html").read_text("utf-8")
    said = "Under none of the 2 prompts is it known yet which system is best."
    assert agreed_sentence(study.compare()) == said
    assert f'<p class="answer">{said}</p>' in text
    assert text.count('<details class="like-the-first">') == 1
    assert text.count('<p class="answer">') == 2


def test_prompts_agree_where_the_same_systems_may_be_best():
    def found(*low):
        ranks = [
            SimpleNamespace(system=name, low=one) for name, one in zip("abc", low, strict=True)
        ]
        return SimpleNamespace(ranks=ranks)

    assert agreed_sentence([found(1, 2, 2), found(1, 2, 3)]) == "a is best under all 2 prompts."
    assert agreed_sentence([found(1, 1, 2), found(1, 1, 3)]) == "Best under all 2 prompts: a or b."
    assert agreed_sentence([found(1, 2, 2), found(2, 1, 3)]) is None
    assert agreed_sentence([found(1, 2, 2), None]) is None
    assert agreed_sentence([found(1, 2, 2)]) is None
