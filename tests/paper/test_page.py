import csv
import re
import shutil

import pytest

from steelyard.paper import read_release, reproduce, write_page
from steelyard.paper.drawings import file_name


@pytest.fixture(scope="module")
def output(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    write_page(found, folder, kinds=(), command="steelyard paper somewhere")
    return folder


@pytest.fixture(scope="module")
def page(output):
    return (output / "paper.html").read_text(encoding="utf-8")


def test_the_page_asks_for_nothing_from_elsewhere(page):
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r'(src|href)="(https?:)?//', page)


def test_the_page_follows_the_paper(page):
    places = [
        page.index(part)
        for part in (
            "Bias in automatic evaluation",
            "Figure 1a",
            "Figure 1b:",
            "Table 1, MS MARCO",
            "Figure 2,",
            "Figure 3:",
            "Table 2:",
            "Figure 5,",
            "Figure 6:",
        )
    ]
    after_the_overview = [page.index("Figure 1a, MS MARCO: each"), *places[2:]]
    assert after_the_overview == sorted(after_the_overview)


def test_ids_of_the_page_are_unique(page):
    found = re.findall(r'\bid="([^"]+)"', page)
    assert len(found) == len(set(found))


def test_tables_have_all_numbers(output):
    sizes = {}
    for path in (output / "tables").iterdir():
        with path.open(encoding="utf-8") as rows:
            sizes[path.stem] = len(list(csv.DictReader(rows)))
    assert sizes["variances"] == 2 * 6 + 4 * 6
    assert sizes["correlations"] == 210
    assert sizes["bias-study"] == 40
    assert sizes["data-efficiencies"] == 168
    assert sizes["released-differences"] == 360
    assert sizes["trajectories"] == 168 * 6


def test_the_same_data_give_the_same_files_and_every_figure_is_one(directory, tmp_path):
    shutil.copy(directory / "msmarco.jsonl", tmp_path)
    release = read_release(tmp_path)
    one, other = (
        write_page(reproduce(release, draws=100), tmp_path / name, kinds=["pdf", "png"])
        for name in "ab"
    )
    page = one.read_text(encoding="utf-8")
    assert page == other.read_text(encoding="utf-8")
    named = set(re.findall(r'href="figures/([^"]+)"', page))
    assert named == {path.name for path in (tmp_path / "a" / "figures").iterdir()}
    assert page.count("<svg") == len(named) // 2
    for name in named:
        parts = (tmp_path / folder / "figures" / name for folder in "ab")
        assert len({path.read_bytes() for path in parts}) == 1


def test_with_one_file_alone_the_page_says_what_is_left_out(directory, tmp_path):
    shutil.copy(directory / "cnndm.jsonl", tmp_path)
    path = write_page(reproduce(read_release(tmp_path), draws=100), tmp_path / "out", kinds=())
    text = path.read_text(encoding="utf-8")
    assert "msmarco.jsonl is not there: all about MS MARCO is left out." in text
    assert "published.json is not there" in text
    assert "Figure 1a, MS MARCO" not in text


def test_texts_of_people_are_escaped(directory, tmp_path):
    shutil.copytree(directory, tmp_path, dirs_exist_ok=True)
    texts = tmp_path / "msmarco_texts.jsonl"
    texts.write_text(texts.read_text().replace("question ", "<b>question</b> "))
    (tmp_path / "cnndm.jsonl").unlink()
    found = reproduce(read_release(tmp_path), draws=100)
    page = write_page(found, tmp_path / "out", kinds=()).read_text(encoding="utf-8")
    assert "&lt;b&gt;question" in page
    assert "<b>question" not in page


def test_names_of_files_are_plain():
    assert file_name("a b", "../c", "é") == "a-b-c"
