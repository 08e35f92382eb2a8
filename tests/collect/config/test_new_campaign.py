import pytest

from steelyard.collect.config.campaign import load_campaign
from steelyard.collect.config.new_campaign import copy_example
from steelyard.collect.sampling.draw import units_of
from steelyard.errors import InvalidArgumentError

NAMES = (
    *("language-quality", "answer-correctness", "pairwise", "direct-assessment", "esa", "mqm"),
    "side-by-side",
)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_copied_whole_and_found_again(tmp_path, name):
    path = copy_example(name, tmp_path / "mine")
    assert path == tmp_path / "mine" / "campaign.yaml"
    assert {"campaign.yaml", "task.yaml", "outputs.jsonl"} <= {
        file.name for file in path.parent.iterdir()
    }
    # what was made meanwhile stays
    (path.parent / "campaign.sqlite").write_text("judgments")
    assert copy_example(name, tmp_path / "mine") == path
    assert (path.parent / "campaign.sqlite").read_text() == "judgments"
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidArgumentError, match="holds something else than the example"):
        copy_example("pairwise", tmp_path / "mine")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_folder_with_another_campaign_is_left_alone(tmp_path):
    copy_example("pairwise", tmp_path / "mine")
    with pytest.raises(InvalidArgumentError, match=r"steelyard serve .*campaign\.yaml"):
        copy_example("language-quality", tmp_path / "mine")


def test_a_campaign_that_was_changed_into_another_is_not_taken_for_the_example(tmp_path):
    path = copy_example("pairwise", tmp_path / "mine")
    path.write_text("title: [")
    with pytest.raises(InvalidArgumentError, match="holds something else"):
        copy_example("pairwise", tmp_path / "mine")
    assert path.read_text() == "title: ["


def test_an_example_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(InvalidArgumentError, match="answer-correctness, direct-assessment"):
        copy_example("poetry", tmp_path / "mine")


def test_the_replies_side_by_side_can_be_put_in_order_too(tmp_path):
    path = copy_example("side-by-side", tmp_path / "mine").with_name("ranking.yaml")
    campaign = load_campaign(path)
    units = units_of(campaign)
    assert sum(unit.gold is None for unit in units) == 24
    assert [len(unit.gold) for unit in units if unit.gold is not None] == [2, 2]
