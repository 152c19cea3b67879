"""Groups compared by scans: what differs is told, and two rows are enough."""

from dataclasses import replace
from html import escape

import numpy as np
import pyarrow as pa
import pytest

import tellapart as ta
from tellapart.groups.runs import comparison_seed

KINDS = np.repeat(["B", "NK", "T"], [40, 50, 60])


def values():
    """T stands out in the third column; B and NK are alike."""
    x = np.random.default_rng(1).normal(size=(150, 3))
    x[KINDS == "T", 2] += 3
    return x


def table():
    x = values()
    return pa.table({"kind": KINDS, "u": x[:, 0], "v": x[:, 1], "w": x[:, 2]})


@pytest.fixture(scope="module")
def scanned():
    return ta.compare_groups(table(), by="kind", mode="pairwise", random_state=0)


def test_the_scan_says_what_differs(scanned):
    assert scanned.settings["method"] == "scan"
    assert [c.difference for c in scanned.comparisons] == [
        "",
        "One mean differs (w).",
        "One mean differs (w).",
    ]
    assert scanned.to_frame()["findings"].to_pylist() == [c.difference for c in scanned.comparisons]
    assert "B and T: One mean differs (w).\n" in scanned.summary()
    assert scanned.comparisons[1].n_rows == (40, 60)
    stored = scanned.to_dict()["comparisons"][1]
    assert stored["findings"] == "One mean differs (w)."
    assert stored["result"]["scan"]["findings"][0]["variables"] == ["w"]
    single = ta.two_sample_test(
        values()[KINDS == "B"], values()[KINDS == "T"], random_state=comparison_seed(0, "B", "T")
    )
    assert scanned.results["B", "T"].pvalue == single.pvalue


def test_the_page_tells_what_differs_between_each_two_groups(scanned):
    page = scanned.to_html()
    assert page.count("One mean differs (w).") == 2
    for finding in scanned.results["B", "T"].findings:
        assert escape(finding.summary()) in page
    assert page.count('<ul class="findings">') == 2


def test_a_comparison_tells_no_more_than_holm_allows(scanned):
    clear = scanned.comparisons[1]
    assert replace(clear, adjusted_pvalue=0.06).difference == ""


def test_results_of_a_scan_hold_the_columns_they_name():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 4))
    x[:150, 1] = 0.9 * x[:150, 0] + 0.4 * x[:150, 1]
    by = np.repeat(["a", "b"], 150)
    result = ta.compare_groups(x, by=by, mode="pairwise", kernel="linear", random_state=0)
    test = result.results["a", "b"]
    assert {"x0", "x1"} in [set(finding.variables) for finding in test.findings]
    assert test.held_out.x[:, [0, 1]].shape == (150, 2)


def test_two_rows_are_enough_for_a_scan():
    kinds = KINDS.astype("U4")
    kinds[:2], kinds[2] = "few", "one"
    data = table().set_column(0, "kind", pa.array(kinds))
    result = ta.compare_groups(data, by="kind", random_state=0)
    assert [c.group for c in result.comparisons] == ["B", "NK", "T", "few"]
    assert result.comparisons[-1].n_rows == (2, 148)
    assert "one has 1 row, fewer than the 2 that a test needs" in result.summary()
