import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.curves import Share

Z2 = 1.959963984540054**2


@given(st.data())
def test_interval_is_wilsons(data):
    k = data.draw(st.integers(1, 5_000))
    p = data.draw(st.integers(0, k)) / k
    share = Share(round(p * k), k)
    centre, half = p + Z2 / (2 * k), (Z2 * (p * (1 - p) / k + Z2 / (4 * k**2))) ** 0.5
    ends = (centre - half) / (1 + Z2 / k), (centre + half) / (1 + Z2 / k)
    assert (share.low, share.high) == pytest.approx(ends, abs=1e-12)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert (share.low == 0) == (p == 0)
    assert (share.high == 1) == (p == 1)


def test_text_holds_share_and_interval():
    assert Share(1, 2).text == "0.50 [0.09, 0.91]"
