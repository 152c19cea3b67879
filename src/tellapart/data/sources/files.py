"""Tables from files and streams: CSV, tab-separated text, Parquet, Feather, Arrow and AnnData."""

from __future__ import annotations

import csv as text_lines
import gzip
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

from tellapart.arguments import check_choice
from tellapart.data.column_notes import without_row_labels
from tellapart.data.sources.hdf_walk import BEGUN
from tellapart.errors import InputError, MissingDependencyError
from tellapart.text import safe

# Damaged HDF5 files, met in a process of their own.
#
# HDF5 is C code that believes a file: a few flipped bits make it loop for ever, or end the process,
# while anndata asks for an attribute. Nothing in Python can catch that. So a file is first walked
# through by another process, which may be lost.


WALK = Path(__file__).with_name("hdf_walk.py")
SECONDS, BYTES_PER_SECOND = 10, 10_000_000
"""How long a walk may compute, and for how many bytes it has a second more."""
PATIENCE = 20
"""How many times as long it may take on a machine that has other things to do."""


def try_hdf(path: Path) -> None:
    """Raise ValueError if HDF5 crashes on a file, or never comes to an end.

    Where no Python can be started, as in programs that have one built in, nothing is tried.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return
    seconds = SECONDS + path.stat().st_size // BYTES_PER_SECOND
    # -P, or its folder would come first among those that modules are sought in.
    command = [sys.executable, "-P", str(WALK), str(path.absolute()), str(seconds)]
    place = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        end = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": place},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"HDF5 came to no end within {PATIENCE * seconds} s") from None
    except OSError:
        return
    if end.stdout.decode(errors="replace") != BEGUN or end.returncode == 0:
        return
    raise ValueError(
        f"it is damaged: HDF5 crashed, or did not end within {seconds} s of computing "
        f"(a trial in another process, status {end.returncode})"
    )


_SURROGATE = re.compile("[\ud800-\udfff]")
GZIP_MAGIC = b"\x1f\x8b"
# What Arrow reads of delimited text at a time: its own block, or so many lines where they are wide.
LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES = 1 << 20, 1 << 28
LINES_PER_BLOCK = 64
# Columns from which on their number is what takes time.
WIDE_COLUMNS = 5_000
# What a number takes in memory, and how much text is looked at to count the numbers in a file.
VALUE_BYTES, SAMPLED_BYTES = 8, 1 << 20
_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")

Content = Path | bytes
"""A file, or the bytes that came through a pipe."""


def read_table(path: str | os.PathLike[str], form: str | None = None) -> Any:
    r"""Read a file into a pyarrow table; the ending of its name says how, unless `form` does.

    In CSV and tab-separated files the first line names the columns, and empty fields and the
    usual marks (NA, NaN, null, …) are missing values. A first column without a name, which is
    how pandas and R write row labels, is left out with a warning; results tell of it.

    Parameters
    ----------
    path : str or path
        A file ending in .csv, .csv.gz, .tsv, .tsv.gz, .txt (tab-separated), .parquet, .pq,
        .feather, .arrow, .ipc or .h5ad, in upper or lower case; or a named pipe.
    form : {"csv", "tsv", "parquet", "feather", "h5ad"} or None
        The format, whatever the name ends in.

    Returns
    -------
    pyarrow.Table, or AnnData for .h5ad
        As `read_samples` and `read_groups` take it.

    Raises
    ------
    InputError
        One line that names the file and says what is wrong with it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("age,sex\n31,f\n47,m\n")
    ...     read_table(path).to_pydict()
    {'age': [31, 47], 'sex': ['f', 'm']}
    """
    file = Path(path)
    reader = READERS[form_of(file) if form is None else check_choice("form", form, READERS)]
    _check_readable(file)
    # What is no regular file cannot be read twice or from its end: take all of it first. And
    # Arrow opens no file whose name is not UTF-8.
    by_name = file.is_file() and not _SURROGATE.search(str(file))
    return _read(safe(file), reader, file if by_name else file.read_bytes())


def bytes_in_memory(path: str | os.PathLike[str], form: str | None = None) -> int:
    """Return about how many bytes the table of a file takes as numbers, without reading it all.

    Eight bytes a value, or what the file takes uncompressed where that is more: a Parquet file of
    repeated values may be a hundredth of that. Rows of text are estimated from the first megabyte.
    What cannot be read, or only as a whole, counts as nothing: the error comes when it is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.parquet")
    ...     parquet.write_table(pa.table({"flag": [0, 1] * 5_000}), path)
    ...     path.stat().st_size < 10_000, bytes_in_memory(path)
    (True, 80000)
    """
    file = Path(path)
    size = file.stat().st_size
    try:
        form = form_of(file) if form is None else form
        if form == "parquet":
            with file.open("rb") as stream:
                found = parquet.read_metadata(stream)
            groups = (found.row_group(k).total_byte_size for k in range(found.num_row_groups))
            return int(max(VALUE_BYTES * found.num_rows * found.num_columns, sum(groups)))
        if form == "feather":
            # Arrow's datasets take half a second to load: only those who need one wait for it.
            from pyarrow import dataset

            opened = dataset.dataset(str(file), format="feather")
            return int(max(VALUE_BYTES * opened.count_rows() * len(opened.schema), size))
        if form in DELIMITERS:
            return _delimited_bytes(file, size, DELIMITERS[form])
    except (pa.ArrowException, OSError, ValueError, EOFError):
        pass
    return 0


def _delimited_bytes(file: Path, size: int, delimiter: str) -> int:
    """Return the bytes of delimited text as numbers: as many values a byte as in its beginning."""
    with file.open("rb") as raw:
        compressed = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        raw.seek(0)
        stream: Any = gzip.GzipFile(fileobj=raw) if compressed else raw
        text = block = stream.read(SAMPLED_BYTES)
        length: float = len(text)
        # Text compresses as it does in its first blocks.
        while compressed and block and raw.tell() < SAMPLED_BYTES and length < MOST_BLOCK_BYTES:
            block = stream.read(SAMPLED_BYTES)
            length += len(block)
        if len(block) == SAMPLED_BYTES:
            length *= max(size / raw.tell(), 1.0)
    values = text.count(delimiter.encode()) + text.count(b"\n")
    return int(max(VALUE_BYTES * values * length / max(len(text), 1), length))


def read_stream(stream: BinaryIO, form: str = "csv", title: str = "standard input") -> Any:
    r"""Read a table from an open binary stream, to its end; as `read_table` for the rest.

    Examples
    --------
    >>> import io
    >>> read_stream(io.BytesIO(b"age\n31\n47\n")).to_pydict()
    {'age': [31, 47]}
    """
    reader = READERS[check_choice("form", form, READERS)]
    content = stream.read()
    if not content:
        raise InputError(f"{title}: expected a table; got nothing")
    return _read(title, reader, content)


def _read(title: str, reader: Callable[[Content], Any], content: Content) -> Any:
    try:
        table = reader(content)
    except UnicodeDecodeError:
        raise InputError(
            f"{title}: the column names are not UTF-8; save the file as UTF-8"
        ) from None
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        reason = " ".join(safe(error).split())  # Arrow quotes the line it could not read
        raise InputError(f"{title}: the file cannot be read: {reason}") from None
    return without_row_labels(title, table) if isinstance(table, pa.Table) else table


def _read_commas(content: Content) -> pa.Table:
    return _read_delimited(content, DELIMITERS["csv"])


def _read_tabs(content: Content) -> pa.Table:
    return _read_delimited(content, DELIMITERS["tsv"])


def _read_delimited(content: Content, delimiter: str) -> pa.Table:
    if isinstance(content, bytes) and content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    block = _block_bytes(content)
    decimals = _decimals(content, delimiter)

    def read(types: dict[str, Any]) -> pa.Table:
        return csv.read_csv(
            pa.BufferReader(content) if isinstance(content, bytes) else content,
            # Of very many columns, handing each to a thread takes longer than reading it.
            read_options=csv.ReadOptions(block_size=block, use_threads=not decimals),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, column_types=types),
        )

    try:
        table = read(dict.fromkeys(decimals, pa.float64()))
    except pa.ArrowInvalid:
        # Something else comes further below: Arrow finds out what, or says what is wrong.
        table = read({})
    check_delimited(table.schema, delimiter)
    return table


def _block_bytes(content: Content) -> int:
    """Return how much text Arrow is to read at a time: many lines, however wide they are.

    It makes an array of every column of every block: a few lines at a time of a hundred thousand
    columns would be millions of them.
    """
    line = _beginning(content, 1).find(b"\n")
    if line < 0:
        return MOST_BLOCK_BYTES
    return min(max(LINES_PER_BLOCK * line, LEAST_BLOCK_BYTES), MOST_BLOCK_BYTES)


def _beginning(content: Content, n_lines: int) -> bytes:
    """Return the text up to some block that ends after so many lines, or all that Arrow takes."""
    if isinstance(content, bytes):
        return content[:MOST_BLOCK_BYTES]
    text = b""
    with pa.input_stream(str(content)) as stream:
        while text.count(b"\n") < n_lines and len(text) < MOST_BLOCK_BYTES:
            more = stream.read(max(len(text), LEAST_BLOCK_BYTES))
            if not more:
                break
            text += more
    return text


def _decimals(content: Content, delimiter: str) -> list[str]:
    """Return the columns of a very wide table that begin with a decimal number, such as 0.5.

    Arrow tries one type after the other for every column, which takes longer than to read it. A
    column whose first value is a decimal number holds such numbers, or it is read again.
    """
    text = _beginning(content, 2)
    if text.count(delimiter.encode(), 0, text.find(b"\n")) < WIDE_COLUMNS:
        return []
    lines = text.decode(errors="replace").splitlines()
    header, *rows = text_lines.reader(lines[:2], delimiter=delimiter)
    if not rows or len(rows[0]) != len(header) or len(set(header)) < len(header):
        return []
    return [name for name, value in zip(header, rows[0], strict=True) if _DECIMAL.fullmatch(value)]


def check_delimited(schema: pa.Schema, delimiter: str) -> None:
    """Raise if delimited text is in another encoding, or has another delimiter."""
    for column in schema:
        # Text that Arrow cannot decode it hands out as bytes.
        if pa.types.is_binary(column.type):
            raise InputError(f"column {column.name!r} is not UTF-8 text; save the file as UTF-8")
    only = schema.names[0]
    others = [mark for mark in ",;\t|" if mark != delimiter and mark in only]
    if len(schema) == 1 and pa.types.is_string(schema.types[0]) and others:
        raise InputError(
            f"expected columns separated by {delimiter!r}; got a single column {only!r}, "
            f"which looks separated by {others[0]!r}"
        )


def _read_parquet(content: Content) -> pa.Table:
    # Opened here, because given a name Arrow would read "a=b" in its folders as a column.
    with _open(content) as stream:
        return parquet.read_table(stream)


def _read_arrow(content: Content) -> pa.Table:
    """Read an Arrow file, or a stream saved under the same ending."""
    try:
        if isinstance(content, bytes):
            return feather.read_table(pa.BufferReader(content))
        return feather.read_table(content)
    except pa.ArrowInvalid as error:
        try:
            with _open(content) as stream:
                return ipc.open_stream(stream).read_all()
        except (pa.ArrowInvalid, OSError):
            raise error from None


def _read_annotated(content: Content) -> Any:
    if isinstance(content, bytes):
        raise InputError("AnnData is read from a file, not from a pipe")
    try:
        anndata = import_module("anndata")
    except ImportError as cause:
        raise MissingDependencyError(
            f'{safe(content)}: reading it needs anndata; run: pip install "tellapart[anndata]"'
        ) from cause
    try_hdf(content)
    try:
        return anndata.read_h5ad(content)
    except Exception as error:  # it has errors of its own, and passes on those of HDF5
        raise ValueError(str(error)) from error


def _open(content: Content) -> Any:
    return pa.BufferReader(content) if isinstance(content, bytes) else content.open("rb")


DELIMITERS = {"csv": ",", "tsv": "\t"}
READERS: dict[str, Callable[[Content], Any]] = {
    "csv": _read_commas,
    "tsv": _read_tabs,
    "parquet": _read_parquet,
    "feather": _read_arrow,
    "h5ad": _read_annotated,
}
ENDINGS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".txt": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".h5ad": "h5ad",
}


def form_of(file: Path) -> str:
    """Return the format that the ending of a file's name says."""
    name = file.name.lower()
    for ending, form in ENDINGS.items():
        if name.endswith(ending):
            return form
    raise InputError(
        f"{safe(file)}: the file name must end in one of {', '.join(ENDINGS)}, "
        "or its format be given"
    )


def _check_readable(file: Path) -> None:
    title = safe(file)
    if file.is_dir():
        raise InputError(f"{title}: expected a file; got a folder")
    try:
        found = file.stat()
    except FileNotFoundError:
        raise InputError(f"{title}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{title}: the file cannot be read: {error.strerror}") from None
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
        # A device may have no end, and nothing to say of how much there is.
        raise InputError(f"{title}: expected a file or a pipe; got a device or a socket")
    if found.st_size == 0 and stat.S_ISREG(found.st_mode):
        raise InputError(f"{title}: the file is empty")
