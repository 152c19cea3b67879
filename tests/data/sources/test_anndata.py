"""Which matrix of AnnData is compared."""

import numpy as np
import pytest

from annotated_data import GENES, annotated
from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_samples
from tellapart.data.sources.anndata import from_anndata, with_matrix
from tellapart.errors import InputError

VALUES = np.arange(24.0).reshape(6, 4)


def cells():
    everything = annotated(
        np.hstack([VALUES, VALUES]), [*GENES, "A", "B", "C", "D"], kind=list("abcabc")
    )
    everything.to_adata = lambda: everything
    return annotated(VALUES, layers={"counts": VALUES * 10}, raw=everything, kind=list("abcabc"))


def test_x_is_compared_unless_another_matrix_is_asked_for():
    assert np.array_equal(read_samples(cells(), cells()).x, VALUES)
    assert np.array_equal(from_anndata(cells()).matrix, VALUES)
    layer = from_anndata(cells(), layer="counts")
    samples = read_samples(layer, layer)
    assert samples.names == tuple(GENES)
    assert np.array_equal(samples.x, VALUES * 10)
    raw = from_anndata(cells(), raw=True)
    assert read_samples(raw, raw).names == (*GENES, "A", "B", "C", "D")


def test_rows_keep_their_labels():
    for data in (from_anndata(cells(), layer="counts"), with_matrix(cells(), layer="counts")):
        by = "kind" if data is not None and hasattr(data, "obs") else cells().obs["kind"]
        grouped = read_grouped(data, by)
        assert (grouped.by, grouped.labels) == ("kind", ("a", "b", "c"))
        assert np.array_equal(grouped.rows.values, VALUES * 10)
    assert len(read_grouped(with_matrix(cells(), raw=True), "kind").rows.names) == 8
    same = cells()
    assert with_matrix(same) is same


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        (VALUES, {"layer": "counts"}, "layer must be left out unless it is of AnnData; got numpy"),
        (
            cells(),
            {"layer": "count"},
            "layer must be a layer .* got 'count'; the nearest.*'counts'",
        ),
        (cells(), {"layer": "counts", "raw": True}, "layer must be left out with raw=True"),
        (annotated(VALUES), {"raw": True}, "raw=True needs AnnData that has a raw matrix"),
        (annotated(VALUES), {"layer": "counts"}, "got 'counts'; there is none"),
    ],
)
def test_refused(data, given, message):
    for take in (from_anndata, with_matrix):
        with pytest.raises(InputError, match=message):
            take(data, **given)
