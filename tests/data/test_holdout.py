"""Held-out rows: told by their numbers, whatever the chunks."""

import dask.array as da
import numpy as np
import pytest

from row_sums import Sums, numbers
from tellapart.data.reader import read_chunked
from tellapart.data.row_draws import Holdout, places_of, shuffled
from tellapart.errors import InputError


def make_chunks(n_x=300, n_y=200, most=None, set_budget=None):
    if most is not None:
        set_budget(drawn_rows=most)
    x, y = numbers(n_x, 0, 3), numbers(n_y, 1, 3)
    return x, y, read_chunked(x, y)


@pytest.mark.parametrize("n_rows", [1, 7, 1000])
def test_places_of_any_rows_are_those_of_all_rows(n_rows):
    every = shuffled(3, 1, n_rows, 0, n_rows)
    rows = np.random.default_rng(0).integers(n_rows, size=40)
    np.testing.assert_array_equal(places_of(3, 1, n_rows, rows), every[rows])


def test_parts_are_the_rows_they_say(set_budget):
    x, y, samples = make_chunks(most=60, set_budget=set_budget)
    holdout = Holdout.of(samples, 0.25, seed=5)
    assert holdout.n_held_out == (75, 50)
    sums = Sums(3)
    for held_out in (False, True):
        part = holdout.part(samples, held_out=held_out)
        for sample, (values, store) in enumerate(zip((x, y), part.stores, strict=True)):
            inside = holdout.held_out(sample, np.arange(values.shape[0])) == held_out
            assert store.shape == (inside.sum(), 3)
            mine = sums.add(sums.start(), 0, np.asfortranarray(values[inside]))
            found = store.fold(sums, 16)
            np.testing.assert_allclose(found[:, 2:], mine[:, 2:], rtol=1e-12)
            held, rows = (part.x, part.y)[sample], part.whole.held_rows[sample]
            np.testing.assert_array_equal(held, values[rows])
            assert inside[rows].all()
            pooled = part.whole.pooled_rows[sample]
            np.testing.assert_array_equal(pooled, np.flatnonzero(inside))
            np.testing.assert_array_equal(store.rows(pooled[:3]), values[pooled[:3]])


def test_parts_do_not_depend_on_chunks_and_tell_how_far_they_are():
    x, y, samples = make_chunks()
    chunked = read_chunked(da.from_array(x, chunks=(77, 3)), da.from_array(y, chunks=(200, 1)))
    holdout = Holdout.of(samples, 0.5, seed=1)
    told = []
    found = [
        holdout.part(one, held_out=True).stores[0].fold(Sums(3), 32, told.append)
        for one in (samples, chunked)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert told[-1] == max(told) == 150


def test_too_few_rows_are_refused():
    samples = make_chunks(n_x=3)[2]
    with pytest.raises(InputError, match="X must have at least 4 rows"):
        Holdout.of(samples, 0.5, seed=1)
