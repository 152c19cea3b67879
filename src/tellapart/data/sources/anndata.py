"""AnnData: which of its matrices is compared. X, unless a layer or raw is asked for."""

from __future__ import annotations

from typing import Any

from tellapart.arguments import check_flag
from tellapart.data.column_choice import nearest
from tellapart.data.sources.source import NamedMatrix, check_in_memory, distinct, is_anndata
from tellapart.data.sources.table import described
from tellapart.errors import InputError


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
    return NamedMatrix(matrix, distinct("adata", tuple(str(name) for name in names)))


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
        known = [str(name) for name in adata.layers]
        hint = nearest(str(layer), known) if known else "there is none"
        raise InputError(f"layer must be a layer of the AnnData; got {layer!r}; {hint}")
