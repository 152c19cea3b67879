"""Pairs and triples: every one that the step-down allows is named, or their number is known."""

import numpy as np
import pytest

from tellapart import two_sample_test
from tellapart.budget import Budget, using_budget
from tellapart.scan.adjusted import GroupScores, TableUnits, step_down
from tellapart.scan.family import GroupCandidates
from tellapart.scan.pool import Largest, Remaining

N_COLUMNS, COUNT = 14, 400
PAIRS = np.column_stack(np.triu_indices(N_COLUMNS, 1))
N_PAIRS = len(PAIRS)


@pytest.fixture
def rng():
    return np.random.default_rng(28)


def kind_of(changes, kept=8, what="kind"):
    largest = Largest.empty(len(changes), kept, N_PAIRS)
    for block in (slice(0, 40), slice(40, N_PAIRS)):
        for rows in (slice(0, 150), slice(150, len(changes))):
            largest.add(rows, block, np.ascontiguousarray(changes[rows, block]))
    return GroupCandidates(what, largest, PAIRS)


def noise(rng):
    return rng.standard_normal((COUNT, N_PAIRS)).astype(np.float32)


def classes_of(rng, *kinds):
    columns = TableUnits(rng.exponential(size=(COUNT, 5)))
    return {"columns": columns, "pairs": GroupScores(kinds, np.arange(N_COLUMNS))}


def test_all_changed_correlations_are_named(rng):
    x = rng.standard_normal((150, 12)) * 0.5 + rng.standard_normal((150, 1))
    result = two_sample_test(x, rng.standard_normal((150, 12)), random_state=0)
    assert len({f.variables for f in result.findings if f.kind == "correlation"}) == 66


def test_as_many_are_named_as_differ(rng):
    changes = noise(rng)
    changes[0, 10:80] += 12
    classes = classes_of(rng, kind_of(changes), kind_of(noise(rng), what="other"))
    named = step_down(classes, 0.05)["pairs"]
    found = classes["pairs"].named(named, 0.05)
    assert {candidate.columns for candidate, _ in found} == set(map(tuple, PAIRS[10:80].tolist()))
    assert {candidate.what for candidate, _ in found} == {"kind"}
    assert {pvalue for _, pvalue in found} == {1 / COUNT}
    assert classes["pairs"].n_unlisted(named, 0.05) == 0


def test_number_of_those_beyond_the_limit(rng):
    changes = noise(rng)
    changes[0, 10:80] += 12
    with using_budget(Budget(named_groups=20)):
        classes = classes_of(rng, kind_of(changes), kind_of(changes, what="other"))
    named = step_down(classes, 0.05)["pairs"]
    assert len(classes["pairs"].named(named, 0.05)) == 20
    assert classes["pairs"].n_unlisted(named, 0.05) == 50


def test_what_is_left_is_compared_with_maxima_of_what_is_left(rng):
    changes = noise(rng)
    # Noise of the pairs that differ is larger: only without them does the next one stand out.
    changes[:, :30] *= 4
    changes[0, :30] = 60.0
    changes[0, 50] = 6.0
    classes = classes_of(rng, kind_of(changes, kept=N_PAIRS))
    named = step_down(classes, 0.05)["pairs"]
    found = {candidate.columns for candidate, _ in classes["pairs"].named(named, 0.05)}
    assert found == set(map(tuple, PAIRS[[*range(30), 50]].tolist()))


def test_nothing_is_named_by_chance(rng):
    named = 0
    for _ in range(100):
        classes = classes_of(rng, kind_of(noise(rng)), kind_of(noise(rng), what="other"))
        named += any(found.pvalues for found in step_down(classes, 0.05).values())
    assert named <= 11


@pytest.mark.parametrize("kept", [3, 20])
def test_maxima_of_what_is_left(rng, kept):
    squares = np.square(noise(rng))
    places = np.argsort(squares, axis=1)[:, -kept:]
    values = np.take_along_axis(squares, places, axis=1)
    left = Remaining(values, places)
    gone = np.zeros(N_PAIRS + 1, dtype=bool)
    for number in rng.permutation(N_PAIRS)[:60]:
        gone[number] = True
        left.leave_out(gone)
        exact = np.where(gone[:-1], -1.0, squares).max(axis=1)
        np.testing.assert_array_equal(left.maxima, np.maximum(exact, values[:, 0]))


def test_no_kind_has_anything_to_name():
    scores = GroupScores([], np.arange(3))
    assert scores.strongest() is None
    assert not scores.candidates


def test_nothing_changes_at_the_true_labels(rng):
    changes = noise(rng)
    changes[0] = 0.0
    classes = classes_of(rng, kind_of(changes))
    assert classes["pairs"].strongest() is None
    named = step_down(classes, 0.05)["pairs"]
    assert not named.pvalues
    assert classes["pairs"].n_unlisted(named, 0.05) == 0
