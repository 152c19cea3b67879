"""What names rows, and what only looks a little like it."""

import uuid

import numpy as np
import pytest

from tellapart.data.identifiers import (
    is_named_like_identifier,
    may_be_consecutive,
    why_numbers_identify_rows,
    why_text_identifies_rows,
)

RNG = np.random.default_rng(0)
HASHES = {str(uuid.UUID(int=int(k), version=4)): 1 for k in RNG.integers(2**60, size=12)}


@pytest.mark.parametrize(
    "name", ["id", "ID", "patient_id", "Customer ID", "user-id", "PassengerId", "orderKey", "uuid"]
)
def test_names_of_identifiers(name):
    assert is_named_like_identifier(name)


@pytest.mark.parametrize(
    "name", ["covid", "paid", "acid", "humid", "idle", "id_count", "Grid", "age", "monkey"]
)
def test_names_of_measurements(name):
    assert not is_named_like_identifier(name)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", np.arange(40)),
        ("n", RNG.permutation(40) + 7),
        ("n", np.concatenate([np.arange(40), np.arange(25)])),
        ("patient_id", RNG.choice(10**6, 60, replace=False)),
        ("id", np.array([4, 9, 17, 23, 60])),
    ],
)
def test_numbers_that_name_rows(name, values):
    assert why_numbers_identify_rows(name, values.astype(float), 2) is not None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", RNG.poisson(30, 80)),  # counts repeat
        ("n", np.sort(RNG.choice(10**4, 80, replace=False))),  # sorted, but with gaps
        ("n", np.arange(12)),  # too few to tell
        ("n", np.repeat(np.arange(30), 4)),  # a year, of four countries
        ("customer_id", RNG.integers(10, size=200)),  # whoever comes back is no row
        ("id", np.array([])),
    ],
)
def test_numbers_that_measure(name, values):
    assert why_numbers_identify_rows(name, values.astype(float), 2) is None


def test_the_order_of_rows_and_whose_they_are_play_no_part():
    for values in (np.arange(60.0), RNG.poisson(20, 60).astype(float)):
        answers = {why_numbers_identify_rows("n", RNG.permutation(values), 2) for _ in range(5)}
        assert len(answers) == 1


def test_extremes_never_rule_out_what_names_rows():
    for values in (np.arange(40.0), np.concatenate([np.arange(40.0), np.arange(25.0)])):
        ends = np.array([values.min()]), np.array([values.max()])
        assert may_be_consecutive(*ends, values.size, 2).all()
    assert not may_be_consecutive(np.array([0.0]), np.array([9.0]), 100, 2).any()


@pytest.mark.parametrize(
    ("counts", "n_rows", "expected"),
    [
        ({f"p{k}": 1 for k in range(60)}, 60, True),
        ({f"p{k}": 2 for k in range(60)}, 120, True),  # the same patients twice
        ({f"p{k}": 3 for k in range(60)}, 180, False),
        ({f"p{k}": 1 for k in range(20)}, 20, False),
        (HASHES, 12, True),
        (dict.fromkeys(HASHES, 9), 108, False),
        ({"a": 30, "b": 30}, 60, False),
        ({}, 10, False),
    ],
)
def test_texts(counts, n_rows, expected):
    assert (why_text_identifies_rows(counts, n_rows, 2) is not None) is expected
