"""Columns chosen by the names that people type."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from annotated_data import annotated
from tellapart.data.column_choice import choose_columns
from tellapart.data.sources.dataset import FileDataset
from tellapart.errors import InputError

A = pa.table({"u": [1], "v": [2], "w,x": [3], "arm": ["a"]})
B = pa.table({"v": [2], "u": [1], "only": [5]})


def names(tables):
    return [table.column_names for table in tables]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["u", "v", "w,x", "arm"]),
        ({"columns": ["v,u"]}, ["u", "v"]),
        ({"columns": ["v", "u"]}, ["u", "v"]),
        ({"columns": ["v, u"], "drop": ["u"]}, ["v"]),
        ({"columns": ["w,x"]}, ["w,x"]),
        ({"columns": ['"w,x",u']}, ["u", "w,x"]),
        ({"drop": ["u,v"]}, ["w,x", "arm"]),
        ({"columns": ["u"], "needed": ["arm"]}, ["u", "arm"]),
    ],
)
def test_names_are_typed_as_people_do(given, expected):
    assert names(choose_columns([A], **given)[0]) == [expected]


def test_what_one_file_is_without_may_be_dropped():
    chosen, left_out = choose_columns([A.select(["u", "v"]), B], drop=["only"])
    assert names(chosen) == [["u", "v"], ["v", "u"]]
    assert left_out == ("only",)


def test_nothing_asked_for_is_nothing_done():
    assert choose_columns([A])[0][0] is A


def test_files_read_in_blocks_and_annotated_data():
    (chosen,), _ = choose_columns([FileDataset(ds.dataset(A), tuple(A.column_names))], drop=["u"])
    assert chosen.names == ("v", "w,x", "arm")
    data = annotated(np.eye(4), ["u", "v", "w", "x"], arm=list("abab"))
    (chosen,), _ = choose_columns([data], columns=["x,v"], needed=["arm"])
    assert list(chosen.var_names) == ["v", "x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": ["\n0"]}, r"columns must name columns; got '\\n0'"),
        ({"columns": ["u,nope"]}, "columns must name columns; got 'nope'; there are 'u', 'v'"),
        ({"columns": ["only"]}, "columns must name columns; got 'only'"),
        ({"drop": ["onyl"]}, "drop must name columns; got 'onyl'; the nearest names are 'only'"),
        ({"drop": ["u,v,arm", "w,x"]}, "drop must leave at least one column to compare"),
        ({"drop": ["arm"], "needed": ["arm"]}, "drop must leave the column 'arm'"),
    ],
)
def test_what_cannot_be_chosen(given, message):
    with pytest.raises(InputError, match=message):
        choose_columns([A, B], **given)
