"""All subsets nearly as good as the one selected: what enumeration finds, and how it is told."""

import json
import pickle
from itertools import combinations

import numpy as np
import pytest

import tellapart as ta
from tellapart.errors import InputError
from tellapart.selection.alternatives import Alternatives
from tellapart.selection.evidence_problem import members_of, problem_of, sets_of_groups
from tellapart.strs.near_optimal import Collected


def tables(seed=0, size=8):
    rng = np.random.default_rng(seed)
    values = 0.7 * rng.normal(size=(400, 1)) + rng.normal(size=(400, size))
    values[:200, :4] += 0.5
    # One pair depends on each other in the first sample only.
    values[:200, 6] = np.sign(values[:200, 6]) * np.abs(values[:200, 5])
    return values[:200], values[200:]


@pytest.fixture(scope="module")
def selection():
    return ta.select_variables(*tables(), 4)


def evidence_of(selection, columns):
    """Return the evidence of some candidate columns, from the best set of groups within them."""
    evidence = selection.problem.evidence
    values = []
    for chosen in sets_of_groups(evidence, len(columns)):
        if set(members_of(evidence, chosen)) <= set(evidence.columns[list(columns)].tolist()):
            problem = problem_of(evidence, chosen, len(columns))
            count = evidence.n_columns
            index = [*columns, *range(count, problem.n_columns)]
            part = ta.strs.SparseRatio(
                problem.M[np.ix_(index, index)], problem.a[index], len(index), nonnegative=True
            )
            values.append(ta.strs.solve(part, "brute-force").value)
    return max(values)


@pytest.fixture(scope="module")
def every(selection):
    """Every subset of at most four columns, with its evidence."""
    positions = range(selection.problem.evidence.n_columns)
    subsets = [subset for size in range(1, 5) for subset in combinations(positions, size)]
    return {subset: evidence_of(selection, subset) for subset in subsets}


@pytest.mark.parametrize("within", [0.02, 0.2])
def test_equal_to_enumeration(selection, every, within):
    assert selection.problem.evidence.groups
    near = selection.alternatives(within=within)
    assert near.complete
    names = [selection.names[s] for s in selection.problem.evidence.columns]
    least = (1 - within) * selection.value
    expected = {
        subset
        for subset, value in every.items()
        if value >= least
        and all(every.get(smaller, 0) < least for smaller in combinations(subset, len(subset) - 1))
    }
    assert {tuple(sorted(map(names.index, subset))) for subset in near} == expected
    for subset, share in zip(near.subsets, near.shares, strict=True):
        value = every[tuple(sorted(map(names.index, subset)))]
        assert share * selection.value == pytest.approx(value, rel=1e-6)
    assert set(near.counts) | set(near.in_none) == set(names)


def test_the_runner_up_is_proved(selection, every):
    chosen = set(np.searchsorted(selection.problem.evidence.columns, selection.support).tolist())
    others = [value for subset, value in every.items() if not chosen <= set(subset)]
    assert selection.runner_up.proved
    assert selection.runner_up.share == pytest.approx(max(others) / selection.value, abs=2e-4)


def test_a_kernel_has_alternatives_too():
    x, y = tables(1)
    chosen = ta.select_variables(x, y, 2, kernel="linear", regularization=0.1)
    near = chosen.alternatives(within=0.3)
    problem = chosen.problem.problem
    values = {
        pair: ta.strs.solve(
            ta.strs.SparseTrustRegion(
                problem.submatrix(np.array(pair)), problem.a[list(pair)], 2, nonnegative=True
            )
        ).value
        for pair in combinations(range(8), 2)
    }
    listed = [set(map(chosen.names.index, subset)) for subset in near]
    reached = {pair for pair, value in values.items() if value >= 0.7 * chosen.value}
    assert near.complete
    assert {pair for pair in values if any(each <= set(pair) for each in listed)} == reached


def test_they_are_described_and_stored():
    x, y = tables(2)
    result = ta.two_sample_test(x, y, n_variables=3, n_permutations=99, random_state=0)
    proved = result.prove(time_limit=20)
    near = proved.selection.near
    assert near.description() in proved.summary()
    assert near.description() in proved.to_html(stability=False)
    stored = json.loads(json.dumps(proved.to_dict()))["selection"]["near"]
    assert stored["complete"]
    assert len(stored["subsets"]) == len(near)
    again = pickle.loads(pickle.dumps(proved)).selection.alternatives()
    assert again.subsets == near.subsets


def told(*supports, values=None, bound=0.99, within=0.01, d=3, names="abcdef", optimal=True):
    values = [1 - 0.001 * number for number in range(len(supports))] if values is None else values
    collected = Collected(
        tuple(np.array([names.index(each) for each in support]) for support in supports),
        np.array(values),
        bound,
        interrupted=False,
    )
    return Alternatives.of(
        collected, names, value=1.0, is_optimal=optimal, within=within, n_variables=d, seconds=0.1
    )


def test_words():
    assert told("abc", "abd").description() == (
        "2 subsets of 3 variables are within 1 % of the best (proved to be all of at most "
        "3 variables): a, b in all of them; one of c or d in all"
    )
    assert told("ab", "acd").description() == (
        "2 subsets of 2 to 3 variables are within 1 % of the best, and every subset of at most "
        "3 variables that is contains one of them (proved): a in all of them"
    )
    assert told("abc").description() == (
        "No other subset of at most 3 variables is within 1 % of the best (proved)"
    )
    assert told("ab", values=[0.995]).description() == (
        "a and b alone are within 1 % of the best (99.5 %), and every subset of at most "
        "3 variables that is contains them (proved)"
    )
    stopped = told("abc", "abd", bound=0.996)
    assert not stopped.complete
    assert stopped.reach == pytest.approx(0.004)
    assert stopped.description().startswith(
        "At least 2 subsets of 3 variables are within 1 % of the best; proved to be all within "
        "0.4 %; a longer time_limit may prove more: a, b in all"
    )
    unproved = told("abc", optimal=False)
    assert unproved.reach is None
    assert "At least 1 subset of 3 variables is within" in unproved.description()
    assert "not proved to be all" in unproved.description()


def test_a_summary_lists_twenty():
    names = "abcdefghijklmnopqrstuvwxyz"
    many = told(*names[:25], names=names, d=1, within=0.05, bound=0.95)
    text = many.summary().splitlines()
    assert len(text) == 1 + 20 + 2
    assert text[1] == "  100.0 %  a"
    assert text[-2] == "  and 5 more"
    assert text[-1] == "In none: z."
    assert repr(many) == "<Alternatives within 5 %: 25, complete>"


def test_messages():
    x, y = tables(3)
    chosen = ta.select_variables(x, y, 2)
    with pytest.raises(InputError, match="within must be"):
        chosen.alternatives(within=1)
    with pytest.raises(InputError, match="time_limit must be"):
        chosen.alternatives(time_limit=0)
    annealed = ta.select_variables(x, y, 2, kernel="gaussian", regularization=0.1)
    with pytest.raises(InputError, match=r"has no problem to search: .* a kernel other than"):
        annealed.alternatives()
