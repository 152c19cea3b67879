import os
import signal
import subprocess
import sys
import time

import pytest

from tellapart.cli import run


def test_runs_draws_and_names_the_files(tmp_path, capsys):
    options = ["--quick", "--out", str(tmp_path), "--method", "truncation"]
    assert run(["reproduce", "table1", *options]) == 0
    shown = capsys.readouterr().out
    assert "Table 1" in shown
    assert str(tmp_path / "table1.png") in shown
    first = (tmp_path / "table1.csv").read_text()
    assert run(["reproduce", "table1", *options, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "table1.csv").read_text() == first


BAD_INPUT = [
    (["nonsense"], "NAME must be one of"),
    (["table1", "--method", "nonsense"], "--method must be one of"),
    (["table1", "--trials", "0"], "--trials must be"),
    (["table1", "--data", "nowhere"], "--data must be a folder"),
    (["table1", "--out", __file__], "--out must be a folder"),
    (["table1", "--jobs", "0"], "--jobs must be"),
    (["table1", "--redraw", "--out", "nowhere"], "has no rows to draw"),
]


def test_bad_input_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for arguments, message in BAD_INPUT:
        assert run(["reproduce", *arguments]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_sigterm_ends_the_processes_of_all_trials(tmp_path):
    # Hundreds of short trials: there is work left when the first is done.
    command = [sys.executable, "-m", "tellapart", "reproduce", "power-n", "--jobs", "2"]
    command += ["--method", "standard-linear"]
    program = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    rows = tmp_path / "power.csv"
    try:
        # The first row on file: the others are being measured.
        for _ in range(1_200):
            if rows.exists() and rows.read_text().count("\n") > 1:
                break
            time.sleep(0.1)
        program.terminate()
        # Every process holds the pipes: they end only when the last of them has gone.
        program.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        raise
    assert program.returncode != 0
