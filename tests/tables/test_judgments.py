import polars as pl

from steelyard.tables import read_judgments


def test_judgments_know_who_judged_what_in_order_of_appearance(judged):
    judgments = read_judgments(judged)
    assert len(judgments) == 4
    assert judgments.systems == ("b", "a")
    assert judgments.raters == ("r1", "r\n2")
    assert judgments.prompts == ("fluency", "overall, all")


def test_judgments_keep_their_lines_when_others_are_left_out(tmp_path):
    path = tmp_path / "judged.csv"
    lines = ["item,system,rater,prompt,score", "1,a,r,p,1", "", "2,a,r,q,1", "3,a,r,p,1"]
    path.write_text("\n".join(lines))
    judgments = read_judgments(path).filter(pl.col("prompt") == "p")
    assert judgments.frame["item"].to_list() == ["1", "3"]
    assert judgments.place(1) == f"{path}, line 5"


def test_rows_of_a_frame_count_from_one(judged):
    assert read_judgments(judged).place(0) == "judgments, row 1"
