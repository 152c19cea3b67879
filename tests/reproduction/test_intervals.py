import pytest
from scipy import stats

from tellapart.reproduction.intervals import Share


@pytest.mark.parametrize(("hits", "trials"), [(0, 20), (1, 20), (50, 100), (99, 100), (100, 100)])
def test_interval_is_wilsons(hits, trials):
    expected = stats.binomtest(hits, trials).proportion_ci(method="wilson")
    share = Share(hits, trials)
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert share.low <= share.value <= share.high


def test_text_holds_share_and_interval():
    assert Share(1, 2).text == "0.50 [0.09, 0.91]"
