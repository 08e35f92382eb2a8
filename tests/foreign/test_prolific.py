from pathlib import Path

import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import open_document
from steelyard.foreign.prolific import approved_raters

EXPORT = Path(__file__).parent / "files" / "prolific" / "submissions.csv"


def test_approved_participants_are_found_behind_a_byte_order_mark():
    assert approved_raters(open_document(EXPORT)) == {"A1", "A3"}


def test_judgments_of_others_are_left_out_and_counted(convert):
    raters = approved_raters(open_document(EXPORT))
    found = convert("mturk/batch.csv", raters=raters, raters_from="submissions.csv")
    assert {rater for _, _, rater, _ in found.scores} == {"A1", "A3"}
    assert "left out: 2 judgments by raters that submissions.csv does not approve" in found.remarks


def test_ids_that_match_nobody_are_refused(convert):
    with pytest.raises(InvalidDataError, match=r"approves none of the raters .*'A1'.* there 'B'"):
        convert("mturk/batch.csv", raters=frozenset("B"), raters_from="submissions.csv")


def test_an_export_has_no_scores_to_convert(convert):
    with pytest.raises(InvalidDataError, match=r"holds no scores.*--raters-from"):
        convert("prolific/submissions.csv")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Participant id,Status\nA,RETURNED\n", "no submission is APPROVED; there is RETURNED"),
        ("a,b\n1,2\n", "expected columns `Participant id` and `Status`"),
        ("[1]", "expected columns `Participant id` and `Status`"),
    ],
)
def test_a_file_that_approves_nobody_is_refused(tmp_path, content, says):
    path = tmp_path / "export.csv"
    path.write_text(content)
    with pytest.raises(InvalidDataError, match=says):
        approved_raters(open_document(path))


def test_older_exports_spell_their_columns_otherwise(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("session_id,participant_id,status\ns,P,APPROVED\n")
    assert approved_raters(open_document(path)) == {"P"}
