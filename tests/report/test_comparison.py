import csv
from dataclasses import replace

import pytest

from steelyard.report.comparison import comparison_part, pairs_table
from steelyard.report.copyable import copyable_estimates, copyable_pairs
from steelyard.report.difference_matrix import difference_matrix, signed
from steelyard.report.findings import prompt_findings


@pytest.fixture(scope="module")
def compared(study):
    [found] = study.compare(prompts=["overall"])
    return found


def order(compared):
    return [rank.system for rank in compared.ranks]


def test_a_cell_is_the_row_minus_the_column_with_the_verdict_on_the_row(compared):
    matrix = difference_matrix(compared, order(compared))
    place = {system: number for number, system in enumerate(matrix.systems)}
    for pair in compared.pairs:
        cell = matrix.rows[place[pair.a]][place[pair.b]]
        turned = matrix.rows[place[pair.b]][place[pair.a]]
        assert cell.text == signed(pair.difference, 2)
        assert cell.words.startswith(f"{pair.a} minus {pair.b}: {cell.text} [")
        assert {cell.kind, turned.kind} == (
            {"open"} if pair.verdict == "undecided" else {"better", "worse"}
        )
    assert all(matrix.rows[i][i] is None for i in range(3))


def test_the_better_one_of_a_pair_decides_on_both_cells(compared):
    pairs = tuple(
        replace(pair, verdict=verdict)
        for pair, verdict in zip(compared.pairs, ("a", "b", "equivalent"), strict=True)
    )
    names = tuple(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    matrix = difference_matrix(replace(compared, pairs=pairs), names)
    kinds = {
        (row, column): cell.kind
        for row, cells in zip(names, matrix.rows, strict=True)
        for column, cell in zip(names, cells, strict=True)
        if cell
    }
    assert kinds[pairs[0].a, pairs[0].b] == kinds[pairs[1].b, pairs[1].a] == "better"
    assert kinds[pairs[0].b, pairs[0].a] == kinds[pairs[1].a, pairs[1].b] == "worse"
    assert kinds[pairs[2].a, pairs[2].b] == kinds[pairs[2].b, pairs[2].a] == "equal"


def test_pairs_stand_in_the_order_of_their_clarity_the_better_estimate_first(compared):
    first, second, third = order(compared)
    table = pairs_table(compared, order(compared))
    assert table.rows[0][0] == f"{first} \N{MINUS SIGN} {third}"
    assert {row[0] for row in table.rows[1:]} == {
        f"{first} \N{MINUS SIGN} {second}",
        f"{second} \N{MINUS SIGN} {third}",
    }
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert "95% interval, all pairs" in table.columns


def test_one_pair_needs_no_matrix_and_no_words_about_all_pairs(study):
    [found] = study.compare(prompts=["overall"], pair=("alpha", "beta"))
    part = comparison_part(found)
    assert part.matrix is None
    assert part.together == "at 95%"
    assert "95% interval" in part.pairs.columns


def test_few_pairs_are_open_and_many_are_folded(compared):
    assert not comparison_part(compared).fold_pairs
    many = replace(compared, pairs=compared.pairs * 4)
    assert comparison_part(many).fold_pairs


def test_copied_numbers_can_be_read_back(study, compared):
    rows = list(csv.DictReader(copyable_pairs(compared).splitlines(), delimiter="\t"))
    assert [row["verdict"] for row in rows] == [pair.verdict for pair in compared.pairs]
    assert [float(row["low"]) for row in rows] == pytest.approx(
        [pair.low for pair in compared.pairs], rel=1e-5
    )
    found = prompt_findings(study, "overall", study.systems)
    rows = list(csv.DictReader(copyable_estimates(found).splitlines(), delimiter="\t"))
    assert [row["system"] for row in rows] == [one.system for one in found.systems]
    assert float(rows[0]["estimate"]) == pytest.approx(found.systems[0].estimate.estimate, rel=1e-5)


def test_a_name_that_a_spreadsheet_would_compute_stays_a_name(make_study):
    study = make_study(("=1+1", "a\tb"))
    text = copyable_estimates(prompt_findings(study, "overall", study.systems))
    assert {line.split("\t")[0] for line in text.splitlines()[1:]} == {"'=1+1", "a b"}
