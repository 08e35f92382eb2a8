import pytest

from steelyard.errors import InvalidDataError


def scores(found):
    return [(row["item"], row["system"], row["score"]) for row in found.preferences]


def test_battles_become_two_rows_that_add_up_to_one(convert):
    found = convert("arena/battles.jsonl")
    assert found.format == "arena"
    assert scores(found) == [
        ("b1", "alpha", 1.0),
        ("b1", "beta", 0.0),
        ("b2", "beta", 0.5),
        ("b2", "alpha", 0.5),
        ("b3", "alpha", 0.5),
        ("b3", "gamma", 0.5),
    ]
    assert not found.judgments
    assert [row["submission"] for row in found.preferences] == [1, 1, 2, 2, 3, 3]
    assert [row["other_system"] for row in found.preferences[:2]] == ["beta", "alpha"]
    assert [row["first_system"] for row in found.preferences[:2]] == ["alpha", "alpha"]
    assert found.preferences[0]["rater"] == "arena_user_1"
    assert found.preferences[0]["time"] == "2026-11-16T09:40:00+00:00"
    assert "both were bad count as ties" in found.remarks
    assert "left out: 1 battles without two different systems" in found.remarks
    assert "left out: 1 battles judged by a model" in found.remarks
    assert found.outputs["b1", "beta"]["output"] == "5"


def test_winners_in_columns_of_their_own_are_read(convert):
    found = convert("arena/kaggle.csv")
    assert [score for _, _, score in scores(found)] == [1.0, 0.0, 0.0, 1.0, 0.5, 0.5]
    assert found.outputs["2", "beta"]["output"] == "6"
    assert "do not name who voted" in found.remarks


def test_a_winner_may_be_a_side_a_tie_or_a_name(convert):
    found = convert("arena/evalica.csv")
    assert scores(found)[0] == ("1", "alpha", 1.0)
    assert scores(found)[2] == ("2", "beta", 0.5)
    assert scores(found)[5] == ("3", "beta", 1.0)
    assert "each battle is an item" in found.remarks


def test_battles_without_a_winner_are_counted(convert, tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\na,b,\na,b,c\n")
    with pytest.raises(InvalidDataError, match="left out: 2 battles without a winner"):
        convert(path)


def test_the_same_vote_twice_is_refused_or_resolved(convert, tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("item,voter_id,model_a,model_b,winner\n1,v,a,b,model_a\n1,v,b,a,tie\n")
    with pytest.raises(InvalidDataError, match=r"2 judgments are there already.*--column rater="):
        convert(path)
    found = convert(path, on_duplicate="last")
    assert scores(found) == [("1", "b", 0.5), ("1", "a", 0.5)]
