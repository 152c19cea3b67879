"""What people have: sparse matrices, AnnData, Arrow in all its forms."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest
from scipy import sparse

import tellapart as ta
from annotated_data import GENES, annotated
from tellapart.data.column_store import SparseColumns
from tellapart.data.reader import read_samples
from tellapart.errors import InputError


def counts(rows, seed=0, columns=4):
    return np.random.default_rng(seed).poisson(0.6, (rows, columns))


def dense(values):
    return values if isinstance(values, np.ndarray) else values[:, np.arange(values.shape[1])]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_sparse_samples_are_read_as_they_are(form, kind, dtype):
    x, y = counts(9), counts(7, seed=1)
    samples = read_samples(*(kind(v.astype(dtype)).asformat(form) for v in (x, y)))
    assert isinstance(samples.x, SparseColumns)
    assert samples.names == ("x0", "x1", "x2", "x3")
    assert samples.kinds == ("numeric",) * 4
    np.testing.assert_array_equal(dense(samples.x), x)
    np.testing.assert_array_equal(dense(samples.y), y)


def test_sparse_truth_values_are_categories():
    x, y = counts(9) > 0, counts(7, seed=1) > 0
    twice = sparse.coo_array((np.array([True, True]), ([0, 0], [1, 1])), shape=(9, 4))
    samples = read_samples(sparse.csr_array(x), y)
    assert samples.kinds == ("categorical",) * 4
    assert samples.categories["x0"] == ("False", "True")
    np.testing.assert_array_equal(dense(samples.x), x)
    assert dense(read_samples(twice, y).x).max() == 1
    with pytest.raises(
        InputError, match=r"'x0' must be of one kind.*booleans \(bool\) in X and num"
    ):
        read_samples(sparse.csr_array(x), sparse.csr_array(y.astype(int)))


def test_one_sample_may_be_sparse_and_the_other_not():
    x, y = counts(9), counts(7, seed=1)
    frame = pd.DataFrame(y, columns=GENES)
    samples = read_samples(sparse.csr_array(x), frame)
    assert samples.names == tuple(GENES)
    assert isinstance(samples.x, SparseColumns)
    np.testing.assert_array_equal(samples.y, y)
    # A column of another dtype makes the table be read column by column.
    frame["LYZ"] = frame["LYZ"].astype("Int64")
    samples = read_samples(ta.with_names(sparse.csr_array(x), GENES), frame[GENES[::-1]])
    assert isinstance(samples.x, SparseColumns)
    np.testing.assert_array_equal(samples.y, y)
    frame["LYZ"] = "text"
    with pytest.raises(InputError, match="'LYZ' must be of one kind"):
        read_samples(ta.with_names(sparse.csr_array(x), GENES), frame)


def test_sparse_columns_of_pandas():
    x = counts(9)
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(x), columns=GENES)
    samples = read_samples(frame, pd.DataFrame(x, columns=GENES))
    assert isinstance(samples.x, SparseColumns)
    np.testing.assert_array_equal(dense(samples.x), samples.y)
    ones = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 1, 2], fill_value=1.0)})
    with pytest.raises(InputError, match="X must have sparse columns with 0 left out"):
        read_samples(ones, ones)
    named = pd.DataFrame({"sparse": [1.0, 2.0], "b": ["x", "y"]})
    assert read_samples(named, named).kinds == ("numeric", "categorical")


def test_missing_values_of_sparse_samples():
    x, y = counts(9).astype(float), counts(7, seed=1).astype(float)
    x[3, 1] = x[4, 1] = y[0, 2] = np.nan
    pair = sparse.csr_array(x), sparse.csr_array(y)
    with pytest.raises(InputError, match=r"column 'x1' \(2 in X\), column 'x2' \(1 in Y\); pass"):
        read_samples(*pair)
    rows = read_samples(*pair, missing="drop-rows")
    assert rows.dropped_rows == (2, 1)
    np.testing.assert_array_equal(dense(rows.x), np.delete(x, [3, 4], axis=0))
    columns = read_samples(*pair, missing="drop-columns")
    assert columns.names == ("x0", "x3")
    np.testing.assert_array_equal(dense(columns.y), y[:, [0, 3]])


@pytest.mark.parametrize(("value", "part"), [(np.inf, "infinite"), (-1e200, "magnitudes")])
def test_entries_no_kernel_can_work_with_are_refused(value, part):
    x = counts(9).astype(float)
    x[2, 3] = value
    with pytest.raises(InputError, match=rf"{part}.*column 'x3' \(1 in X\)"):
        read_samples(sparse.csr_array(x), sparse.csr_array(counts(7)))


def test_the_answer_is_that_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    x, y = rng.poisson(0.3, (120, 6)), rng.poisson([0.3, 0.3, 2, 0.3, 0.3, 0.3], (140, 6))
    plain = ta.two_sample_test(x, y, method="split", random_state=1, n_permutations=99)
    result = ta.two_sample_test(
        sparse.csr_matrix(x), sparse.coo_array(y), method="split", random_state=1, n_permutations=99
    )
    assert result.variables == plain.variables == ("x2",)
    assert result.pvalue == plain.pvalue
    np.testing.assert_array_equal(result.null_distribution, plain.null_distribution)
    np.testing.assert_array_equal(result.witness(sparse.csr_array(x)), plain.witness(x))
    np.testing.assert_array_equal(result.witness(sparse.csr_array(x[:1])), plain.witness(x[:1]))
    assert "x2" in result.to_html()
    signed = {"solver": "sdp", "nonnegative": False}
    chosen = ta.select_variables(sparse.csr_array(x), sparse.csr_array(y), 2, **signed)
    np.testing.assert_array_equal(chosen.z, ta.select_variables(x, y, 2, **signed).z)
    weighed = ta.select_variables(sparse.csr_array(x), sparse.csr_array(y), 2)
    np.testing.assert_array_equal(weighed.z, ta.select_variables(x, y, 2).z)


@pytest.mark.parametrize("kernel", [ta.kernels.Quadratic(), ta.kernels.Gaussian()])
def test_objectives_of_all_kernels_take_sparse_samples(kernel):
    x, y = counts(40), counts(50, seed=1)
    z = np.array([0.6, 0.8, 0, 0])
    objective = ta.objective.Objective(sparse.csr_array(x), sparse.csr_array(y), kernel)
    plain = ta.objective.Objective(x, y, kernel)
    assert objective.value(z) == pytest.approx(plain.value(z), rel=1e-12)
    np.testing.assert_allclose(objective.gradient(z), plain.gradient(z), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_annotated_data(make):
    x, y = counts(30), counts(40, seed=1)
    x[:, 1] += 3
    samples = read_samples(annotated(make(x)), annotated(make(y[:, ::-1]), GENES[::-1]))
    assert samples.names == tuple(GENES)
    np.testing.assert_array_equal(dense(samples.x), x)
    np.testing.assert_array_equal(dense(samples.y), y)
    result = ta.two_sample_test(
        annotated(make(x)), annotated(make(y)), method="split", n_variables=1
    )
    assert result.variables == ("MS4A1",)
    points = annotated(make(x[:, [1]]), ["MS4A1"])
    np.testing.assert_array_equal(result.witness(points), result.witness(x))
    with pytest.raises(InputError, match="points must have the column 'MS4A1'"):
        result.witness(annotated(make(x[:, [0]]), ["CD3E"]))
    with pytest.raises(InputError, match="points must have 4 columns"):
        result.witness(sparse.csr_array(x[:, [0]]))


def test_annotated_data_that_cannot_be_read():
    with pytest.raises(InputError, match="Y must be AnnData with a matrix X; it has none"):
        read_samples(annotated(counts(5)), annotated(None))
    with pytest.raises(InputError, match=r"X must be AnnData in memory.*call \.to_memory\(\)"):
        read_samples(annotated(SimpleNamespace(shape=(5, 4))), annotated(counts(5)))
    with pytest.raises(InputError, match=r"X must have distinct column names; .* 'a'"):
        read_samples(annotated(counts(5), ["a", "a", "b", "c"]), annotated(counts(5)))


def test_the_real_anndata():
    anndata = pytest.importorskip("anndata")
    x, y = (sparse.csr_matrix(counts(40, seed=s).astype(np.float32)) for s in (0, 1))
    obs = pd.DataFrame({"kind": ["T"] * 20 + ["B"] * 20}, index=[f"c{i}" for i in range(40)])
    data = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=GENES))
    other = anndata.AnnData(y, var=pd.DataFrame(index=GENES))
    assert read_samples(data, other).names == tuple(GENES)
    assert read_samples(data[:20], data[20:]).n_x == 20
    assert len(ta.compare_groups(data, by="kind", method="split", n_variables=1).comparisons) == 1


def test_anndata_is_not_imported():
    before = "anndata" in sys.modules
    read_samples(annotated(counts(5)), annotated(counts(5)))
    assert ("anndata" in sys.modules) == before


@pytest.mark.parametrize(
    ("matrix", "names", "part"),
    [
        ([[1.0]], ["a"], "matrix must be a NumPy array or a SciPy sparse matrix"),
        (np.ones(3), ["a"], "matrix must be .* of two dimensions"),
        (np.ones((3, 2)), ["a"], "names must be one per column, 2 in all; got 1"),
        (np.ones((3, 2)), ["1", 1], "names must have distinct column names"),
        (np.ones((3, 2)), "ab", "names must be a sequence of column names; got str 'ab'"),
        (np.ones((3, 2)), 5, "names must be a sequence of column names; got int"),
    ],
)
def test_bad_names(matrix, names, part):
    with pytest.raises(InputError, match=part):
        ta.with_names(matrix, names)


@pytest.fixture
def batch():
    return pa.RecordBatch.from_pydict(
        {"age": [31, 47, 52], "sex": pa.array(["f", "m", "f"]).dictionary_encode()}
    )


def test_record_batches_readers_and_datasets(batch):
    table = pa.Table.from_batches([batch])
    for data in (
        batch,
        pa.RecordBatchReader.from_batches(batch.schema, [batch]),
        pyarrow.dataset.dataset(table),
        pyarrow.dataset.dataset(table).scanner(),
    ):
        samples = read_samples(data, table)
        assert samples.names == ("age", "sex")
        assert samples.categories == {"sex": ("f", "m")}
        np.testing.assert_array_equal(samples.x, samples.y)


def test_repeated_names_of_a_record_batch():
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    with pytest.raises(InputError, match=r"X must have distinct column names; .* 'a'"):
        read_samples(batch, batch)


def test_no_step_asks_for_more_than_a_block_of_a_sparse_sample(monkeypatch):
    """A sample of 1,500,000 numbers, never more than 2²⁰ of them (8 MB) dense at a time."""
    largest = []
    original = SparseColumns.transposed

    def watched(self, columns, rows=slice(None)):
        block = original(self, columns, rows)
        largest.append(block.size)
        return block

    def no_more_than_a_row(original):
        def watched(self, *args, **kwargs):
            assert len(self.shape) == 1 or 1 in self.shape, "densified as a whole"
            return original(self, *args, **kwargs)

        return watched

    x, y = (
        sparse.random_array(
            (1_000, 1_500), density=0.05, format="csr", random_state=np.random.default_rng(seed)
        )
        for seed in (0, 1)
    )
    y = (y + sparse.csr_array((np.ones(600), (range(600), [7] * 600)), shape=y.shape)).tocsr()
    monkeypatch.setattr(SparseColumns, "transposed", watched)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, no_more_than_a_row(getattr(kind, name)))
    result = ta.two_sample_test(
        x, y, method="split", n_variables=2, regularization=0.1, random_state=0
    )
    assert "x7" in result.variables
    assert result.reject
    assert max(largest) <= 2**20


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
@pytest.mark.parametrize("more", [{}, {"sex": ["f", "m", "f"]}])
def test_integers_of_128_bits_are_numbers(kind, more):
    pl = pytest.importorskip("polars")
    if not hasattr(pl, kind):
        pytest.skip(f"this polars has no {kind}")
    table = pl.DataFrame({"count": [0, 7, 2**63 + 1], **more})
    long = table.with_columns(pl.col("count").cast(getattr(pl, kind)))
    read = read_samples(long, table.with_columns(pl.col("count").cast(pl.Float64)))
    np.testing.assert_array_equal(read.x, read.y)
