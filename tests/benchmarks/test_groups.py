"""The benchmark of groups: markers that were put in are what is counted."""

import numpy as np
import pytest

import bench_groups


def test_markers_are_higher_in_their_type_and_counted():
    cells = bench_groups.make_cells(400, 100)
    values = cells.counts.toarray()
    for kind, markers in cells.markers.items():
        own = cells.kind == kind
        columns = [cells.genes.index(name) for name in markers]
        assert values[own][:, columns].mean() > values[~own][:, columns].mean()
    all_found = {kind: sorted(markers) for kind, markers in cells.markers.items()}
    number = dict.fromkeys(cells.markers, bench_groups.N_MARKERS)
    assert bench_groups.found_share(cells, all_found, number) == 1.0
    assert bench_groups.found_share(cells, {}, number) == 0.0


@pytest.mark.long
def test_tellapart_finds_most_of_them():
    cells = bench_groups.make_cells(600, 90, seed=1)
    found = bench_groups.compare(cells)
    number = {kind: len(found.get(kind, [])) for kind in cells.markers}
    assert np.mean(list(number.values())) > 3
    assert bench_groups.found_share(cells, found, number) > 0.5
