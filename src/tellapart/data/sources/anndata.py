"""AnnData, of which X is compared unless a layer or raw is asked for; and files of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arguments import check_flag
from tellapart.data.sources.array import NamedMatrix
from tellapart.data.sources.hdf_walk import BEGUN
from tellapart.data.sources.source import ChunkedSource, HeldSource, distinct
from tellapart.errors import InputError
from tellapart.optional import need
from tellapart.text import described, nearest, package_of, safe


class AnnDataSource(HeldSource):
    """AnnData in memory: its matrix X over var_names."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is AnnData, without importing it."""
        return is_anndata(data)

    @classmethod
    def load(cls, title: str, data: Any) -> NamedMatrix:
        """Return the matrix X with the names of the variables."""
        names = distinct(title, data.var_names)
        matrix = data.X
        if matrix is None:
            raise InputError(
                f"{title} must be AnnData with a matrix X; it has none; for a layer pass "
                'from_anndata(adata, layer="…")'
            )
        check_in_memory(title, matrix)
        shape: tuple[int, ...] = matrix.shape
        if len(shape) == 2 and len(names) != shape[1]:
            raise InputError(
                f"{title} must be AnnData with one name per column of its X, {shape[1]} in all; "
                f"got {len(names)} var_names"
            )
        return NamedMatrix(matrix, names)


class BackedAnnDataSource(ChunkedSource):
    """AnnData whose matrix X is still in its file: read by chunks of rows, never as a whole."""

    waits = False  # HDF5 reads one file at a time

    def __init__(self, title: str, data: Any) -> None:
        self.title, self.data = title, data
        self.names: tuple[str, ...] = distinct(title, data.var_names)
        self.n_columns = len(self.names)

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is AnnData that was opened with `backed="r"`.

        A view of such cannot be sliced again: its rows are read into memory at once.
        """
        is_whole = bool(getattr(data, "isbacked", False)) and not getattr(data, "is_view", False)
        return is_whole and is_anndata(data)

    @classmethod
    def load(cls, title: str, data: Any) -> Any:  # noqa: ARG003
        """Return the same AnnData in memory."""
        return data.to_memory()

    def chunks(self, places: Sequence[int]) -> Iterator[NDArray[Any]]:
        """Give out consecutive rows as arrays."""
        step = max(CHUNK_BYTES // (8 * max(self.n_columns, 1)), LEAST_CHUNK_ROWS)
        for start in range(0, self.data.n_obs, step):
            rows: Any = self.data[start : start + step].X
            chosen: Any = rows[:, list(places)] if len(places) < self.n_columns else rows
            yield np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray())


CHUNK_BYTES, LEAST_CHUNK_ROWS = 1 << 24, 64
"""How much is read of a file at a time, in bytes of float64 and in rows."""


def is_anndata(data: object) -> bool:
    """Say whether this is AnnData, without importing it."""
    return package_of(data) == "anndata" and hasattr(data, "var_names") and hasattr(data, "obs")


def check_in_memory(title: str, matrix: object) -> None:
    """Raise if a matrix of AnnData is still in its file."""
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)):
        got = f"its matrix is {described(matrix)}: call .to_memory()"
        raise InputError(f"{title} must be AnnData in memory; {got}")


def from_anndata(adata: Any, *, layer: str | None = None, raw: bool = False) -> NamedMatrix:
    """Take a layer of AnnData, or its raw matrix, to be compared in place of X.

    AnnData itself is compared by its `X`, over `var_names`; `adata.raw`, which scanpy keeps as it
    was before genes were filtered or scaled and which has more genes, plays no part unless asked
    for here.

    Parameters
    ----------
    adata : AnnData
        Held in memory.
    layer : str or None
        The name of a layer, such as "counts"; None for X.
    raw : bool
        Whether to take `adata.raw.X`, over `adata.raw.var_names`.

    Returns
    -------
    NamedMatrix
        To be passed as X or Y, or as the table of `tellapart.compare_groups` with
        `by=adata.obs["cell_type"]`.

    Examples
    --------
    >>> import tellapart as ta
    >>> a = ta.from_anndata(treated, layer="counts")  # doctest: +SKIP
    >>> b = ta.from_anndata(control, layer="counts")  # doctest: +SKIP
    >>> ta.two_sample_test(a, b)  # doctest: +SKIP
    """
    _check(adata, layer, raw)
    if check_flag("raw", raw):
        matrix, names = adata.raw.X, adata.raw.var_names
    else:
        matrix, names = adata.X if layer is None else adata.layers[layer], adata.var_names
    check_in_memory("adata", matrix)
    return NamedMatrix(matrix, distinct("adata", names))


def with_matrix(data: Any, *, layer: str | None = None, raw: bool = False) -> Any:
    """Return AnnData as read from a file with another matrix in the place of X; its rows stay."""
    if layer is None and not raw:
        return data
    _check(data, layer, raw)
    if raw:
        return data.raw.to_adata()
    data.X = data.layers[layer]
    return data


def _check(adata: Any, layer: str | None, raw: bool) -> None:
    if not is_anndata(adata):
        argument = "raw" if raw else "layer"
        raise InputError(
            f"{argument} must be left out unless it is of AnnData; got {described(adata)}"
        )
    if raw and layer is not None:
        raise InputError(f"layer must be left out with raw=True; got {layer!r}")
    if raw and getattr(adata, "raw", None) is None:
        raise InputError("raw=True needs AnnData that has a raw matrix; it has none")
    if layer is not None and layer not in adata.layers:
        layers = [str(name) for name in adata.layers]
        hint = nearest(str(layer), layers) if layers else "there is none"
        raise InputError(f"layer must be a layer of the AnnData; got {layer!r}; {hint}")


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
    search_path = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        end = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": search_path},
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


def read_h5ad(path: Path) -> Any:
    """Read a file of AnnData, which HDF5 is tried on first."""
    anndata = need(f"{safe(path)}: reading it", "anndata", "anndata")
    try_hdf(path)
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # it has errors of its own, and passes on those of HDF5
        raise ValueError(str(error)) from error
