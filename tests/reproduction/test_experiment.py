from reproduction.store import Scale, seed_of


def test_scale_counts_and_chooses():
    assert [Scale().count(9), Scale(quick=True).count(9), Scale(trials=4).count(9)] == [9, 2, 4]
    assert Scale().chosen("abc") == ["a", "b", "c"]
    assert Scale(methods=("c", "a")).chosen("abc") == ["a", "c"]


def test_seeds_differ_by_name_and_by_trial():
    seeds = {seed_of("power", case, trial) for case in "ab" for trial in range(50)}
    assert len(seeds) == 100
