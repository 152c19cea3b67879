"""Findings that repeat one cause are gathered, and counted exactly."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.report.page import render_page
from tellapart.results.gathered import Gathered, describe_gathered, gather_findings
from tellapart.scan.finding import Finding


def found(kind, variables, effect=0.5):
    return Finding(kind, variables, 0.001, effect, (0.1, 0.9), (0.0, 0.0), "measure")


@pytest.fixture(scope="module")
def result():
    """A result whose columns a0 … a4 have one cause, b0 and b1 another; the others have none."""
    rng = np.random.default_rng(0)
    frames = []
    for shift in (0.0, 1.5):
        cause, other = rng.normal(size=(2, 80)) + shift
        table = {f"a{k}": cause + 0.3 * rng.normal(size=80) for k in range(4)}
        table["a4"] = -cause + 0.3 * rng.normal(size=80)
        table |= {f"b{k}": other + 0.2 * rng.normal(size=80) for k in range(2)}
        table |= {f"n{k}": rng.normal(size=80) for k in range(2)}
        frames.append(pd.DataFrame(table))
    return ta.two_sample_test(*frames, n_permutations=99, random_state=0)


def with_findings(result, findings):
    scan = replace(result.scan, findings=tuple(findings))
    return replace(result, scan=scan, pvalue=0.01)


def test_columns_of_one_cause_move_together(result):
    (group,) = [group for group in gather_findings(result) if group.kind == "location"]
    assert set(group.variables) == {"a0", "a1", "a2", "a3", "a4"}
    named = {result.findings[k].variables for k in group.findings}
    assert named == {(name,) for name in group.variables}
    # The rank correlation within samples, signs aligned, is that of SciPy.
    raw = pd.DataFrame(
        np.vstack([result.held_out.x, result.held_out.y]), columns=result.held_out.names
    )
    ranks = raw.apply(stats.rankdata)
    centred = ranks - ranks.groupby(np.repeat([0, 1], 80)).transform("mean")
    correlation = centred[list(group.variables)].corr().abs().to_numpy()
    mean = correlation[np.triu_indices(5, 1)].mean()
    assert group.correlation == pytest.approx(mean)
    assert f"five columns move together: {group.column}, " in group.summary()


def test_columns_that_move_against_their_correlation_are_apart(result):
    findings = [found("location", (f"a{k}",)) for k in range(4)]
    (group,) = gather_findings(with_findings(result, findings))
    assert group.variables == ("a0", "a1", "a2", "a3")
    # a4 is correlated negatively: with the same sign it goes against the others.
    findings.append(found("location", ("a4",)))
    assert gather_findings(with_findings(result, findings))[0].variables == group.variables
    findings[-1] = found("location", ("a4",), -0.5)
    assert len(gather_findings(with_findings(result, findings))[0].variables) == 5


def test_pairs_that_share_a_column_are_counted(result):
    pairs = [("n0", "a0"), ("b0", "n1"), ("n0", "b1"), ("b0", "a3"), ("n0", "n1")]
    findings = [found("correlation", pair) for pair in pairs]
    (group,) = gather_findings(with_findings(result, findings))
    assert (group.column, group.findings, group.variables) == ("n0", (0, 2, 4), ("n0",))
    assert group.summary() == "three correlations all contain n0"


def test_columns_that_move_together_count_as_one_in_pairs(result):
    means = [found("location", (f"a{k}",)) for k in range(4)]
    pairs = [("n0", "a0"), ("a1", "n1"), ("a2", "a3"), ("b0", "b1")]
    groups = gather_findings(
        with_findings(result, means + [found("correlation", pair) for pair in pairs])
    )
    moving, sharing = groups
    assert moving.findings == (0, 1, 2, 3)
    assert sharing.findings == (4, 5, 6)
    assert set(sharing.variables) == {"a0", "a1", "a2", "a3"}
    assert sharing.summary().endswith("or one of 3 columns that move with it")


def test_nothing_is_gathered_of_few_or_of_nothing(result):
    assert gather_findings(with_findings(result, [found("location", ("a0",))])) == ()
    alike = replace(result, pvalue=0.9)
    assert gather_findings(alike) == ()
    assert describe_gathered(()) == ""


def test_summary_page_and_json_have_it(result):
    sentence = describe_gathered(result.gathered)
    assert sentence.startswith("In short: ")
    assert result.story()[1] == sentence
    assert sentence in result.summary()
    page = render_page(result, result.page_data(stability=False))
    assert sentence in page
    stored = json.loads(result.to_json())["gathered"]
    assert stored[0]["findings"] == list(result.gathered[0].findings)


def test_the_sentence_has_the_largest_groups():
    groups = [Gathered("triple", f"c{k}", (1, 2, 3), (f"c{k}",)) for k in range(6)]
    sentence = describe_gathered(groups)
    assert sentence.count("three three-way interactions all contain") == 4
    assert sentence.endswith("; 2 smaller groups.")


def test_it_does_not_depend_on_the_order_of_columns(result):
    order = result.held_out.names[::-1]
    turned = replace(
        result, held_out=result.held_out.columns([result.held_out.names.index(n) for n in order])
    )
    assert [set(group.variables) for group in gather_findings(turned)] == [
        set(group.variables) for group in gather_findings(result)
    ]
