"""Monitors of tables as people have them: dates and identifiers, as the reference decides."""

import json
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.cli import run

FEW = {"n_permutations": 99, "random_state": 0}
LEFT_OUT = "column 'visit' of reference is excluded: it appears to be an identifier"


def visits(n, start, seed, hour=12.0, shift=0.0):
    """Return visits with a name, a moment, a day, how long they took, and a measurement."""
    rng = np.random.default_rng(seed)
    hours = rng.normal(hour, 2, size=n)
    when = [start + timedelta(days=k % 7, hours=float(h)) for k, h in enumerate(hours)]
    return pd.DataFrame(
        {
            "visit": [f"visit {seed}-{k}" for k in range(n)],
            "when": when,
            "day": [moment.date() for moment in when],
            "took": pd.to_timedelta(rng.gamma(4, size=n), unit="m"),
            "load": rng.normal(shift, 1, size=n),
        }
    )


@pytest.fixture
def reference():
    return visits(200, datetime(2026, 1, 5), 0)


def quiet(seed, **changed):
    """Return a batch of another month."""
    return visits(80, datetime(2026, 3, 2), seed, **changed)


@pytest.fixture
def monitor(reference):
    with pytest.warns(UserWarning, match=LEFT_OUT):
        return ta.compare_to_reference(reference, **FEW)


def test_a_batch_of_another_month_is_no_news(monitor):
    assert monitor.names == ("when (hour)", "took (seconds)", "load")
    results = [monitor.check(quiet(seed)) for seed in (1, 2, 3)]
    assert not any(result.alarm for result in results)
    assert min(result.pvalue for result in results) > 0.01
    notes = results[0].summary()
    assert (
        "Excluded: 'visit' (200 distinct texts in 200 rows), which appears to be an identifier"
        in notes
    )
    assert "Excluded: 'day', since every batch has dates of its own." in notes
    assert "Split into parts: 'when' into hour; 'took' into seconds." in notes
    told = monitor.to_dict()["left_out"]
    assert told["naming_rows"] == {"visit": "200 distinct texts in 200 rows"}
    assert told["moments"] == ["day"]
    assert "Excluded: 'visit'" in monitor.summary()


def test_another_time_of_day_is(monitor):
    result = monitor.check(quiet(1, hour=16.0))
    assert result.alarm
    assert ("when (hour)",) in [finding.variables for finding in result.findings]


def test_what_is_left_out_need_not_be_there(monitor):
    batch = quiet(1)
    expected = monitor.check(batch).pvalue
    with pytest.warns(UserWarning, match=LEFT_OUT):
        again = ta.compare_to_reference(visits(200, datetime(2026, 1, 5), 0), **FEW)
    assert again.check(batch[["load", "took", "when"]]).pvalue == expected
    with pytest.raises(ta.InputError, match=r"only in reference: 'when \(hour\)'"):
        again.check(batch.drop(columns="when"))
    with pytest.raises(ta.InputError, match="column 'when' of batch must hold dates or times, as"):
        again.check(batch.assign(when=1.5))
    with pytest.raises(ta.InputError, match="column 'took' of batch must hold durations, as in"):
        again.check(batch.assign(took=["a", "b"] * 40))


def test_batches_decide_nothing(reference):
    """Numbers that are consecutive in a batch by chance are compared, and moments follow."""
    table = reference[["when", "load"]].assign(size=np.tile([1, 2, 5, 7], 50))
    monitor = ta.compare_to_reference(table, **FEW)
    batch = quiet(1)[["when", "load"]].assign(size=np.arange(80))
    assert monitor.check(batch).alarm
    assert monitor.names == ("when (hour)", "load", "size")


def test_kept_columns(reference):
    numbered = reference[["load"]].assign(patient_id=np.arange(200))
    with pytest.warns(UserWarning, match=r"'patient_id' of reference .* pass keep=\['patient_id'"):
        assert ta.compare_to_reference(numbered, **FEW).names == ("load",)
    kept = ta.compare_to_reference(numbered, keep=["patient_id"], **FEW)
    assert kept.names == ("load", "patient_id")
    assert kept.settings.to_dict()["keep"] == ["patient_id"]
    # Rows without names are matched by place.
    plain = ta.compare_to_reference(numbered[["load"]].assign(b=0.5 * np.arange(200)), **FEW)
    assert plain.check(np.c_[np.arange(40), np.arange(40)]).held_out.names == plain.names
    for keep, reason in ((["q"], "keep must name columns"), ("load", "keep must be a sequence")):
        with pytest.raises(ta.InputError, match=reason):
            ta.compare_to_reference(numbered, keep=keep, **FEW)


def test_arrays_beside_a_table_with_names_of_rows(reference):
    numbered = reference[["load"]].assign(patient_id=np.arange(200))
    with pytest.warns(UserWarning, match="is excluded"):
        monitor = ta.compare_to_reference(numbered, **FEW)
    load = np.random.default_rng(5).normal(size=40)
    by_place = monitor.check(np.c_[load, np.arange(40)])
    with pytest.warns(UserWarning, match="is excluded"):
        again = ta.compare_to_reference(numbered, **FEW)
    assert again.check(pd.DataFrame({"load": load})).pvalue == by_place.pvalue


def test_nothing_left(reference):
    with pytest.raises(ta.InputError, match="reference must have a column to compare with batches"):
        ta.compare_to_reference(reference[["day"]], **FEW)


@pytest.mark.filterwarnings("error")
def test_a_stored_monitor_goes_on_with_its_columns(monitor, reference, tmp_path):
    path = tmp_path / "state.json"
    monitor.check(quiet(1))
    monitor.save(path)
    again = ta.load_monitor(path, reference)  # and warns of nothing: it was told
    assert again.column_notes == monitor.column_notes
    assert again.check(quiet(2)).pvalue == monitor.check(quiet(2)).pvalue


def test_on_the_command_line(tmp_path, monkeypatch, reference, capsys):
    monkeypatch.chdir(tmp_path)
    reference.drop(columns="took").to_parquet("reference.parquet")
    quiet(1).drop(columns="took").to_parquet("march.parquet")
    given = ["monitor", "reference.parquet", "march.parquet", "--permutations", "99"]
    assert run([*given, "--seed", "0", "--state", "state.json", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert LEFT_OUT in err
    assert "pass --keep visit to compare it" in err
    told = json.loads(out)
    assert told["columns"] == ["when (hour)", "load"]
    assert told["left_out"]["moments"] == ["day"]
    assert json.loads((tmp_path / "state.json").read_text())["left_out"] == told["left_out"]
    assert run([*given, "--state", "state.json", "--keep", "visit"]) == 2
    assert "keep must be what state.json was made with, []; got ['visit']" in (
        capsys.readouterr().err
    )
