import pytest

from reproduction.store import Store, markdown_table
from tellapart.errors import InputError


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "new" / "coin.csv", keys=("coin", "trial"), values=("side",))


def row(trial, side="head", coin="euro"):
    return {"coin": coin, "trial": str(trial), "side": side}


def test_rows_come_back_in_order(store):
    store.add([row(0), row(0, "tail")])
    store.add([row(1)])
    assert store.rows() == [row(0), row(0, "tail"), row(1)]
    assert store.done() == {("euro", "0"), ("euro", "1")}


def test_no_file_means_no_rows(store):
    assert store.rows() == []
    assert store.done() == set()


def test_half_a_line_is_taken_away(store):
    store.add([row(0)])
    with store.path.open("a") as file:
        file.write("euro,1,he")
    assert store.rows() == [row(0)]
    store.prepare()
    store.add([row(1)])
    assert store.rows() == [row(0), row(1)]


def test_values_with_commas_survive(store):
    store.add([row(0, 'head, "or" tail')])
    assert store.rows()[0]["side"] == 'head, "or" tail'


def test_other_columns_are_refused(store):
    store.add([row(0)])
    other = Store(store.path, keys=("coin",), values=("side",))
    with pytest.raises(
        InputError, match=r"must have the columns coin, side; got coin, trial, side"
    ):
        other.rows()


def test_markdown_table_takes_its_heading_from_the_first_row():
    assert markdown_table([{"a": 1, "b": 2}, {"a": 3, "b": 4}]).splitlines() == [
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "| 3 | 4 |",
    ]
