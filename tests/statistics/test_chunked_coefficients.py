"""a and V summed over chunks: those of arrays, for any chunks and threads."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest

from reference import coefficients, mixed_samples
from row_sums import write_parts
from tellapart import open_dataset
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Linear
from tellapart.kernels.bandwidth import adds_up, fit_on_draw
from tellapart.statistics import coefficients as chunked_coefficients
from tellapart.statistics.coefficients import (
    MomentSums,
    WitnessProducts,
    coefficients_in_chunks,
    linear_coefficients,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, set_budget):
    """Several lanes of several blocks and slices, though rows are few."""
    monkeypatch.setattr(chunked_coefficients, "block_rows", lambda n_columns: 16)
    set_budget(product_rows=5)


@pytest.mark.parametrize("bandwidth", ["median", "mixed"])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("m", "n"), [(2, 2), (45, 200), (301, 150)])
def test_sums_over_chunks_equal_the_dense_formulas(m, n, n_jobs, bandwidth):
    samples = mixed_samples(m, n)
    kernel = fit_on_draw(Linear(bandwidth=bandwidth), samples)
    assert kernel.scalars == Linear(bandwidth=bandwidth).fit(samples).scalars
    fitted, found = coefficients_in_chunks(samples, kernel, n_jobs=n_jobs)
    a, V = coefficients(samples, kernel, "unbiased")
    keep = np.flatnonzero(~fitted.constant)
    np.testing.assert_allclose(found.a, a[keep], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.V, V[np.ix_(keep, keep)], rtol=0, atol=1e-12)
    assert (found.n_x, found.n_y) == (m, n)
    _, alone = coefficients_in_chunks(samples, kernel, n_jobs=n_jobs, with_variance=False)
    np.testing.assert_array_equal(alone.a, found.a)
    assert alone.V is None


def test_files_and_clusters_give_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.standard_t(2, size=(400, 4)), rng.normal(size=(300, 4))
    write_parts(tmp_path / "x", x, (0, 3, 77, 400), "parquet")
    frame = pd.DataFrame(y, columns=[f"x{s}" for s in range(4)])
    in_memory = read_samples(pd.DataFrame(x, columns=frame.columns), frame)
    kernel = fit_on_draw(Linear(), in_memory)
    _, expected = coefficients_in_chunks(in_memory, kernel)
    whole = linear_coefficients(in_memory, Linear().fit(in_memory))
    np.testing.assert_allclose(expected.a, whole.a, rtol=0, atol=1e-13)
    np.testing.assert_allclose(expected.V, whole.V, rtol=0, atol=1e-13)
    others = [
        read_chunked(open_dataset(tmp_path / "x"), frame),
        read_chunked(da.from_array(x, chunks=(97, 4)), da.from_array(y, chunks=(300, 2))),
    ]
    for samples in others:
        fitted, found = coefficients_in_chunks(samples, fit_on_draw(Linear(), samples), n_jobs=2)
        assert fitted.scalars == kernel.scalars
        np.testing.assert_array_equal(found.a, expected.a)
        np.testing.assert_array_equal(found.V, expected.V)


def test_folds_can_be_sent_to_other_machines():
    samples = mixed_samples(30, 40)
    kernel = fit_on_draw(Linear(bandwidth="mixed"), samples)
    fold = MomentSums((0, 1), kernel.scalar_kernels[:2])
    again = pickle.loads(pickle.dumps(fold))
    held = again.add(again.start(), 0, np.asfortranarray(np.ones((3, 8))))
    assert held[1].count == 3
    products = pickle.loads(pickle.dumps(WitnessProducts((), 0, 1.0)))
    assert products.add(products.start(), 0, np.ones((3, 8))).shape == (0, 0)


def test_a_column_that_never_varies_is_left_out_and_a_rare_value_is_not(set_budget):

    set_budget(pooled_rows=40)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 4)), rng.normal(size=(150, 4))
    x[:, 1:], y[:, 1:] = [1.0, 2.0, 0.0], [1.0, 2.0, 0.0]
    x[7, 2] = -3.0
    kinds = ("numeric", "numeric", "numeric", "categorical")
    samples = Samples(x, y, tuple("abcd"), kinds, {"d": ("no", "yes")})
    assert 7 not in samples.whole.pooled_rows[0]
    kernel = fit_on_draw(Linear(), samples)
    assert kernel.scalars[2].bandwidth == 5.0
    fitted, found = coefficients_in_chunks(samples, kernel)
    assert fitted.constant.tolist() == [False, True, False, True]
    expected, _ = coefficients(samples, kernel, "unbiased")
    np.testing.assert_allclose(found.a, expected[[0, 2]], atol=1e-13)


def test_kernels_whose_sums_do_not_add_up_say_so():
    samples = mixed_samples(30, 40)
    assert adds_up(fit_on_draw(Linear(), samples))
    assert not adds_up(fit_on_draw(Linear("laplace"), samples))


def test_a_range_beyond_floats_is_refused_by_name(set_budget):

    set_budget(pooled_rows=20)
    x = np.random.default_rng(0).normal(size=(100, 2)) * 1e-200
    y = x[::-1].copy()
    of_x, _ = Samples(x, y, ("u", "v"), ("numeric",) * 2).whole.pooled_rows
    far = np.setdiff1d(np.arange(100), of_x)[0]
    x[far, 1] = 1e150
    samples = Samples(x, y, ("u", "v"), ("numeric",) * 2)
    with pytest.raises(InputError, match="column 'v' must have a range / bandwidth"):
        coefficients_in_chunks(samples, fit_on_draw(Linear(), samples))
