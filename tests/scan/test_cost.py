"""The cost model: it grows as the work does, and knows what is left out of wide tables."""

from dataclasses import replace

from tellapart.scan.scan import ScanCost

COST = ScanCost(10**6, 10**6, 100)


def test_time_grows_no_faster_than_rows():
    ten = replace(COST, n_x=10**7, n_y=10**7)
    assert 5 < ten.seconds() / COST.seconds() <= 10.01


def test_threads_share_all_but_the_start():
    assert COST.seconds(2) < 0.6 * COST.seconds(1)


def test_what_is_sent_does_not_grow_with_the_rows():
    assert replace(COST, n_x=10**9, n_y=10**9).bytes_of_sums == COST.bytes_of_sums


def test_wide_tables_have_a_bounded_number_of_products():
    wide, wider = (replace(COST, n_columns=d) for d in (5_000, 50_000))
    assert wide.n_products == wider.n_products


def test_memory_does_not_grow_with_the_rows_once_they_are_drawn():
    assert COST.bytes_held == replace(COST, n_x=10**9, n_y=10**9).bytes_held
    assert COST.bytes_held < 2e9


def test_workers_share_the_rows_and_lanes_are_sent_once():
    large = replace(COST, n_x=10**8, n_y=10**8)
    assert large.cluster_seconds(64) < 0.1 * large.cluster_seconds(1)
    assert large.cluster_seconds(64) == large.cluster_seconds(1_000)
    assert large.n_lanes == 64
    assert large.bytes_sent == 64 * large.bytes_of_sums
