"""Designs: what moves together, what may trade labels, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.errors import InputError


def read(n_x, n_y, missing="error", **asked):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n_x, 2)), rng.normal(size=(n_y, 2))
    return read_samples(x, y, missing=missing, design=DesignArguments(**asked))


def test_rows_of_strata_are_units_of_their_own():
    design = read(4, 3, strata=(list("aabb"), list("abb"))).design
    assert design.n_blocks == 2
    assert design.n_units == (4, 3)
    assert design.describe() == "permuted within 2 strata"


def test_a_stratum_of_one_sample_is_left_out_and_counted():
    with pytest.warns(UserWarning, match="strata leave out 3 of 9 rows"):
        samples = read(5, 4, strata=(list("aabbc"), list("abdd")))
    assert samples.design.left_out == (1, 2)
    assert (samples.n_x, samples.n_y) == (4, 2)
    assert "1 rows of X and 2 of Y" in samples.design.describe_left_out()


def test_nothing_left_to_permute_is_an_error():
    with pytest.raises(InputError, match="strata must have rows of both samples"):
        read(4, 4, strata=(list("aabb"), list("ccdd")))


def test_pairs_by_row_need_as_many_rows():
    assert read(4, 4, paired=True).design.describe() == "4 pairs swapped"
    with pytest.raises(InputError, match=r"as many rows of X as of Y.*got 4 and 3"):
        read(4, 3, paired=True)


def test_keys_without_a_partner_are_an_error_or_left_out():
    keys = ([1, 2, 3, 4], [4.0, 3.0, 2.0, 9.0])
    with pytest.raises(InputError, match="1 keys of X are not in Y and 1 of Y are not in X"):
        read(4, 4, paired=keys)
    samples = read(4, 4, "drop-rows", paired=keys)
    assert samples.design.n_blocks == 3
    assert samples.design.left_out == (1, 1)


def test_several_rows_of_a_key_are_one_unit():
    design = read(5, 4, paired=(list("aabbc"), list("abbc"))).design
    assert design.n_units == (3, 3)


def test_clusters_in_both_samples_are_refused_with_the_way_out():
    with pytest.raises(
        InputError, match=r"1 of 3 have rows in both: pass the labels as paired .*as strata"
    ):
        read(4, 3, clusters=(list("aabb"), list("bcc")))


def test_clusters_must_lie_within_strata():
    clusters = (list("aabb"), list("ccdd"))
    with pytest.raises(InputError, match=r"clusters must lie within strata.*1 of 4"):
        read(4, 4, clusters=clusters, strata=(list("ppqq"), list("pqpp")))
    design = read(4, 4, clusters=clusters, strata=(list("ppqq"), list("ppqq"))).design
    assert design.describe() == "4 whole clusters permuted within 2 strata"


def test_pairs_must_lie_within_strata():
    with pytest.raises(InputError, match=r"pairs must lie within strata.*2 of 4"):
        read(4, 4, paired=True, strata=(list("ppqq"), list("pqpq")))
    assert read(4, 4, paired=True, strata=(list("ppqq"), list("ppqq"))).design.n_blocks == 4


def test_pairs_that_share_a_cluster_are_swapped_together():
    design = read(6, 6, paired=True, clusters=(list("aabbcc"), list("aabbcc"))).design
    assert design.n_blocks == 3
    # A cluster of X that is matched with two of Y ties them together.
    design = read(4, 4, paired=True, clusters=(list("aabb"), list("cdee"))).design
    assert design.n_blocks == 2


def test_missing_labels_are_an_error_or_left_out():
    labels = (["a", None, "b", "b"], ["a", "b", "b", float("nan")])
    with pytest.raises(InputError, match="1 missing in X and 1 in Y"):
        read(4, 4, strata=labels)
    samples = read(4, 4, "drop-rows", strata=labels)
    assert (samples.n_x, samples.n_y) == (3, 3)
    assert samples.dropped_rows == (1, 1)


def test_rows_with_a_gap_take_their_partner_along():
    x, y = np.arange(8.0).reshape(4, 2), np.arange(8.0).reshape(4, 2)
    x[1, 0] = np.nan
    samples = read_samples(x, y, missing="drop-rows", design=DesignArguments(paired=True))
    assert samples.y[:, 0].tolist() == [0.0, 4.0, 6.0]
    assert samples.design.left_out == (0, 1)


@pytest.mark.parametrize(
    "asked",
    [
        {"paired": True},
        {"strata": (np.arange(40) % 3, np.arange(40) % 3)},
        {"strata": (np.arange(40) // 2, np.arange(40) // 2)},
        {"clusters": (np.arange(40) // 4, 50 + np.arange(40) // 4)},
    ],
)
def test_a_split_tears_no_pair_and_no_cluster(asked):
    samples = read(40, 40, **asked)
    train, test = samples.split(0.5, np.random.default_rng(1))
    for side in range(2):
        assert not set(train.design.units[side]) & set(test.design.units[side])
    if samples.design.paired is not None:
        assert not set(train.design.blocks[0]) & set(test.design.blocks[1])
    assert min(train.n_x, train.n_y, test.n_x, test.n_y) >= 8
    assert all(inside.all() for inside in test.design.informative())


def test_too_few_clusters_cannot_be_split():
    samples = read(6, 6, clusters=(np.arange(6) // 2, 9 + np.arange(6) // 2))
    with pytest.raises(InputError, match=r"clusters enough to be split.*method='scan'"):
        samples.split(0.5, np.random.default_rng(0))


def test_a_draw_takes_whole_pairs_and_clusters():
    pairs = read(50, 50, paired=True).draw(20, np.random.default_rng(0))
    assert np.array_equal(np.sort(pairs.design.blocks[0]), np.sort(pairs.design.blocks[1]))
    assert pairs.n_x == pairs.n_y == 20
    clusters = (np.arange(60) // 6, 99 + np.arange(60) // 6)
    drawn = read(60, 60, clusters=clusters).draw(20, np.random.default_rng(0))
    assert np.unique(drawn.design.units[0], return_counts=True)[1].tolist() == [6, 6, 6]


def test_a_column_that_is_constant_within_strata_is_left_out_with_a_note():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 60)
    table = pd.DataFrame({"age": rng.normal(size=60), "sex": sex, "code": 10.0 - 3 * sex})
    strata = DesignArguments(strata=(sex[:30], sex[30:]))
    samples = read_samples(table[:30], table[30:], design=strata)
    assert samples.names == ("age",)
    assert samples.notes.fixed == {"strata": ("sex", "code")}
    assert samples.notes.lines() == [
        "Excluded: 'sex', 'code': they are constant within all strata, and so cannot differ under "
        "the design."
    ]


def test_a_column_that_is_equal_in_both_members_of_all_pairs_is_left_out():
    rng = np.random.default_rng(0)
    same = rng.normal(size=20)
    x, y = (np.column_stack([same, rng.normal(size=20)]) for _ in range(2))
    samples = read_samples(x, y, design=DesignArguments(paired=True))
    assert samples.notes.fixed == {"pairs": ("x0",)}
    # Clusters are permuted across all rows: what is constant within each may well differ.
    clusters = np.repeat(np.arange(10), 2)
    flag = (clusters % 3 == 0).astype(float)
    both = np.column_stack([flag, rng.normal(size=20)])
    kept = read_samples(both, both, design=DesignArguments(clusters=(clusters, 10 + clusters)))
    assert kept.names == ("x0", "x1")


def test_strata_that_leave_out_many_rows_are_warned_of():
    labels = [*"aabbccddeeffgghhii", "x"], [*"aabbccddeeffgghhii", "y"]
    with warnings.catch_warnings(action="error"):
        read(19, 19, strata=labels)  # 2 of 38
    with pytest.warns(UserWarning, match=r"strata leave out 4 of 12 rows: .*; 4 and 4 rows are"):
        read(6, 6, strata=(list("aabbxx"), list("aabbyy")))


def test_the_warning_suggests_bands_of_the_column():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"age": rng.normal(size=30).round(1), "v": range(30)}) for _ in "xy"]
    with pytest.warns(UserWarning, match=r"Use wider strata, such as bands of 'age'\."):
        read_samples(*tables, design=DesignArguments(strata="age"))
