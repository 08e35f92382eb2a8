import io

from rich.console import Console
from rich.table import Table

from steelyard.cli.printing import _fit


def printed(width):
    table = Table()
    for number in range(9):
        table.add_column(f"heading {number}")
    table.add_row(*["[-0.123, -0.456]"] * 9)
    page = io.StringIO()
    console = Console(width=width, file=page)
    _fit(table, console)
    console.print(table)
    return page.getvalue()


def test_a_table_that_fits_keeps_its_lines():
    assert "│ [-0.123, -0.456] │" in printed(200)


def test_no_digit_is_cut_off_where_a_table_does_not_fit():
    narrow = printed(90)
    assert narrow.count("[-0.123,") == narrow.count("-0.456]") == 9
    assert "…" not in narrow
    assert "…" not in printed(40)
