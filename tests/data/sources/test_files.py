"""Reading tables from files, and one clear line for every file that cannot be read."""

import gzip
import io
import os
import socket
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, ipc, parquet
from scipy import sparse

from annotated_data import annotated
from tellapart.data.reader import read_samples
from tellapart.data.sources.files import READERS, bytes_in_memory, read_stream, read_table
from tellapart.errors import InputError, MissingDependencyError
from tellapart.text import safe

TABLE = pa.table({"age": [31, 47, 52], "sex": ["f", "m", "f"]})
TEXT = "age,sex\n31,f\n47,m\n52,f\n"


def write_stream(path):
    with ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITERS = {
    "a.csv": lambda p: p.write_text(TEXT),
    "a.CSV": lambda p: p.write_text(TEXT),
    "a.csv.gz": lambda p: p.write_bytes(gzip.compress(TEXT.encode())),
    "bom.csv": lambda p: p.write_text(TEXT, encoding="utf-8-sig"),
    "a.tsv": lambda p: p.write_text(TEXT.replace(",", "\t")),
    "a.TXT": lambda p: p.write_text(TEXT.replace(",", "\t")),
    "a.parquet": lambda p: parquet.write_table(TABLE, p),
    "a.pq": lambda p: parquet.write_table(TABLE, p),
    "a.feather": lambda p: feather.write_feather(TABLE, p),
    "a.arrow": write_stream,
    "a.ipc": lambda p: pl.DataFrame(TABLE.to_pydict()).write_ipc(p),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert read_table(tmp_path / name).to_pydict() == TABLE.to_pydict()
    assert read_table(str(tmp_path / name)).num_rows == 3


def test_parquet_below_a_folder_that_looks_like_a_partition_gains_no_column(tmp_path):
    (tmp_path / "year=2020").mkdir()
    parquet.write_table(TABLE, tmp_path / "year=2020" / "a.parquet")
    assert read_table(tmp_path / "year=2020" / "a.parquet").column_names == ["age", "sex"]


def test_usual_marks_of_missing_values_become_null(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,sex\nNA,f\n47,\n52,NA\n")
    assert read_table(path).to_pydict() == {"age": [None, 47, 52], "sex": ["f", None, None]}


def test_quoted_fields_may_hold_line_breaks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('age,note\n1,"two\nlines"\n2,one\n')
    assert read_table(path)["note"].to_pylist() == ["two\nlines", "one"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", r"a\.csv: the file is empty"),
        ("a.csv", b"a,b\n1,2\n3\n", r"a\.csv: .*Expected 2 columns, got 1"),
        ("a.csv", "a,b\né,1\n".encode("latin-1"), "'a' is not UTF-8"),
        ("a.csv", "é,b\n1,2\n".encode("latin-1"), "column names are not UTF-8"),
        ("a.csv", b"a;b\n1;2\n", r"separated by ','; got a single column 'a;b'.*by ';'"),
        ("a.txt", b"a,b\n1,2\n", r"separated by '\\t'; got a single column"),
        ("a.csv.gz", b"not compressed", r"a\.csv\.gz: the file cannot be read"),
        ("a.parquet", b"not a parquet file", r"a\.parquet: the file cannot be read: .*[Pp]arquet"),
        ("a.feather", b"not a feather file", r"a\.feather: the file cannot be read: .*Feather"),
        ("a.xlsx", b"PK", r"a\.xlsx: the file name must end in one of \.csv, .*\.feather"),
    ],
)
def test_bad_files_give_one_line_without_a_chain(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_nothing_in_a_name_or_a_line_steers_the_terminal(tmp_path):
    path = tmp_path / "a\x1b[31m\u202e\udcff.csv"
    path.write_bytes(b"a,b\n1,2\n3\x1b]0;title\x07\n")
    seen = []
    for name in (path, path.with_suffix(".gone"), path.with_suffix(".GONE.csv")):
        with pytest.raises(InputError) as caught:
            read_table(name)
        seen.append(str(caught.value))
    path.write_text(",b\n1,2\n")
    with pytest.warns(UserWarning, match="row labels") as warned:
        read_table(path)
    seen.append(str(warned[0].message))
    assert r"3\x1b]0;title\x07" in seen[0]
    for message in seen:
        assert r"a\x1b[31m\u202e\udcff" in message
        assert message == safe(message)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets in a file system")
def test_what_may_have_no_end_is_refused(tmp_path, monkeypatch):
    """A socket stands for devices here: those are not for tests to open."""
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as open_socket:
        open_socket.bind("a.csv")
        with pytest.raises(InputError, match=r"^a\.csv: expected a file or a pipe; got a device"):
            read_table("a.csv")


def test_absent_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"gone\.csv: there is no such file"):
        read_table(tmp_path / "gone.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv: expected a file; got a folder"):
        read_table(tmp_path / "folder.csv")


def test_one_column_with_a_comma_in_its_name_is_no_mistake(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("height, cm\n170\n181\n")
    assert read_table(path).to_pydict() == {"height, cm": [170, 181]}


def test_row_labels_saved_by_pandas_are_left_out_with_a_warning(tmp_path):
    frame = pd.DataFrame({"age": [31, 47]}, index=["p", "q"])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.warns(UserWarning, match="row labels"):
            table = read_table(tmp_path / name)
        assert table.to_pydict() == {"age": [31, 47]}


@pytest.mark.parametrize("name", WRITERS)
def test_streams_give_the_same_table(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    ending = path.suffix.lower().removeprefix(".")
    form = {"gz": "csv", "txt": "tsv", "pq": "parquet", "arrow": "feather", "ipc": "feather"}
    with path.open("rb") as stream:
        table = read_stream(stream, form.get(ending, ending))
    assert table.to_pydict() == TABLE.to_pydict()


def test_the_format_may_be_given(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text(TEXT)
    assert read_table(path, "csv").to_pydict() == TABLE.to_pydict()
    with pytest.raises(InputError, match=r"a\.dat: the file name must end in .* format be given"):
        read_table(path)
    with pytest.raises(InputError, match=r"form must be one of 'csv', .*; got 'xlsx'"):
        read_table(path, "xlsx")


def test_named_pipes(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=[TEXT])
    writer.start()
    assert read_table(path).to_pydict() == TABLE.to_pydict()
    writer.join()


@pytest.mark.parametrize("form", READERS)
def test_bad_streams_are_one_line(form):
    with pytest.raises(InputError, match="standard input: expected a table; got nothing"):
        read_stream(io.BytesIO(b""), form)
    with pytest.raises(InputError, match="standard input: the file cannot be read: ") as caught:
        read_stream(io.BytesIO(b"a,b\n1\n\x1f"), form)
    assert "\n" not in str(caught.value)


def test_annotated_data_needs_its_package(tmp_path, monkeypatch):
    path = tmp_path / "cells.h5ad"
    path.write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "tellapart\[anndata\]"'):
        read_table(path)


def test_annotated_files_are_checked_like_any_matrix(tmp_path, monkeypatch):
    matrix = sparse.csr_matrix(np.eye(4))
    reader = SimpleNamespace(read_h5ad=lambda path: annotated(matrix))
    monkeypatch.setitem(sys.modules, "anndata", reader)
    path = tmp_path / "cells.h5ad"
    path.write_bytes(b"any")
    assert read_samples(read_table(path), np.eye(4)).n_columns == 4
    matrix.indices[0] = 10**8
    with pytest.raises(InputError, match="X must be a sound sparse matrix; its column indices"):
        read_samples(read_table(path), np.eye(4))

    def refuse(path):
        raise KeyError("no X\n\x1b[31m")

    reader.read_h5ad = refuse
    with pytest.raises(InputError, match=r"cells\.h5ad: the file cannot be read: .*no X"):
        read_table(path)


def test_a_file_that_may_not_be_read_is_named(tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.csv: the file cannot be read: .*symbolic links"):
        read_table(loop)


def test_categories_survive_parquet_and_feather(tmp_path):
    table = TABLE.set_column(1, "sex", TABLE["sex"].dictionary_encode())
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    for name in ("a.parquet", "a.feather"):
        read = read_table(tmp_path / name)
        assert pa.types.is_dictionary(read.schema.field("sex").type)
        assert read_samples(read, TABLE).categories == {"sex": ("f", "m")}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_wide_files_are_read_in_blocks_of_many_lines(tmp_path, ending):
    names = [f"column {s}" for s in range(20_000)]
    text = "\n".join([",".join(names), *(",".join([str(k)] * 20_000) for k in range(8))]) + "\n"
    path = tmp_path / f"wide{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    with path.open("rb") as stream:
        piped = read_stream(stream)
    for table in (read_table(path), piped):
        assert table.shape == (8, 20_000)
        assert table.column(0).num_chunks == 1
        assert table.column(19_999).to_pylist() == list(range(8))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a,b,c,d\n0.5,1,x,-2.5e3\n1.5,2,y,7\n", ["double", "int64", "string", "double"]),
        # What comes further below decides, as it does for tables that are not wide.
        ("a,b,c,d\n0.5,1,x,2.5\nword,2,y,\n2,3,z,1\n", ["string", "int64", "string", "double"]),
        (
            '"a",b,"c,c",d\r\n0.5,NA,1.0,2.5\r\n1,NA,NA,1\r\n',
            ["double", "null", "double", "double"],
        ),
        ("a,a,c,d\n0.5,1,2.5,2.5\n0.5,1.5,2.5,2.5\n", ["double"] * 4),
        ("a,b,c,d\n0.5,1.5,2.5,3.5\n", ["double"] * 4),
    ],
)
def test_wide_text_has_the_types_that_arrow_finds(tmp_path, set_budget, text, kinds):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    as_usual = read_table(path)
    set_budget(wide_text_columns=3)
    found = read_table(path)
    assert [str(kind) for kind in found.schema.types] == kinds
    assert found.equals(as_usual)


def test_wide_text_through_a_pipe_or_gzip_reads_the_same(tmp_path, set_budget):
    text = "a,b,c,d\n0.5,1,x,-2.5e3\n1.5,2,y,7\n"
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    as_usual = read_table(packed)
    set_budget(wide_text_columns=3)
    assert read_table(packed).equals(as_usual)
    assert read_stream(io.BytesIO(text.encode())).equals(as_usual)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_header_of_many_megabytes_is_read(tmp_path, ending):
    names = [f"a rather long name {s:06d}" for s in range(60_000)]
    text = ",".join(names) + "\n" + "\n".join(",".join(["0.5"] * len(names)) for _ in range(2))
    path = tmp_path / f"wide.{ending}"
    path.write_bytes(gzip.compress(text.encode(), 1) if ending.endswith("gz") else text.encode())
    table = read_table(path)
    assert len(text) > 1 << 20
    assert table.shape == (2, 60_000)
    assert table.column_names[-1] == names[-1]
    assert table.schema.types[-1] == pa.float64()


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
def test_bytes_in_memory_are_those_of_the_numbers(tmp_path, ending):
    """Compressed or not: eight bytes a value, within a tenth."""
    rows = np.arange(300_000)
    table = pa.table({"flag": rows % 2, "score": rows % 5, "level": rows % 3 + 0.5})
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        csv.write_csv(table, path)
    elif ending == "csv.gz":
        with gzip.open(path, "wb") as stream:
            csv.write_csv(table, stream)
    elif ending == "parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, path)
    assert bytes_in_memory(path) == pytest.approx(8 * 3 * 300_000, rel=0.1)


def test_files_that_cannot_be_read_have_no_bytes(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"no Parquet")
    assert bytes_in_memory(path) == 0
