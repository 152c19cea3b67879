"""The scan as a whole: it sees each kind of difference, names it, and keeps its level."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.data.reader import read_samples
from tellapart.errors import InputError
from tellapart.scan.families import FAMILIES
from tellapart.scan.scan import scan


def run(x, y, n_permutations=199, seed=0, missing="error", **settings):
    return scan(
        read_samples(x, y, missing=missing),
        n_permutations=n_permutations,
        alpha=0.05,
        rng=np.random.default_rng(seed),
        **settings,
    )


def _normal(rows=150, columns=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns)), rng


def _shift(x, rng):
    x[:, 2] += 1.0


def _spread(x, rng):
    x[:, 2] *= 2.0


def _skew(x, rng):
    x[:, 2] = rng.exponential(size=len(x)) - 1


def _lump(x, rng):
    x[rng.random(len(x)) < 0.3, 2] = 0.0


def _correlation(x, rng):
    x[:, 3] = 0.8 * x[:, 2] + 0.6 * x[:, 3]


def _ring(x, rng):
    angle = rng.uniform(0, 2 * np.pi, len(x))
    x[:, 2] = np.cos(angle) * 1.4 + 0.2 * x[:, 2]
    x[:, 3] = np.sin(angle) * 1.4 + 0.2 * x[:, 3]


def _triple(x, rng):
    x[:, 4] = np.abs(x[:, 4]) * np.sign(x[:, 2] * x[:, 3])


@pytest.mark.parametrize(
    ("change", "family", "kind", "variables"),
    [
        (_shift, "location", "location", ("x2",)),
        (_spread, "shape", "spread", ("x2",)),
        (_skew, "shape", "shape", ("x2",)),
        (_correlation, "correlation", "correlation", ("x2", "x3")),
        (_ring, "pair", "dependence", ("x2", "x3")),
        (_triple, "triple", "triple", ("x2", "x3", "x4")),
    ],
)
def test_each_kind_of_difference_is_seen_and_named(change, family, kind, variables):
    x, y, rng = _normal()
    change(x, rng)
    found = run(x, y)
    assert found.null.pvalue <= 0.02
    assert found.families[family] == 1 / 200
    assert (kind, variables) in [(f.kind, f.variables) for f in found.findings]


def test_a_frequent_value_is_named_by_its_proportion():
    x, y, rng = _normal()
    _lump(x, rng)
    found = run(x, y)
    lump = next(f for f in found.findings if f.variables == ("x2",))
    assert lump.kind == "shape"
    assert lump.measure == "proportion of 0"
    assert lump.values[0] > 0.2
    assert lump.values[1] == 0


def test_sizes_are_right_and_directions_too():
    x, y, _ = _normal(rows=2000)
    x[:, 0] -= 1.0
    x[:, 1] *= 1.5
    x[:, 3] = 0.6 * x[:, 2] + 0.8 * x[:, 3]
    by_kind = {f.kind: f for f in run(x, y).findings}
    assert abs(by_kind["location"].effect + 1.0) < 0.1
    assert abs(by_kind["spread"].effect - 1.5) < 0.1
    assert abs(by_kind["correlation"].effect - 0.6) < 0.08
    for finding in by_kind.values():
        low, high = finding.interval
        assert low < finding.effect < high


def test_shares_of_categories_are_named_by_their_level():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {"c": rng.choice(list("abc"), 200, p=[0.6, 0.2, 0.2]), "v": rng.normal(size=200)}
    )
    y = pd.DataFrame(
        {"c": rng.choice(list("abc"), 200, p=[0.2, 0.4, 0.4]), "v": rng.normal(size=200)}
    )
    found = run(x, y).findings
    assert [(f.kind, f.variables, f.measure) for f in found] == [
        ("share", ("c",), "proportion of 'a'")
    ]
    assert found[0].effect > 0.25


def test_dependence_of_categories_is_seen():
    rng = np.random.default_rng(1)

    def table(share):
        one, other = rng.choice(list("abc"), 250), rng.choice(list("abc"), 250)
        same = rng.random(250) < share
        return pd.DataFrame({"a": one, "b": np.where(same, one, other), "v": rng.normal(size=250)})

    found = run(table(0.6), table(0.0))
    assert ("correlation", {"a", "b"}) in [(f.kind, set(f.variables)) for f in found.findings]


def test_a_shift_of_copies_is_no_change_of_their_dependence():
    rng = np.random.default_rng(0)
    x, y = (np.repeat(rng.normal(size=(80, 1)), 3, axis=1) for _ in range(2))
    assert {f.kind for f in run(x + 1, y).findings} == {"location"}


def test_nothing_is_named_where_the_samples_do_not_differ():
    x, y, _ = _normal(seed=3)
    found = run(x, y)
    assert found.null.pvalue > 0.05
    assert found.findings == ()
    assert min(found.variable_pvalues.values()) >= found.null.pvalue


def test_no_column_is_surer_than_the_scan():
    x, y, rng = _normal()
    _shift(x, rng)
    found = run(x, y)
    assert list(found.variable_pvalues) == [f"x{s}" for s in range(12)]
    assert found.variable_pvalues["x2"] == found.null.pvalue
    assert all(p >= found.null.pvalue for p in found.variable_pvalues.values())


def test_few_rows_are_enumerated_and_the_p_value_is_exact():
    rng = np.random.default_rng(0)
    found = run(rng.normal(size=(5, 3)) + 9, rng.normal(size=(5, 3)), 999)
    assert found.null.exact
    assert found.null.n_permutations == 252
    # Exchanged labels of equally large samples are a tie.
    assert found.null.pvalue == 2 / 252


def test_samples_may_be_exchanged():
    x, y, rng = _normal(rows=40)
    _shift(x, rng)
    one, other = run(x, y, 999), run(y, x, 999)
    np.testing.assert_allclose(one.null.statistic, other.null.statistic, rtol=0.2)
    assert one.findings[0].effect == pytest.approx(-other.findings[0].effect)


def test_threads_do_not_change_the_answer():
    x, y, rng = _normal(rows=80, columns=20)
    _correlation(x, rng)
    one, other = run(x, y, n_jobs=1), run(x, y, n_jobs=3)
    assert one.null.pvalue == other.null.pvalue
    assert one.families == other.families
    np.testing.assert_array_equal(one.null.null_distribution, other.null.null_distribution)
    assert [f.to_dict() for f in one.findings] == [f.to_dict() for f in other.findings]


def test_identical_samples_have_p_1():
    x, _, _ = _normal(rows=30)
    assert run(x, x).null.pvalue == 1.0


def test_a_constant_table_is_refused():
    with pytest.raises(InputError, match="must have a column that varies; all 2 are constant"):
        run(np.ones((5, 2)), np.ones((6, 2)))


def test_more_permutations_than_memory_holds_are_refused():
    x, y, _ = _normal(rows=20, columns=400)
    with pytest.raises(InputError, match="n_permutations must be at most"):
        run(x, y, n_permutations=500_000)


def test_every_family_has_a_weight():
    x, y, _ = _normal(rows=30)
    names = {family.name for family in FAMILIES}
    assert set(run(x, y).families) == names - {"missing", "values"}
    x[0, 0] = np.nan
    assert set(run(x, y, missing="pairwise").families) == names - {"values"}


@pytest.mark.parametrize("pairs", [50, pytest.param(300, marks=pytest.mark.long)])
def test_the_level_is_kept(pairs):
    rng = np.random.default_rng(11)
    rejected, named = 0, 0
    for _ in range(pairs):
        pooled = np.column_stack([rng.standard_t(2, size=(50, 4)), rng.poisson(1, size=(50, 3))])
        found = run(pooled[:20], pooled[20:], 99, seed=int(rng.integers(2**32)))
        rejected += found.null.pvalue <= 0.05
        named += bool(found.findings)
    assert rejected <= stats.binom.isf(1e-4, pairs, 0.05)
    assert named <= rejected
