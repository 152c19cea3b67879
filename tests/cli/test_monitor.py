"""`tellapart monitor`, run as users run it, night after night."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import tellapart as ta
from tellapart.cli import run


def rows(n, seed, shift=0.0):
    values = np.random.default_rng(seed).normal(size=(n, 3))
    values[:, 1] += shift
    return pa.table({name: values[:, s] for s, name in enumerate("abc")})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(rows(200, 0), "reference.csv")
    for day in (1, 2):
        csv.write_csv(rows(40, day), f"day{day}.csv")
    csv.write_csv(rows(40, 3, shift=1.5), "day3.csv")
    return tmp_path


def monitor(*arguments):
    return run(["monitor", "reference.csv", *arguments, "--permutations", "99"])


def test_goes_on_from_night_to_night_as_python_does(folder, capsys):
    state = folder / "monitor.json"
    given = ["--state", "monitor.json", "--seed", "3"]
    assert monitor("day1.csv", *given) == 0
    assert "1. day1: p = " in capsys.readouterr().out
    assert monitor("day1.csv", "day2.csv", *given, "--fail-on-alarm") == 0
    out = capsys.readouterr().out
    assert "day1: checked before, as check 1 (day1)" in out
    assert "2 checks, no alarm." in out
    assert monitor("day3.csv", *given, "--fail-on-alarm") == 1
    out = capsys.readouterr().out
    assert "ALARM" in out
    assert "b: mean 1.553 in day3, " in out
    python = ta.compare_to_reference(rows(200, 0), n_permutations=99, random_state=3)
    for day in (1, 2, 3):
        python.check(csv.read_csv(f"day{day}.csv"), label=f"day{day}")
    stored = json.loads(state.read_text())["history"]
    assert [one["pvalue"] for one in stored] == [one.pvalue for one in python.history]
    assert [one["capital"] for one in stored] == [one.capital for one in python.history]
    # The alarm was told the night before: what is passed over raises none.
    assert monitor("day3.csv", *given, "--fail-on-alarm") == 0


def test_columns_are_chosen(folder, capsys):
    assert monitor("day3.csv", "--seed", "3", "--drop", "b", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["history"][0]["alarm"] is False
    chosen = ["--seed", "3", "--columns", "b", "--json", "-"]
    assert monitor("day3.csv", *chosen) == 0
    assert json.loads(capsys.readouterr().out)["history"][0]["pvalue"] < 0.01
    assert monitor("day3.csv", "--drop", "q") == 2
    assert "--drop must name columns; got 'q'" in capsys.readouterr().err
    assert monitor("day3.csv", "--keep", "q") == 2
    assert "--keep must name columns; got 'q'" in capsys.readouterr().err


def test_writes_report_figure_and_json(folder, capsys):
    outputs = ["--report", "m.html", "--plot", "m.svg", "--json", "-"]
    labels = ["--label", "2026-11-16", "--label", "2026-11-17"]
    assert monitor("day1.csv", "day3.csv", "--seed", "1", *outputs, *labels) == 0
    told = json.loads(capsys.readouterr().out)
    assert [record["label"] for record in told["history"]] == ["2026-11-16", "2026-11-17"]
    assert told["verdict"] == "2 checks, 1 alarm, the last at check 2 (2026-11-17)."
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert "the last at check 2 (2026-11-17)" in page
    assert "tellapart monitor reference.csv day1.csv" in page
    assert (folder / "m.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["day1.csv", "--state", "day1.csv"], "--state must not be a file that is read"),
        (["day1.csv", "--state", "x.json", "--json", "x.json"], "must be different files"),
        (["day1.csv", "--state", "-"], "--state must be the path of a file"),
        (["day1.csv", "--state", "no/where.json"], "--state must be a path that can be written"),
        (["day1.csv", "--state", "broken.json"], "--state must be a file that a monitor saved"),
        (["day1.csv", "--label", "a", "--label", "b"], "--label must be given once for each"),
        (["-", "-"], "can read one file from standard input"),
        (["day1.csv", "--checks", "0"], "--checks must be an integer of at least 1"),
        (["day1.csv", "--run-length", "9", "--checks", "4"], "--checks and --run-length must not"),
        (["day1.csv", "--smallest-effect", "-1"], "--smallest-effect must be a finite number"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line(folder, capsys, arguments, message):
    (folder / "broken.json").write_text("{}")
    assert monitor(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_options_must_be_those_of_the_state(folder, capsys):
    assert monitor("day1.csv", "--state", "m.json", "--alpha", "0.1") == 0
    assert monitor("day2.csv", "--state", "m.json") == 0  # what is left out is as it was
    assert monitor("day2.csv", "--state", "m.json", "--alpha", "0.2") == 2
    assert "--alpha must be what m.json was made with, 0.1; got 0.2" in capsys.readouterr().err
    csv.write_csv(rows(200, 9), "reference.csv")
    assert monitor("day3.csv", "--state", "m.json") == 2
    assert "reference must be the one that 'm.json' was made with" in capsys.readouterr().err
    assert len(json.loads((folder / "m.json").read_text())["history"]) == 2


def test_a_bad_batch_leaves_the_checks_before_it(folder, capsys):
    csv.write_csv(rows(1, 5), "short.csv")
    assert monitor("day1.csv", "short.csv", "--state", "m.json") == 2
    assert "batch must have at least 2 rows" in capsys.readouterr().err
    assert len(json.loads((folder / "m.json").read_text())["history"]) == 1


def test_a_state_that_was_altered_is_no_alarm(folder, capsys):
    assert monitor("day1.csv", "--state", "m.json", "--seed", "3") == 0
    content = (folder / "m.json").read_bytes()
    capsys.readouterr()
    altered = {
        "cut": content[: len(content) // 2],
        "emptied": b"",
        "a digit": content.replace(b'"alpha":0.05', b'"alpha":0.06'),
        "no reference": content.replace(b'"reference":', b'"referenz":'),
    }
    for what, text in altered.items():
        assert text != content
        (folder / "m.json").write_bytes(text)
        assert monitor("day2.csv", "--state", "m.json", "--fail-on-alarm") == 2, what
        error = capsys.readouterr().err
        assert error.startswith("tellapart: error: --state must be a file that a monitor saved")
        assert error.count("\n") == 1
        assert (folder / "m.json").read_bytes() == text


# Marks that it runs, and makes no check before the other run has started, too.
OVERLAPPING = """
import os, sys, time
import tellapart.cli.monitor as monitor
from tellapart.__main__ import main
from tellapart.monitor.reference_monitor import ReferenceMonitor
name, *others = sys.argv.pop(1).split(",")
read, check = monitor.read_input, ReferenceMonitor.check
def marked(path, form):
    open(f"{name}.started", "w").close()
    return read(path, form)
def delayed(*given, **named):
    while not all(os.path.exists(f"{other}.started") for other in others):
        time.sleep(0.05)
    time.sleep(1)
    return check(*given, **named)
monitor.read_input, ReferenceMonitor.check = marked, delayed
main()
"""


def begun(program, *arguments):
    words = ["monitor", "reference.csv", *arguments, "--permutations", "99", "--seed", "3"]
    command = [sys.executable, *program, *words, "--state", "m.json"]
    # A suite that runs in the background hands on that Ctrl-C is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_that_overlap_lose_no_check(folder):
    runs = [
        begun(["-c", OVERLAPPING, names], f"day{day}.csv")
        for day, names in ((1, "one,other"), (2, "other,one"))
    ]
    for one in runs:
        _, error = one.communicate(timeout=300)
        assert one.returncode == 0, error
    history = json.loads((folder / "m.json").read_text())["history"]
    assert sorted(record["label"] for record in history) == ["day1", "day2"]
    assert [record["number"] for record in history] == [1, 2]
    assert not [name for name in os.listdir() if name.endswith(".lock")]


HOLDER = """
import sys, time
from tellapart.writing import locked
with locked("--state", "m.json"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_is_waited_for_and_ends_with_its_process(folder):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        waiting = begun(["-m", "tellapart"], "day1.csv")
        # Only a run that waits says so; it makes no check in the meantime.
        line = waiting.stderr.readline()
        assert "waiting for another run that uses m.json" in line
        assert waiting.poll() is None
        assert not (folder / "m.json").exists()
        holder.send_signal(signal.SIGKILL)
    _, error = waiting.communicate(timeout=300)
    assert waiting.returncode == 0, error
    assert len(json.loads((folder / "m.json").read_text())["history"]) == 1


def test_a_lock_that_is_waited_for_can_be_interrupted(folder):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        waiting = begun(["-m", "tellapart"], "day1.csv")
        assert "waiting" in waiting.stderr.readline()
        time.sleep(0.2)
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=300)
        holder.kill()
    assert waiting.returncode == 130


def test_bad_batches_are_named_and_recorded_and_the_rest_goes_on(folder, capsys):
    (folder / "torn.csv").write_text('a,b,c\n1,2\n"')
    csv.write_csv(rows(40, 5).drop(["b"]), "narrow.csv")
    csv.write_csv(rows(40, 6).append_column("d", pa.array(["x"] * 40)), "wide.csv")
    words = rows(40, 7).set_column(1, "b", pa.array(["x", "y"] * 20))
    csv.write_csv(words, "words.csv")
    given = ["--state", "m.json", "--seed", "3"]
    assert monitor("torn.csv", "day1.csv", *given, "--fail-on-alarm") == 2
    out, error = capsys.readouterr()
    assert error.startswith("tellapart: error: torn: not checked: ")
    assert "torn.csv" in error
    assert "1. day1: p = " in out
    assert "1 check, no alarm. 1 batch could not be checked." in out
    for name in ("narrow", "wide", "words"):
        assert monitor(f"{name}.csv", "torn.csv", *given) == 5, name
        assert f"error: {name}: not checked: " in capsys.readouterr().err
    assert monitor("narrow.csv", "day3.csv", *given, "--fail-on-alarm", "--json", "m2.json") == 1
    told = json.loads((folder / "m2.json").read_text())
    assert told["version"] == 3
    assert [one["label"] for one in told["history"]] == ["day1", "day3"]
    assert [(one["label"], one["reason"], one["after"]) for one in told["failures"]] == [
        ("torn", "input", 0),
        ("narrow", "schema", 1),
        ("wide", "schema", 1),
        ("words", "schema", 1),
    ]
    assert told["history"][1]["findings"][0]["kind"] == "location"
    assert monitor("day1.csv", *given, "--drop", "c") == 2  # another reference: nothing to record


def test_help_tells_the_exit_statuses(capsys):
    assert run(["monitor", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Exit status: 0 no alarm; 1 an alarm, with --fail-on-alarm; 2 bad input" in text


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Return a folder of 24 days that vary, in files of their own, and two days after them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days").mkdir()
    for k in range(24):
        own = np.random.default_rng([1, k]).normal()
        csv.write_csv(rows(30, [2, k], own), f"days/{k:02}.csv")
    csv.write_csv(rows(30, 3, 0.9), "next.csv")
    csv.write_csv(rows(30, 4, 9.0), "far.csv")
    return tmp_path


@pytest.mark.parametrize("reference", ["days", "days/*.csv"])
def test_folders_and_patterns_whose_files_are_batches(days, capsys, reference):
    given = [reference, "next.csv", "--batches-by-file", "--state", "m.json", "--seed", "1"]
    outputs = ["--prometheus", "m.prom", "--report", "m.html", "--plot", "m.svg"]
    assert run(["monitor", *given, *outputs]) == 0
    out = capsys.readouterr().out
    assert "1. next: p = " in out
    assert "if batches are independent." in out
    assert "tellapart_monitor_checks_total 1\n" in (days / "m.prom").read_text()
    given[1] = "far.csv"
    assert run(["monitor", *given]) == 0
    stored = json.loads((days / "m.json").read_text())
    assert stored["history"][1]["pvalue"] == 1 / 26
    assert stored["history"][1]["findings"][0]["variables"] == ["b"]
    assert run(["monitor", *given[:2], "--state", "m.json"]) == 0  # as it was made
    assert run(["monitor", reference, "next.csv", "--permutations", "19"]) == 0  # by rows


def test_a_column_names_the_batches(days, capsys):
    tables = []
    for k in range(24):
        table = csv.read_csv(f"days/{k:02}.csv")
        tables.append(table.append_column("day", pa.array([f"2026-05-{k + 1:02}"] * 30)))
    csv.write_csv(pa.concat_tables(tables), "all.csv")
    words = ["monitor", "all.csv", "next.csv", "far.csv", "--batches", "day", "--columns", "b"]
    assert run([*words, "--thresholds", "b=2", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["beyond"] for one in told["history"]] == [[], ["b"]]
    assert told["columns"] == ["b"]
    assert run([*words, "--batches-by-file"]) == 2
    assert "--batches and --batches-by-file must not" in capsys.readouterr().err
    assert run([*words[:4], "--batches", "week"]) == 2
    assert "--batches must be a column of reference; got 'week'" in capsys.readouterr().err


def test_renamed_files_are_known_again(folder, capsys):
    given = ["--seed", "3"]
    assert monitor("day1.csv", *given, "--state", "m.json") == 0
    os.rename("m.json", "other.json")
    os.rename("day1.csv", "first.csv")
    os.rename("reference.csv", "base.csv")
    capsys.readouterr()
    assert run(["monitor", "base.csv", "first.csv", "day2.csv", "--state", "other.json"]) == 0
    out = capsys.readouterr().out
    assert "first: checked before, as check 1 (day1)" in out
    assert "2. day2: p = " in out


KILLED = """
import os, signal, sys
import tellapart.monitor.state as state
from tellapart.__main__ import main
def killed(*given):
    os.kill(os.getpid(), signal.SIGKILL)
state.write_atomically = killed
main()
"""


def test_a_run_that_is_killed_before_it_writes_leaves_the_state(folder, capsys):
    assert monitor("day1.csv", "--state", "m.json", "--seed", "3") == 0
    content = (folder / "m.json").read_bytes()
    run_killed = begun(["-c", KILLED], "day2.csv")
    run_killed.communicate(timeout=300)
    assert run_killed.returncode == -signal.SIGKILL
    assert (folder / "m.json").read_bytes() == content
    assert (folder / "m.json.lock").exists()  # stale: its process is gone
    capsys.readouterr()
    assert monitor("day2.csv", "--state", "m.json") == 0
    assert "2. day2: p = " in capsys.readouterr().out
    assert not (folder / "m.json.lock").exists()
