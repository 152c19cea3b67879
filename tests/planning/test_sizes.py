import pytest

from tellapart.planning.settings import FEWEST, Sizes


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("size", [50.0, 77.7, 1000.0])
def test_rows_are_the_fewest_of_an_effective_size(ratio, size):
    sizes = Sizes(ratio)
    m, n = sizes.rows(size)
    assert 2 * m * n / (m + n) >= size - 1e-6
    fewer = m - 1
    assert 2 * fewer * ratio * fewer / (fewer + ratio * fewer) < size


def test_there_are_always_rows():
    assert min(Sizes(0.01).rows(0.0)) >= FEWEST["scan"]
    assert Sizes(1.0, FEWEST["split"]).smallest == FEWEST["split"]
