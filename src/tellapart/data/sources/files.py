"""Tables from files and streams, and files that together hold one sample, opened only.

CSV, tab-separated text, Parquet, Feather, Arrow and AnnData.
"""

from __future__ import annotations

import csv as text_lines
import glob
import gzip
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tellapart.arguments import check_choice
from tellapart.budget import current_budget
from tellapart.data.column_notes import row_labels, warn_of_row_labels, without_row_labels
from tellapart.data.columns import is_arrow_number
from tellapart.data.sources.anndata import read_h5ad
from tellapart.data.sources.dataset import FileDataset, one_line
from tellapart.data.sources.source import distinct
from tellapart.errors import InputError, MissingDependencyError
from tellapart.optional import Later, arrow_errors, is_arrow, load_arrow, pa
from tellapart.text import quoted, safe

if TYPE_CHECKING:
    from pyarrow import csv, feather, ipc, parquet
else:
    csv, feather, ipc, parquet = (
        Later(f"pyarrow.{name}", load_arrow) for name in ("csv", "feather", "ipc", "parquet")
    )

_SURROGATE = re.compile("[\ud800-\udfff]")
GZIP_MAGIC = b"\x1f\x8b"
# What Arrow reads of delimited text at a time: its own block, or so many lines where they are wide.
LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES = 1 << 20, 1 << 28
LINES_PER_BLOCK = 64
# What a number takes in memory, and how much text is looked at to count the numbers in a file.
VALUE_BYTES, SAMPLED_BYTES = 8, 1 << 20
_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")

Content = Path | bytes
"""A file, or the bytes that came through a pipe."""


def read_table(path: str | os.PathLike[str], form: str | None = None) -> Any:
    r"""Read a file into a pyarrow table; the ending of its name says how, unless `form` does.

    In CSV and tab-separated files the first line names the columns, and empty fields and the
    usual marks (NA, NaN, null, …) are missing values. A first column without a name, which is
    how pandas and R write row labels, is left out with a warning; results report it.

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
    _check_arrow(safe(file), reader)
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
                metadata = parquet.read_metadata(stream)
            groups = (metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
            return int(max(VALUE_BYTES * metadata.num_rows * metadata.num_columns, sum(groups)))
        if form == "feather":
            opened = _arrow_datasets().dataset(str(file), format="feather")
            return int(max(VALUE_BYTES * opened.count_rows() * len(opened.schema), size))
        if form in DELIMITERS:
            return _delimited_bytes(file, size, DELIMITERS[form])
    except arrow_errors(MissingDependencyError, OSError, ValueError, EOFError):
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
    _check_arrow(title, reader)
    return _read(title, reader, content)


def _check_arrow(title: str, reader: Callable[[Content], Any]) -> None:
    """Raise the error that says what to install, where reading needs pyarrow and it is absent."""
    if reader is not read_h5ad:
        load_arrow(subject=f"{title}: reading it")


def _read(title: str, reader: Callable[[Content], Any], content: Content) -> Any:
    try:
        table = reader(content)
    except UnicodeDecodeError:
        raise InputError(
            f"{title}: the column names are not UTF-8; save the file as UTF-8"
        ) from None
    except arrow_errors(OSError, ValueError, EOFError) as error:
        reason = " ".join(safe(error).split())  # Arrow quotes the line it could not read
        raise InputError(f"{title}: the file cannot be read: {reason}") from None
    return without_row_labels(title, table) if is_arrow(table, "Table") else table


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
    if text.count(delimiter.encode(), 0, text.find(b"\n")) < current_budget().wide_text_columns:
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
    return read_h5ad(content)


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
        status = file.stat()
    except FileNotFoundError:
        raise InputError(f"{title}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{title}: the file cannot be read: {error.strerror}") from None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
        # A device may have no end, and nothing to say of how much there is.
        raise InputError(f"{title}: expected a file or a pipe; got a device or a socket")
    if status.st_size == 0 and stat.S_ISREG(status.st_mode):
        raise InputError(f"{title}: the file is empty")


# Files that together hold one sample, opened without reading them.
#
# Links to folders are not followed below a folder or by `**`: in a file system that describes
# itself (`/proc`) they lead round in circles, and a call on "/" would never end.


WILD = "*?["
ANY_FOLDERS = "**"
# Files that programs leave beside the data begin so; pyarrow passes over them, too.
HIDDEN = ("_", ".")


def is_pattern(path: str) -> bool:
    """Say whether a path is a pattern for several files, and not the name of one."""
    return any(mark in path for mark in WILD) and not os.path.exists(path)


def files_in(folder: str) -> list[str]:
    """Return the files below a folder, sorted; hidden ones and hidden folders are passed over."""
    return sorted(os.path.join(folder, *names) for names in _below(folder, HIDDEN, folder))


def files_matching(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted; `**` stands for any folders, or none.

    >>> _matches(["**", "*.csv"], ["2024", "may", "a.csv"]), _matches(["*.csv"], [".a.csv"])
    (True, False)
    """
    every = Path(pattern).parts
    # Any folders below any folders are any folders: said once, there are fewer ways to match.
    parts = [
        part
        for k, part in enumerate(every)
        if part != ANY_FOLDERS or every[max(k - 1, 0) : k] != (ANY_FOLDERS,)
    ]
    if ANY_FOLDERS not in parts:
        most = current_budget().walked_files
        matched = list(islice(glob.iglob(pattern), most + 1))
        if len(matched) > most:
            raise _too_many(pattern)
    else:
        fixed = next(k for k, part in enumerate(parts) if any(mark in part for mark in WILD))
        base = os.path.join(*parts[:fixed]) if fixed else ""
        if not os.path.isdir(base or "."):
            return []
        matched = [
            os.path.join(base, *names)
            for names in _below(base or ".", (), pattern)
            if _matches(parts[fixed:], names)
        ]
    return sorted(file for file in matched if os.path.isfile(file))


def _below(folder: str, hidden: tuple[str, ...], pattern: str) -> Iterator[list[str]]:
    """Yield the files below a folder as the names that lead to them."""
    met = 0
    for root, folders, files in os.walk(folder):
        met += len(folders) + len(files)
        if met > current_budget().walked_files:
            raise _too_many(pattern)
        folders[:] = [name for name in folders if not name.startswith(hidden)]
        way = [] if root == folder else os.path.relpath(root, folder).split(os.sep)
        for name in files:
            if not name.startswith(hidden) and os.path.isfile(os.path.join(root, name)):
                yield [*way, name]


def _matches(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Say whether names, one for each folder and the last for the file, are as a pattern says."""
    if not parts or not names:
        return not names and all(part == ANY_FOLDERS for part in parts)
    first, rest = names[0], names[1:]
    # As in a shell, a leading dot has to be asked for.
    seen = parts[0].startswith(".") or not first.startswith(".")
    if parts[0] == ANY_FOLDERS:
        return _matches(parts[1:], names) or (seen and _matches(parts, rest))
    return seen and fnmatch(first, parts[0]) and _matches(parts[1:], rest)


def _too_many(path: str) -> InputError:
    return InputError(
        f"{safe(path)}: expected a folder or a pattern of data files; got one with more than "
        f"{current_budget().walked_files:,} files and folders to look through"
    )


FORMS = ("csv", "tsv", "parquet", "feather")


def open_dataset(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    form: str | None = None,
) -> FileDataset:
    r"""Open files that together hold one sample, however large, without reading them.

    A test of it goes through the files block by block: memory is that of a few blocks. It
    needs pyarrow, the extra `files`.

    Parameters
    ----------
    paths : path, or several
        A file, a folder (with the folders in it), a pattern such as `"2024-*.parquet"`, or a list
        of them. Files end in .parquet, .pq, .feather, .arrow, .ipc, .csv, .csv.gz, .tsv, .tsv.gz
        or .txt (tab-separated), all in one format. Rows are in the order of the files: as given,
        in a folder or a pattern by name.
    columns : sequence of str or None
        The columns to compare; None for all.
    drop : sequence of str
        Columns to leave out.
    form : {"csv", "tsv", "parquet", "feather"} or None
        The format, whatever the names end in.

    Returns
    -------
    FileDataset
        To be passed as X or Y to `tellapart.two_sample_test`.

    Raises
    ------
    InputError
        One line that names the file and says what is wrong with it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("id,age\n1,31\n2,47\n")
    >>> _ = (folder / "b.csv").write_text("id,age\n3,52\n")
    >>> open_dataset(folder, drop=["id"])
    <FileDataset of 2 files, 1 columns>
    """
    files = _files(paths)
    if form is not None:
        check_choice("form", form, FORMS)
    forms = {file: form or form_of(Path(file)) for file in files}
    form = forms[files[0]]
    other = next((file for file in files if forms[file] != form), None)
    if other is not None:
        raise InputError(
            f"{safe(other)}: all files must be of one format; got {forms[other]} beside "
            f"{form}, as {safe(files[0])}"
        )
    if form not in FORMS:
        raise InputError(f"{safe(files[0])}: a dataset must be of {', '.join(FORMS)}; got {form}")
    load_arrow(subject=f"{safe(files[0])}: reading it")
    dataset = _opened(files, form)
    return FileDataset(dataset, _chosen(safe(files[0]), dataset.schema.names, columns, drop))


def _files(paths: Any) -> list[str]:
    """Return the files that are meant."""
    every = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not every:
        raise InputError("paths must name at least one file; got an empty list")
    files: list[str] = []
    for path in every:
        text = os.fspath(path)
        if not isinstance(text, str):
            raise InputError(f"paths must be str or path; got {path!r}")
        if os.path.isdir(text):
            matched = files_in(text)
        elif is_pattern(text):
            matched = files_matching(text)
        else:
            matched = [text]
            if not os.path.exists(text):
                raise InputError(f"{safe(text)}: there is no such file")
        if not matched:
            raise InputError(f"{safe(text)}: no file of {', '.join(FORMS)} matches")
        files.extend(matched)
    for file in files:
        if os.path.getsize(file) == 0:
            raise InputError(f"{safe(file)}: the file is empty")
    return files


def _arrow_datasets() -> Any:
    """Return the module, which takes half a second to load: only those who need it wait."""
    return import_module("pyarrow.dataset")


def _format(form: str) -> Any:
    ds = _arrow_datasets()
    if form in DELIMITERS:
        return ds.CsvFileFormat(
            parse_options=csv.ParseOptions(delimiter=DELIMITERS[form], newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True),
        )
    return ds.ParquetFileFormat() if form == "parquet" else ds.IpcFileFormat()


def _opened(files: list[str], form: str) -> Any:
    """Return the dataset, with a type for every column that holds what all the files have."""
    kind = _format(form)
    schema = _schema(files[0], kind, form)
    for file in files[1:]:
        here = _schema(file, kind, form)
        _check_names(file, here.names, files[0], schema.names, form)
        for place, column in enumerate(schema):
            common = _common_type(file, column, here.field(column.name).type, form)
            schema = schema.set(place, pa.field(column.name, common))
    return _arrow_datasets().dataset(files, format=kind, schema=schema)


def _schema(file: str, kind: Any, form: str) -> pa.Schema:
    title = safe(file)
    try:
        schema = _arrow_datasets().dataset(file, format=kind).schema
        if form in DELIMITERS:
            check_delimited(schema, DELIMITERS[form])
    except UnicodeDecodeError:
        raise InputError(f"{title}: the column names are not UTF-8") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{title}: the file cannot be read: {one_line(error)}") from None
    distinct(title, tuple(schema.names))
    if form not in DELIMITERS:
        return pa.schema(list(schema))
    # Whole numbers in the first rows may well have fractions further on.
    return pa.schema([pa.field(c.name, _with_fractions(c.type)) for c in schema])


def _with_fractions(kind: Any) -> Any:
    return pa.float64() if pa.types.is_integer(kind) else kind


def _check_names(file: str, here: list[str], first: str, names: list[str], form: str) -> None:
    title = safe(file)
    parts = [
        f"{words}: {quoted(extra)}"
        for words, extra in (
            ("missing", [name for name in names if name not in set(here)]),
            ("beyond them", [name for name in here if name not in set(names)]),
        )
        if extra
    ]
    if parts:
        raise InputError(
            f"{title}: must have the same columns as {safe(first)}; got {'; '.join(parts)}"
        )
    if form in DELIMITERS and here != names:
        raise InputError(f"{title}: must have the columns in the same order as {safe(first)}")


def _common_type(file: str, column: Any, here: Any, form: str) -> Any:
    """Return the type of a column that holds the values of both."""
    known_type = column.type
    if here == known_type or pa.types.is_null(here):
        return known_type
    if pa.types.is_null(known_type):
        return here
    if is_arrow_number(here) and is_arrow_number(known_type):
        return pa.float64()
    if form in DELIMITERS:
        return pa.string()
    raise InputError(
        f"{safe(file)}: column {column.name!r} must be of one type in all files; "
        f"got {here} beside {known_type}"
    )


def _chosen(
    title: str, every: list[str], columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the columns to compare."""
    for argument, given in (("columns", columns), ("drop", drop)):
        if isinstance(given, str):
            raise InputError(f"{argument} must be a sequence of names; got {given!r}")
        unknown = [name for name in given or () if name not in set(every)]
        if unknown:
            raise InputError(
                f"{argument} must name columns of {title}; it has none called {quoted(unknown)}"
            )
    if columns is None:
        labels = row_labels([name for name in every if name not in set(drop)])
        warn_of_row_labels(title, labels)
        columns = [name for name in every if name not in set(labels)]
    chosen = tuple(name for name in columns if name not in set(drop))
    if not chosen:
        raise InputError(f"{title} must have at least one column that is not dropped")
    return distinct("columns", chosen)
