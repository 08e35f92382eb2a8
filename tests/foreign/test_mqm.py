import pytest

from steelyard.errors import InvalidDataError
from steelyard.foreign.mqm import error_weight


def test_errors_of_a_rater_add_up_to_minus_points(convert):
    found = convert("wmt-mqm/mqm.tsv")
    assert found.format == "wmt-mqm"
    assert found.scores == {
        ("news.1/1", "alpha", "rater1", "mqm"): -5.1,  # major 5, punctuation 0.1
        ("news.1/1", "alpha", "rater2", "mqm"): 0.0,
        ("news.1/1", "beta", "rater1", "mqm"): -25.0,
        ("news.1/2", "alpha", "rater1", "mqm"): 0.0,
        ("news.1/2", "beta", "rater2", "mqm"): -1.0,
    }


def test_marks_are_taken_out_and_quotation_marks_are_text(convert):
    row = convert("wmt-mqm/mqm.tsv").outputs["news.1/1", "alpha"]
    assert (row["output"], row["input"], row["cluster"]) == (
        "Er sagte Tag.",
        'He said "hello.',
        "news.1",
    )


def test_the_most_specific_weight_counts():
    assert error_weight("major", "Non-translation!") == 25
    assert error_weight("Minor", "fluency/punctuation") == 0.1
    assert error_weight("Critical", "Accuracy") == 0


def test_an_unknown_severity_is_said(convert, tmp_path):
    path = tmp_path / "mqm.tsv"
    header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    path.write_text(f"{header}\na\td\t1\tr\ts\tt\tAccuracy\tCritical\n")
    assert "left out: 1 errors of severity 'Critical'" in convert(path).remarks
    path.write_text(f"{header}\na\td\t1\n")
    with pytest.raises(InvalidDataError, match=r"line 2: expected 8 fields, got 3"):
        convert(path)


def test_a_file_with_weights_and_items_keeps_them(convert, tmp_path):
    path = tmp_path / "mqm.tsv"
    header = "item\tsystem\tdoc\tdoc_id\trater\tsource\ttarget\tcategory\tseverity\tweight"
    row = "n7\ta\td\t1\tr\ts\t<v>t</v>\tAccuracy\tCritical"
    path.write_text(f"{header}\n{row}\t25\n{row}\t0.5\n")
    assert convert(path).scores == {("n7", "a", "r", "mqm"): -25.5}
    path.write_text(f"{header}\n{row}\theavy\n")
    with pytest.raises(InvalidDataError, match="column weight: expected a number of 0 or more"):
        convert(path)
