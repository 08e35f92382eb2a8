import polars as pl
import pytest

from steelyard.errors import InvalidDataError
from steelyard.tables import keys, read_outputs


def frame(items, systems="a"):
    return pl.DataFrame({"item": items, "g": 1.0}).with_columns(
        system=pl.lit(systems) if isinstance(systems, str) else pl.Series(systems)
    )


def test_systems_come_in_order_of_first_appearance_with_their_sizes():
    pool = frame([1, 1, 2, 3, 1], ["z", "m", "z", "m", "a"])
    assert list(read_outputs(pool).sizes.items()) == [("z", 2), ("m", 2), ("a", 1)]


def test_items_may_be_shared_by_systems_and_names_may_run_into_each_other():
    assert read_outputs(frame(["ab", "a"], ["c", "bc"])).systems == ("c", "bc")


def test_an_output_that_is_there_twice_is_named_by_both_lines(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text('item,system,g\n1,a,1\n"2\n2",a,1\n\n3,a,1\n1,b,1\n3,a,5\n"2\n2",a,1\n')
    match = r"pool\.csv, line 9: the output of item '2\\n2' by system 'a' is .* already on line 3"
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(path)


def test_a_pool_on_disk_is_checked_when_it_is_first_used(tmp_path):
    path = tmp_path / "pool.parquet"
    frame([1, 2, 1]).write_parquet(path)
    outputs = read_outputs(path)
    match = r"row 3: the output of item '1' by system 'a' is there already on row 1: keep one"
    for use in (outputs.check, outputs.pool_moments, outputs.rows, lambda: outputs.systems):
        with pytest.raises(InvalidDataError, match=match):
            use()


@pytest.mark.parametrize(("items", "shown"), [(["x", None], "nothing"), (["x", ""], "''")])
def test_a_pool_on_disk_has_no_empty_keys(tmp_path, items, shown):
    path = tmp_path / "pool.parquet"
    frame(items).write_parquet(path)
    match = rf"row 2, column item: expected text or a whole number, got {shown}"
    with pytest.raises(InvalidDataError, match=match):
        read_outputs(path).check()


def test_whole_numbers_and_their_names_are_one_item():
    # The text 1 and the number 1 cannot be in one column but of mixed JSON, where both are text.
    with pytest.raises(InvalidDataError, match="already on row 1"):
        read_outputs(frame([1.0, 1.0]))


def test_keys_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(keys, "_hash", lambda _: pl.lit(7, pl.UInt64).alias(keys._HASH))
    assert read_outputs(frame(range(50))).sizes == {"a": 50}
    with pytest.raises(InvalidDataError, match=r"row 51: the output of item '3'.*on row 4"):
        read_outputs(frame([*range(50), 3]))


def test_many_repeated_keys_are_one_error():
    with pytest.raises(InvalidDataError, match="is there already on row"):
        read_outputs(frame([*range(3000), *range(3000)]))
