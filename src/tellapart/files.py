"""Tables from files: CSV, tab-separated text, Parquet, Feather and Arrow."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, feather, ipc, parquet

from tellapart.errors import InputError

# How pandas names a row index that it writes into a Parquet or Feather file.
PANDAS_INDEX = "__index_level_"


def read_table(path: str | os.PathLike[str]) -> pa.Table:
    r"""Read a file into a pyarrow table; the ending of its name says how.

    In CSV and tab-separated files the first line names the columns, and empty fields and the
    usual marks (NA, NaN, null, …) are missing values. A first column without a name, which is
    how pandas and R write row labels, is left out with a warning.

    Parameters
    ----------
    path : str or path
        A file ending in .csv, .csv.gz, .tsv, .tsv.gz, .txt (tab-separated), .parquet, .pq,
        .feather, .arrow or .ipc, in upper or lower case.

    Returns
    -------
    pyarrow.Table
        The table, as `read_samples` and `read_groups` take it.

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
    reader = _find_reader(file)
    _check_readable(file)
    try:
        table = reader(file)
    except UnicodeDecodeError:
        raise InputError(
            f"{file}: the column names are not UTF-8; save the file as UTF-8"
        ) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{file}: the file cannot be read: {reason}") from None
    return _without_row_labels(file, table)


def _read_commas(file: Path) -> pa.Table:
    return _read_delimited(file, ",")


def _read_tabs(file: Path) -> pa.Table:
    return _read_delimited(file, "\t")


def _read_delimited(file: Path, delimiter: str) -> pa.Table:
    table = csv.read_csv(
        file,
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(strings_can_be_null=True),
    )
    for column in table.schema:
        # Text that Arrow cannot decode it hands out as bytes.
        if pa.types.is_binary(column.type):
            raise InputError(f"column {column.name!r} is not UTF-8 text; save the file as UTF-8")
    only = table.column_names[0]
    others = [mark for mark in ",;\t|" if mark != delimiter and mark in only]
    if table.num_columns == 1 and pa.types.is_string(table.schema.types[0]) and others:
        raise InputError(
            f"expected columns separated by {delimiter!r}; got a single column {only!r}, "
            f"which looks separated by {others[0]!r}"
        )
    return table


def _read_parquet(file: Path) -> pa.Table:
    # Opened here, because given a name Arrow would read "a=b" in its folders as a column.
    with file.open("rb") as stream:
        return parquet.read_table(stream)


def _read_arrow(file: Path) -> pa.Table:
    """Read an Arrow file, or a stream saved under the same ending."""
    try:
        return feather.read_table(file)
    except pa.ArrowInvalid as error:
        try:
            with file.open("rb") as stream:
                return ipc.open_stream(stream).read_all()
        except (pa.ArrowInvalid, OSError):
            raise error from None


READERS: dict[str, Callable[[Path], pa.Table]] = {
    ".csv": _read_commas,
    ".csv.gz": _read_commas,
    ".tsv": _read_tabs,
    ".tsv.gz": _read_tabs,
    ".txt": _read_tabs,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".feather": _read_arrow,
    ".arrow": _read_arrow,
    ".ipc": _read_arrow,
}


def _find_reader(file: Path) -> Callable[[Path], pa.Table]:
    name = file.name.lower()
    for ending, reader in READERS.items():
        if name.endswith(ending):
            return reader
    raise InputError(f"{file}: the file name must end in one of {', '.join(READERS)}")


def _check_readable(file: Path) -> None:
    if file.is_dir():
        raise InputError(f"{file}: expected a file; got a folder")
    try:
        size = file.stat().st_size
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{file}: the file cannot be read: {error.strerror}") from None
    if size == 0:
        raise InputError(f"{file}: the file is empty")


def _without_row_labels(file: Path, table: pa.Table) -> pa.Table:
    """Leave out saved row labels: they would tell any two files apart, and mean nothing."""
    names = table.column_names
    labels = [
        place
        for place, name in enumerate(names)
        if (place == 0 and not name.strip()) or name.startswith(PANDAS_INDEX)
    ]
    if not labels:
        return table
    warnings.warn(
        f"{file}: column {', '.join(repr(names[place]) for place in labels)} is taken for "
        "row labels and left out",
        stacklevel=3,
    )
    return table.select([place for place in range(len(names)) if place not in labels])
