import pytest

from steelyard.paper.printed import COMPONENTS, EFFICIENCIES, EXAMPLES, MODES


@pytest.mark.parametrize("row", COMPONENTS, ids=lambda row: row.prompt)
def test_printed_noise_ratios_are_the_ratio_of_the_printed_variances(row):
    assert row.noise_ratio == pytest.approx(row.rater / row.item, abs=0.005)


def test_counts_of_table_1_add_up_to_the_printed_totals():
    assert [row.total for row in MODES] == [1455, 2000]


def test_there_is_an_example_of_each_mode_and_a_number_of_each_panel():
    assert len(EXAMPLES) == 4
    assert {row.prompt for row in EFFICIENCIES} == {"overall", "hter", "AnyCorrect"}
