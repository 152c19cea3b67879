"""Files that together hold one sample, opened without reading them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, parquet
from pyarrow import dataset as ds

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.data.column_notes import row_labels, warn_of_row_labels
from tellapart.data.columns import is_arrow_number
from tellapart.data.grouping import REST, UNLABELLED, check_labelled, pick_pair, read_grouped
from tellapart.data.reading import ColumnKind, Labels, Reading, kind_of
from tellapart.data.row_stores import A, Cut, Fold, RowsDone, RowStore, fold_stream
from tellapart.data.sources.files import DELIMITERS, check_delimited, form_of
from tellapart.data.sources.source import distinct
from tellapart.data.sources.table import quoted
from tellapart.data.summary import ChunkSource, Summary, Survey
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts
from tellapart.text import safe

# Rows of files, streamed once per sum: Parquet, Feather and delimited text by pyarrow.dataset.


# Record batches of files, in the order of their rows, with as little read ahead as will do.


# What Arrow decodes at a time, in bytes of float64 and in rows, and how far it may read ahead.
BATCH_BYTES = 1 << 23
FEWEST_ROWS, MOST_ROWS = 1 << 10, 1 << 17
BATCHES_AHEAD, FILES_AHEAD = 4, 1
# What is read of a Parquet file at a time: for all columns together, and for one.
BUFFER_BYTES = 1 << 24
LEAST_BUFFER, MOST_BUFFER = 1 << 14, 1 << 18

FAILURES = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What Arrow raises where a file cannot be read."""


class RowsWhere(NamedTuple):
    """The rows with some values of a column."""

    column: str
    values: pa.Array


def batches(
    dataset: Any, names: Sequence[str], *, whole: bool, where: RowsWhere | None = None
) -> Iterator[Any]:
    """Give out batches that hold some columns, in their order.

    `whole` says that a dataset is all rows of its files and nothing but the columns in them; of
    those, the rows that `where` names are read.
    """
    rows = min(max(BATCH_BYTES // (8 * len(names)), FEWEST_ROWS), MOST_ROWS)
    if whole and isinstance(dataset.format, ds.ParquetFileFormat):
        found = _of_parquet(dataset, names, rows, where)
    else:
        found = dataset.scanner(
            columns=list(names),
            batch_size=rows,
            batch_readahead=BATCHES_AHEAD,
            fragment_readahead=FILES_AHEAD,
            filter=None if where is None else ds.field(where.column).isin(where.values),
        ).to_batches()
    return (batch for batch in found if batch.num_rows)


def _of_parquet(
    dataset: Any, names: Sequence[str], rows: int, where: RowsWhere | None
) -> Iterator[Any]:
    """Read Parquet files page by page; the scanner of a dataset holds whole groups of rows."""
    buffer = min(max(BUFFER_BYTES // len(names), LEAST_BUFFER), MOST_BUFFER)
    columns = dict.fromkeys(names if where is None else (*names, where.column))
    for path in dataset.files:
        try:
            with (
                dataset.filesystem.open_input_file(path) as stream,
                parquet.ParquetFile(stream, buffer_size=buffer, pre_buffer=False) as file,
            ):
                for batch in file.iter_batches(rows, columns=list(columns)):
                    if where is not None:
                        marked = compute.is_in(batch[where.column], value_set=where.values)
                        batch = batch.filter(marked)
                    yield batch.select(list(names))
        except FAILURES as error:
            raise InputError(f"{safe(path)}: the file cannot be read: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    """Return what Arrow says, which may quote several lines of a file."""
    return " ".join(safe(error).split())


# One step ahead: a thread that reads the next item while the present one is worked on.


T = TypeVar("T")

# How long the thread waits before it looks whether anyone still wants what it has read.
_LOOK_SECONDS = 0.1


def ahead(items: Iterable[T], depth: int = 1) -> Generator[T]:
    """Give out the items in order, `depth` of them waiting; an error comes out in its turn.

    Examples
    --------
    >>> list(ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    waiting: Queue[tuple[T | None, BaseException | None]] = Queue(depth)
    closed = Event()

    def put(item: T | None, error: BaseException | None = None) -> None:
        while not closed.is_set():
            try:
                return waiting.put((item, error), timeout=_LOOK_SECONDS)
            except Full:
                continue
        return None

    def read() -> None:
        try:
            for item in items:
                put(item)
                if closed.is_set():
                    return
        except BaseException as error:  # whatever it is, the caller is told
            put(None, error)
        else:
            put(None, StopIteration())

    reader = Thread(target=read, name="tellapart-ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        closed.set()
        while not waiting.empty():
            try:
                waiting.get_nowait()
            except Empty:
                break
        reader.join()


_CSV_COLUMN = re.compile(r"CSV column #(\d+)")


class FileSource(ChunkSource):
    """A sample in files, or any other dataset of pyarrow.

    Parameters
    ----------
    title : str
        What messages call the sample.
    dataset : pyarrow.dataset.Dataset
        Where the rows are.
    names : tuple of str or None
        The columns to read; None for all of them.
    whole : bool
        Whether the dataset is all rows of its files and nothing but the columns in them.
    where : RowsWhere or None
        The rows to read; None for all of them.
    """

    waits = True

    def __init__(
        self,
        title: str,
        dataset: Any,
        names: tuple[str, ...] | None = None,
        *,
        whole: bool = False,
        where: RowsWhere | None = None,
    ) -> None:
        self.title = title
        self.dataset = dataset
        self.whole = whole
        self.where = where
        self.names: tuple[str, ...] = (
            distinct(title, tuple(dataset.schema.names)) if names is None else names
        )
        self.n_columns = len(self.names)

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say."""
        schema = self.dataset.schema
        delimited = isinstance(getattr(self.dataset, "format", None), ds.CsvFileFormat)
        return tuple(kind_of(schema.field(name).type, delimited=delimited) for name in self.names)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds; types that Arrow guessed too narrow are widened."""
        while True:
            try:
                return self._survey(survey, progress)
            except pa.ArrowInvalid as error:
                self.dataset = _widened(self.title, self.dataset, error)
            except FAILURES as error:
                raise _unreadable(self.title, error) from None

    def _survey(self, survey: Survey, progress: RowsDone | None) -> Summary:
        columns, reading = self._projected(survey.reading)
        survey = replace(survey, reading=reading)
        held = survey.start()
        found = batches(self.dataset, columns, whole=self.whole, where=self.where)
        with closing(ahead(found)) as waiting:
            for batch in waiting:
                check_interrupts()
                held = survey.add(held, held.n_rows, batch)
                if progress is not None:
                    progress(held.n_rows)
        return held

    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as numbers, to be read again for every sum."""
        columns, own = self._projected(reading)
        return FileRows(self.dataset, columns, own, labels, n_rows, self.whole, self.where)

    def _projected(self, reading: Reading) -> tuple[tuple[str, ...], Reading]:
        """Return the columns to read of files, and how to read batches that hold only them."""
        places = list(dict.fromkeys(reading.places))
        columns = tuple(self.names[place] for place in places)
        at = {place: k for k, place in enumerate(places)}
        return columns, replace(reading, places=tuple(at[place] for place in reading.places))


@dataclass(frozen=True, eq=False)
class FileRows(RowStore):
    """Rows of files: read again for every sum, and never more than a few blocks of them held."""

    dataset: Any
    columns: tuple[str, ...]
    reading: Reading
    labels: Labels
    n_rows: int
    whole: bool
    where: RowsWhere | None = None

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.n_rows, len(self.labels)

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over all rows: see `tellapart.data.row_stores`."""
        cut = Cut(self.n_rows, step)
        try:
            with closing(ahead(self._blocks(cut))) as blocks:
                return fold_stream(fold, blocks, cut, progress)
        except FAILURES as error:
            raise _unreadable(self.reading.title, error) from None

    def _blocks(self, cut: Cut) -> Iterator[FloatArray]:
        """Give out the blocks: batches as they come, cut and joined by row number."""
        block, filled, done = self._empty(cut, 0), 0, 0
        for batch in batches(self.dataset, self.columns, whole=self.whole, where=self.where):
            columns = self.reading.open(batch).numbers(self.labels)
            taken, n_rows = 0, columns[0].size
            if done + n_rows > self.n_rows:
                raise _changed(self.reading.title, self.n_rows)
            while taken < n_rows:
                count = min(n_rows - taken, block.shape[0] - filled)
                for s, column in enumerate(columns):
                    block[filled : filled + count, s] = column[taken : taken + count]
                taken, filled, done = taken + count, filled + count, done + count
                if filled == block.shape[0]:
                    yield block
                    block, filled = self._empty(cut, done), 0
        if done < self.n_rows:
            raise _changed(self.reading.title, self.n_rows)

    def _empty(self, cut: Cut, first_row: int) -> FloatArray:
        return np.empty((min(cut.step, self.n_rows - first_row), self.shape[1]), order="F")


def _unreadable(title: str, error: BaseException) -> InputError:
    """Return the error for files that Arrow cannot read; it names the file where it can."""
    return InputError(f"{title}: the files cannot be read: {one_line(error)}")


def _changed(title: str, n_rows: int) -> InputError:
    return InputError(
        f"{title}: the files were changed while they were read: there were {n_rows} rows"
    )


def _widened(title: str, dataset: Any, error: pa.ArrowInvalid) -> Any:
    """Return delimited files with a wider type for the column that could not be converted.

    Arrow guesses a type from the first megabyte: numbers may turn out to be text later on.
    """
    found = _CSV_COLUMN.search(str(error))
    is_text = isinstance(getattr(dataset, "format", None), ds.CsvFileFormat)
    if found is None or not is_text or _has_partitions(dataset):
        raise _unreadable(title, error) from None
    column = dataset.schema.field(int(found[1]))
    wider = _wider(column.type)
    if wider is None:
        raise _unreadable(title, error) from None
    schema = dataset.schema.set(int(found[1]), pa.field(column.name, wider))
    # Arrow itself replaces a type only by one that it can be cast to.
    return ds.dataset(
        dataset.files, schema=schema, format=dataset.format, filesystem=dataset.filesystem
    )


def _has_partitions(dataset: Any) -> bool:
    """Say whether names of folders stand for columns: such a dataset cannot be opened again."""
    return dataset.partitioning is not None and len(dataset.partitioning.schema) > 0


def _wider(kind: Any) -> Any:
    """Return the next type that Arrow itself would try for delimited text, or None."""
    if pa.types.is_null(kind) or pa.types.is_integer(kind):
        return pa.float64()
    if pa.types.is_floating(kind):
        return pa.bool_()
    return None if pa.types.is_string(kind) else pa.string()


# --- what the module is for


# The files in a folder, or that a pattern matches: found in a bounded walk.
#
# Links to folders are not followed below a folder or by `**`: in a file system that describes
# itself (`/proc`) they lead round in circles, and a call on "/" would never end.


WILD = "*?["
ANY_FOLDERS = "**"
# Files that programs leave beside the data begin so; pyarrow passes over them, too.
HIDDEN = ("_", ".")
MOST_MET = 100_000
"""Files and folders met before a walk is given up: nobody means so many."""


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
        found = list(islice(glob.iglob(pattern), MOST_MET + 1))
        if len(found) > MOST_MET:
            raise _too_many(pattern)
    else:
        known = next(k for k, part in enumerate(parts) if any(mark in part for mark in WILD))
        base = os.path.join(*parts[:known]) if known else ""
        if not os.path.isdir(base or "."):
            return []
        found = [
            os.path.join(base, *names)
            for names in _below(base or ".", (), pattern)
            if _matches(parts[known:], names)
        ]
    return sorted(file for file in found if os.path.isfile(file))


def _below(folder: str, hidden: tuple[str, ...], asked: str) -> Iterator[list[str]]:
    """Yield the files below a folder as the names that lead to them."""
    met = 0
    for root, folders, files in os.walk(folder):
        met += len(folders) + len(files)
        if met > MOST_MET:
            raise _too_many(asked)
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
        f"{MOST_MET:,} files and folders to look through"
    )


FORMS = ("csv", "tsv", "parquet", "feather")


@dataclass(frozen=True, eq=False, repr=False)
class FileDataset:
    """Files that together hold one sample: made by `open_dataset`, read block by block.

    Attributes
    ----------
    dataset : pyarrow.dataset.Dataset
        The files.
    names : tuple of str
        The columns that are compared.
    where : RowsWhere or None
        The rows that are compared; None for all of them.
    """

    dataset: Any
    names: tuple[str, ...]
    where: RowsWhere | None = None

    def to_table(self) -> pa.Table:
        """Read everything into memory."""
        found = batches(self.dataset, self.names, whole=True, where=self.where)
        schema = pa.schema([self.dataset.schema.field(name) for name in self.names])
        return pa.Table.from_batches(found, schema)

    def __repr__(self) -> str:
        n_files = len(self.dataset.files)
        files = "1 file" if n_files == 1 else f"{n_files} files"
        return f"<FileDataset of {files}, {len(self.names)} columns>"


def open_dataset(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    form: str | None = None,
) -> FileDataset:
    r"""Open files that together hold one sample, however large, without reading them.

    A test of it goes through the files block by block: memory is that of a few blocks.

    Parameters
    ----------
    paths : path, or several
        A file, a folder (with the folders in it), a pattern such as "2024-*.parquet", or a list
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
    dataset = _opened(files, form)
    return FileDataset(dataset, _chosen(safe(files[0]), dataset.schema.names, columns, drop))


def open_groups(
    dataset: FileDataset, by: str, *, group: str | None = None, against: str | None = None
) -> tuple[tuple[FileDataset, FileDataset], tuple[str, str]]:
    """Open two groups of the rows of files as samples; see `tellapart.data.grouping.read_groups`.

    Of the column that names the groups, the different values are held.
    """
    values, n_rows, n_missing = None, 0, 0
    if by in dataset.names:
        for batch in batches(dataset.dataset, [by], whole=True):
            column = batch[by]
            n_rows, n_missing = n_rows + len(column), n_missing + column.null_count
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            known = [column.drop_null()] if values is None else [values, column.drop_null()]
            values = pa.concat_arrays(known).unique()
    if values is None:
        values = pa.nulls(0)
    check_labelled(by, n_missing, n_rows)
    # One row for each value: groups are told apart as in tables, and so are mistakes.
    names = [by] if by in dataset.names else []
    table = pa.table([values] * len(names) + [np.arange(len(values))], names=[*names, "row"])
    grouped = read_grouped(table, by)
    check_labelled(by, int(np.sum(grouped.groups == UNLABELLED)), n_rows)
    first, second = pick_pair(grouped, group, against)
    of_x = grouped.rows_of(first)
    of_y = grouped.rows_of_others(first) if second is None else grouped.rows_of(second)
    left = tuple(name for name in dataset.names if name != by)
    x, y = (
        replace(dataset, names=left, where=RowsWhere(by, values.take(pa.array(rows))))
        for rows in (of_x, of_y)
    )
    return (x, y), (grouped.labels[first], REST if second is None else grouped.labels[second])


def _files(paths: Any) -> list[str]:
    """Return the files that are meant."""
    every = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not every:
        raise InputError("paths must name at least one file; got an empty list")
    found: list[str] = []
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
        found.extend(matched)
    for file in found:
        if os.path.getsize(file) == 0:
            raise InputError(f"{safe(file)}: the file is empty")
    return found


def _format(form: str) -> Any:
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
    return ds.dataset(files, format=kind, schema=schema)


def _schema(file: str, kind: Any, form: str) -> pa.Schema:
    title = safe(file)
    try:
        schema = ds.dataset(file, format=kind).schema
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
    known = column.type
    if here == known or pa.types.is_null(here):
        return known
    if pa.types.is_null(known):
        return here
    if is_arrow_number(here) and is_arrow_number(known):
        return pa.float64()
    if form in DELIMITERS:
        return pa.string()
    raise InputError(
        f"{safe(file)}: column {column.name!r} must be of one type in all files; "
        f"got {here} beside {known}"
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
