"""Columns of two answers are told by the one that says yes, in findings, choices and groups."""

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.data.columns import PAIRS, place_of_yes


@pytest.mark.parametrize(("no", "yes"), PAIRS)
def test_every_pair_in_either_order(no, yes):
    assert place_of_yes([no, yes.title()]) == 1
    assert place_of_yes([yes.upper(), no]) == 0
    assert place_of_yes([no, "maybe"]) is None


def sample(n, share, seed, answers):
    rng = np.random.default_rng(seed)
    says = rng.random(n) < share
    return pd.DataFrame(
        {"smoker": np.array(answers)[says.astype(int)], "u": rng.normal(size=n), "says": says}
    )


@pytest.mark.parametrize("answers", [(False, True), ("no", "yes"), ("N", "Y"), ("male", "female")])
def test_shares(answers):
    x, y = sample(300, 0.1, 0, answers), sample(250, 0.4, 1, answers)
    result = ta.two_sample_test(x[["smoker", "u"]], y[["smoker", "u"]], random_state=0)
    (found,) = [finding for finding in result.findings if finding.kind == "share"]
    told = answers[1] if answers[1] != "female" else "male"  # the more frequent, as ever
    assert found.measure == ("proportion of 'male'" if told == "male" else "prevalence")
    shares = x["smoker"].eq(told).mean(), y["smoker"].eq(told).mean()
    assert found.values == pytest.approx(shares, abs=1e-6)
    assert found.effect == pytest.approx(shares[0] - shares[1], abs=1e-6)
    assert found.interval[0] <= found.effect <= found.interval[1]
    assert result.selection.changes["smoker"].measure == found.measure


def test_a_correlation_has_the_sign_of_yes():
    x, y = sample(400, 0.2, 0, (False, True)), sample(400, 0.2, 1, (False, True))
    x["u"] += 3.0 * x["says"]
    x["u"] -= x["u"].mean()
    columns = ["smoker", "u"]
    result = ta.two_sample_test(x[columns], y[columns], random_state=0)
    (found,) = [f for f in result.findings if f.kind == "correlation"]
    assert "smoker = True" in found.measure
    # The first is that of X, where the rows that say yes are higher.
    assert found.values[0] > 0.5 > abs(found.values[1])
    assert found.effect == pytest.approx(found.values[0] - found.values[1])


def test_groups():
    both = pd.concat([sample(150, 0.1, 0, (False, True)), sample(150, 0.6, 1, (False, True))])
    both["kind"] = np.repeat(["a", "b"], 150)
    result = ta.compare_groups(both[["kind", "smoker", "u"]], by="kind", random_state=0)
    assert "smoker = True" in result.profile.variables
    assert "prevalence" in result.summary()
