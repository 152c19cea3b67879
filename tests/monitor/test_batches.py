"""Batches as units: measures, ranks, alarms under batch effects, names, and the stored state."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.data.samples import CodedRows
from tellapart.monitor.batch_monitor import BatchMonitor, stream_weights
from tellapart.monitor.batch_summary import BatchPool, BatchSummary, Layout, standardised
from tellapart.monitor.betting import Ever, Rate, Streams
from tellapart.monitor.state import checksum


def day(seed, n=40, effect=1.0, shift=0.0, spread=1.0):
    """Return rows of a day, which has an effect of its own on every column."""
    rng = np.random.default_rng(seed)
    own = effect * rng.normal(size=2)
    return pd.DataFrame(
        {
            "a": own[0] + shift + spread * rng.normal(size=n),
            "b": own[1] + rng.normal(size=n),
            "g": rng.choice(list("uvw"), n, p=rng.dirichlet([30, 30, 30])),
        }
    )


def month(seed, n_days=30, **settings):
    days = [day([seed, k], **settings).assign(day=f"d{k}") for k in range(n_days)]
    return pd.concat(days, ignore_index=True)


@pytest.fixture(scope="module")
def reference():
    return month(0)


def coded(table, missing=False):
    levels = {"g": tuple(sorted(table["g"].dropna().unique()))}
    codes = pd.Categorical(table["g"], categories=levels["g"]).codes.astype(float)
    codes[codes < 0] = np.nan
    values = np.column_stack([table["a"], table["b"], codes])
    rows = CodedRows(values, ("a", "b", "g"), ("numeric", "numeric", "categorical"), levels)
    return rows, Layout(rows.names, rows.kinds, missing)


def l_skewness(values):
    """By the definition over all triples."""
    pairs = [abs(x - y) / 2 for x, y in itertools.combinations(values, 2)]
    triples = [np.sort(t) for t in itertools.combinations(values, 3)]
    return np.mean([(t[2] - 2 * t[1] + t[0]) / 3 for t in triples]) / np.mean(pairs)


def test_measures_are_those_of_pandas_and_scipy():
    table = day(3, n=15)
    table.loc[2, "a"] = np.nan
    rows, layout = coded(table, missing=True)
    summary = BatchSummary.of(rows, layout)
    found = dict(zip(((m.kind, m.variables) for m in layout.measures), summary.values, strict=True))
    for name in "ab":
        assert found["location", (name,)] == pytest.approx(table[name].mean())
        assert math.exp(found["spread", (name,)]) == pytest.approx(table[name].std())
        assert found["shape", (name,)] == pytest.approx(l_skewness(table[name].dropna()))
        assert found["missing", (name,)] == table[name].isna().mean()
    complete, layout = coded(day(3, n=15))
    z = BatchSummary.of(complete, layout).values[-1]
    table = day(3, n=15)
    assert math.tanh(z) == pytest.approx(stats.spearmanr(table["a"], table["b"]).statistic)
    shares = table["g"].value_counts(normalize=True)
    assert BatchSummary.of(complete, layout).levels["g"] == pytest.approx(shares.to_dict())


def test_a_measure_that_varies_must_deviate_more():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=41), 10 * rng.normal(size=41)])
    values[-1] = [8.0, 8.0]
    z = standardised(values, np.full((41, 2), 0.01))
    assert z[-1, 0] > 5 > z[-1, 1]
    assert standardised(np.array([[1.0], [1.0], [2.0]]), np.zeros((3, 1)))[:, 0].tolist()[:2] == [
        0,
        0,
    ]


def test_ranks_are_uniform_and_independent():
    """Ranks of any symmetric score: each value of p is as likely, whatever came before."""
    rng = np.random.default_rng(1)
    layout = Layout(("a",), ("numeric",), missing=False)
    first, second = [], []
    for _ in range(300):
        scale = np.exp(rng.normal(size=11))[:, np.newaxis]  # batches of different sizes
        values = scale * rng.standard_t(2, size=(11, 3))
        batches = [BatchSummary(5, one, np.full(3, 0.1), {}) for one in values]
        for found, end in ((first, 10), (second, 11)):
            found.append(BatchPool(layout, tuple(batches[:end])).score().streams)
    for found, n in ((np.array(first), 10), (np.array(second), 11)):
        for stream in range(found.shape[1]):
            counts = np.bincount(np.rint(found[:, stream] * n).astype(int), minlength=n + 1)[1:]
            assert stats.chisquare(counts).pvalue > 1e-4
    # Neither of them is any help in guessing the other.
    for stream in (0, 1, 4):
        assert (
            abs(stats.spearmanr(np.array(first)[:, stream], np.array(second)[:, stream])[0]) < 0.17
        )


@pytest.mark.parametrize(("promise", "most"), [(Ever(0.2), 0.2), (Rate(100.0), 30 / 200)])
def test_streams_keep_their_promise_on_uniform_ranks(promise, most):
    rng = np.random.default_rng(2)
    layout = Layout(("a", "b"), ("numeric", "numeric"), missing=False)
    weights = stream_weights(layout)
    alarms = 0
    for _ in range(80):
        streams = Streams.start(promise, weights)
        for k in range(30):
            ranks = rng.integers(1, 22 + k, size=weights.size) / (21 + k)
            streams = streams.after(ranks, 21 + k)
            if streams.enough:
                alarms += 1
                break
    assert alarms / 80 <= most + 3 * math.sqrt(most * (1 - most) / 80)


def test_batches_that_vary_raise_no_alarm_where_rows_do(reference):
    by_rows = ta.compare_to_reference(
        reference.drop(columns="day"), n_permutations=99, random_state=0
    )
    by_batches = ta.compare_to_reference(reference, batches="day", random_state=0)
    assert isinstance(by_batches, BatchMonitor)
    batches = [day([1, k]) for k in range(12)]
    assert any(by_rows.check(batch).alarm for batch in batches[:3])
    assert not any(by_batches.check(batch).alarm for batch in batches)
    assert "at most 0.05 if batches are independent." in by_batches.promise
    assert "at most 0.05 if rows are independent." in by_rows.promise


@pytest.fixture(scope="module")
def changed(reference):
    """Return a monitor with five usual days and wide ones after them, to the first alarm."""
    monitor = ta.compare_to_reference(
        reference, batches="day", thresholds={"a": 1.0, "g": 9}, random_state=0
    )
    for k in range(5):
        monitor.check(day([2, k]), label=f"usual {k}")
    for k in range(8):
        result = monitor.check(day([3, k], spread=3.0), label=f"wide {k}")
        if result.alarm:
            break
    return monitor, result


def test_a_change_is_detected_and_named(changed, reference):
    monitor, result = changed
    assert result.alarm
    assert result.number <= 9
    assert [(one.kind, one.variables) for one in result.tripped] == [("spread", ("a",))]
    (tripped,) = result.tripped
    batch = day([3, result.number - 6], spread=3.0)
    logs = np.log(reference.groupby("day", sort=False)["a"].std())
    assert tripped.values == pytest.approx((batch["a"].std(), math.exp(logs.mean())))
    half = stats.t.ppf(0.975, 29) * logs.std() * math.sqrt(1 + 1 / 30)
    difference = math.log(batch["a"].std()) - logs.mean()
    assert np.log(tripped.interval) == pytest.approx((difference - half, difference + half))
    assert f"{result.label} differs from the reference\n   tripped by a: SD" in monitor.summary()
    assert f"Check {result.number}: alarm (e-value" in result.summary()
    assert (
        "does not differ" in repr(result.summary()) or "differs from the batches" in result.verdict
    )
    assert monitor.to_dict()["version"] == 3
    objects = monitor.to_dict()["history"][-1]["findings"]
    assert [one["kind"] for one in objects if one["tripped"]] == ["spread"]
    assert monitor.verdict.endswith(f"1 alarm, the last at check {result.number} ({result.label}).")


def test_scores_of_columns_and_batches(changed, reference):
    monitor, result = changed
    scores = {one.column: one for one in result.scores}
    batch = day([3, result.number - 6], spread=3.0)
    means = reference.groupby("day")["a"].mean()
    sd = math.sqrt((reference.groupby("day")["a"].var() + (means - means.mean()) ** 2).mean())
    assert scores["a"].effect == pytest.approx((batch["a"].mean() - means.mean()) / sd)
    assert scores["g"].measure.startswith("proportion of ")
    assert monitor.scores_frame().shape[0] == 3 * len(monitor.history)
    figure = monitor.plot_columns()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()].count("a") == 1
    page = monitor.to_html()
    assert "Columns and batches" in page
    assert "batches of the reference and those since it" in page
    assert "batches=&#39;day&#39;" in page


def test_a_new_level_and_missing_values_are_named(reference):
    table = reference.astype({"g": "object"})
    monitor = ta.compare_to_reference(table, batches="day", missing="pairwise", random_state=0)
    batch = day(5)
    batch.loc[:9, "g"] = "new"
    batch.loc[:7, "b"] = np.nan
    result = monitor.check(batch, label="3 May")
    found = {(one.kind, one.variables): one for one in result.findings}
    assert found["new values", ("g",)].values == (0.25, 0.0)
    assert found["missing", ("b",)].values == (0.2, 0.0)
    assert result.pvalue == 1 / 31
    assert "'new' in 25 % of 3 May, never in reference" in result.summary()


def test_it_does_not_matter_in_which_order_the_reference_comes(reference):
    order = np.random.default_rng(4).permutation(len(reference))
    batch = day([6, 0], spread=2.0)
    answers = [
        ta.compare_to_reference(table, batches="day", random_state=0).check(batch)
        for table in (reference, reference.iloc[order])
    ]
    assert answers[0].pvalue == answers[1].pvalue
    assert answers[0].capital == pytest.approx(answers[1].capital)


def test_stored_after_every_check_it_answers_the_same(reference, tmp_path):
    path = tmp_path / "m.json"
    labels, table = reference["day"].to_numpy(), reference.drop(columns="day")
    given = {"batches": labels, "random_state": 1, "run_length": 50, "smallest_effect": 0.1}
    whole = ta.compare_to_reference(table, **given)
    stored = ta.compare_to_reference(table, **given)
    for k in range(6):
        batch = day([7, k], spread=1 + k)
        once = whole.check(batch, label=k)
        stored.save(path)
        stored = ta.load_monitor(path, table, batches=labels)
        again = stored.check(batch, label=k)
        assert (again.pvalue, again.capital) == (once.pvalue, once.capital)
    assert stored.to_json() == whole.to_json()
    assert stored.seen_before(batch).number == 6
    with pytest.raises(ta.InputError, match="batches must be the labels of the rows"):
        ta.load_monitor(path, table)
    with pytest.raises(ta.InputError, match="reference must be the one"):
        ta.load_monitor(path, table, batches=np.roll(labels, 7))
    text = path.read_text()
    assert '"u"' in text  # levels and measures are kept, rows are not
    assert str(table["a"][3]) not in text


def test_an_altered_state_is_refused(reference, tmp_path):
    path = tmp_path / "m.json"
    monitor = ta.compare_to_reference(reference, batches="day", random_state=1)
    monitor.check(day([8, 0]))
    monitor.save(path)
    plain = json.loads(path.read_text())
    changes = {
        "later_batches": [{**plain["later_batches"][0], "values": [1.0]}],
        "reference_batches": [0, 99],
        "bets": {"number": 1, "sums": [[[0.0]]]},
        "history": [],
        "settings": {**plain["settings"], "batches": None},
    }
    for name, value in changes.items():
        altered = {**plain, name: value}
        altered["checksum"] = checksum(altered)
        path.write_text(json.dumps(altered))
        with pytest.raises(ta.InputError, match="path must be a file that a monitor saved"):
            ta.load_monitor(path, reference)


def test_planned_checks_need_enough_batches():
    table = month(9, n_days=39)
    monitor = ta.compare_to_reference(table, batches="day", n_checks=2, random_state=0)
    results = [monitor.check(day([10, k], spread=9.0)) for k in range(2)]
    assert [one.alarm for one in results] == [True, True]
    assert [one.n_batches for one in results] == [40, 40]  # against the reference alone
    with pytest.raises(ta.InputError, match="n_checks = 2 checks were planned"):
        monitor.check(day(1))
    with pytest.raises(ta.InputError, match="n_checks must be at most 2 with 39 batches"):
        ta.compare_to_reference(table, batches="day", n_checks=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batches": "week"}, "batches must be a column of reference; got 'week'"),
        ({"batches": [1, 2]}, "batches must have one label for each of the 80 rows"),
        ({"batches": [None] * 80}, "batches must have no missing labels; got 80 of 80"),
        ({"batches": [1, 2] * 40}, "batches must be at least 5 in the reference"),
        ({"batches": "day", "method": "split"}, "without method and families"),
        ({"batches": "day", "missing": "drop-columns"}, "missing must be 'error', 'pairwise'"),
        ({"batches": "day", "pool_rows": 9}, "pool_rows must be left out with batches"),
    ],
)
def test_bad_ones_are_named(settings, message):
    with pytest.raises(ta.InputError, match=message):
        ta.compare_to_reference(month(0, n_days=8, n=10), **settings)


def test_few_batches_are_warned_of_and_bad_batches_refused():
    with pytest.warns(UserWarning, match="8 batches: no batch by itself can differ at α = 0.05"):
        monitor = ta.compare_to_reference(month(0, n_days=8), batches="day")
    with pytest.raises(ta.InputError, match="batch must have at least 2 rows; got 1"):
        monitor.check(day(1, n=1))
    gap = day(1)
    gap.loc[0, "a"] = np.nan
    with pytest.raises(ta.InputError, match="missing"):
        monitor.check(gap)
    with pytest.raises(ta.InputError, match="same columns"):
        monitor.check(day(1).drop(columns="b"))
    assert repr(monitor) == "<BatchMonitor: 8 batches, 3 columns, 0 checks, 0 alarms>"


@pytest.mark.long
def test_false_alarms_of_batches_that_vary():
    """Of 200 sequences of 40 checks no more than α raise an alarm."""
    alarms = 0
    for run in range(200):
        monitor = ta.compare_to_reference(
            month([50, run], n_days=25, n=8), batches="day", alpha=0.1, random_state=run
        )
        alarms += any(monitor.check(day([51, run, k], n=8)).alarm for k in range(40))
    assert alarms <= 200 * 0.1
