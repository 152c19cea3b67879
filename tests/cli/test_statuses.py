"""Exit statuses: 1 is an alarm and nothing else, whatever ends the program."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tellapart.cli import run

PROGRAM_MODULE = sys.modules["tellapart.cli.app"]  # its name in the package is that of the program
TESTED = "tellapart.two_sample.two_sample_test.run_test"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in "ab":
        values = rng.normal(size=(30, 2))
        np.savetxt(f"{name}.csv", values, delimiter=",", header="u,v", comments="")
    return tmp_path


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ZeroDivisionError("division by\nzero"), 3, "internal error: ZeroDivisionError: division"),
        (AssertionError(), 3, "internal error: AssertionError"),
        (RecursionError("too deep"), 3, "internal error: RecursionError: too deep"),
        (SystemExit(1), 3, "a library ended the program (status 1)"),
        (SystemExit(0), 3, "a library ended the program (status 0)"),
        (SystemExit("goodbye"), 3, "a library ended the program (goodbye)"),
        (GeneratorExit(), 3, "internal error: GeneratorExit"),
        (MemoryError("Unable to allocate 9 TiB"), 4, "memory ran out"),
        (ImportError("libx.so: failed to map segment from shared object"), 4, "memory ran out"),
        (RuntimeError("can't start new thread"), 4, "(can't start new thread)"),
        (OSError(28, "No space left on device", "x.json"), 2, "x.json: No space left on device"),
    ],
)
def test_what_goes_wrong_has_a_status_of_its_own(folder, monkeypatch, capsys, error, status, words):
    monkeypatch.setattr(TESTED, raising(error))
    assert run(["compare", "a.csv", "b.csv"]) == status
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("tellapart: error: ")
    assert words in told.err
    assert told.err.count("\n") == 1


def test_an_internal_error_names_its_place(folder, monkeypatch, capsys):
    monkeypatch.setattr(TESTED, raising(KeyError("x")))
    assert run(["compare", "a.csv", "b.csv"]) == 3
    assert "test_statuses.py, line " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141)]
)
def test_signals_have_the_statuses_of_shells(folder, monkeypatch, capfd, error, status):
    monkeypatch.setattr(TESTED, raising(error))
    monkeypatch.setattr(PROGRAM_MODULE, "_drop_output", lambda: None)
    assert run(["compare", "a.csv", "b.csv"]) == status
    assert capfd.readouterr() == ("", "")


def test_completion_ends_as_it_wants(monkeypatch):
    monkeypatch.setattr(PROGRAM_MODULE, "app", raising(SystemExit(0)))
    with pytest.raises(SystemExit):
        run(["--show-completion"])


PROGRAM = """
import ctypes, sys
import tellapart.two_sample.two_sample_test as two_sample
from tellapart.__main__ import main
def leave(*_, **__):
    ctypes.CDLL(None).exit(1)
if sys.argv.pop(1) == "leave":
    two_sample.run_test = leave
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="asks the C library of POSIX systems")
@pytest.mark.parametrize(("what", "status"), [("leave", 3), ("stay", 0)])
def test_compiled_code_that_exits_is_no_alarm(folder, what, status):
    command = [sys.executable, "-c", PROGRAM, what, "compare", "a.csv", "b.csv"]
    end = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert end.returncode == status, end.stderr
    assert ("p = " in end.stdout) == (what == "stay")


def test_a_program_that_does_not_load_is_no_alarm(folder):
    (folder / "typer.py").write_text("raise RuntimeError('broken')")
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    command = [sys.executable, "-m", "tellapart", "--version"]
    end = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=variables
    )
    assert end.returncode == 3
    assert end.stderr == "tellapart: error: it cannot be loaded: RuntimeError: broken\n"


def test_errors_that_nobody_reads_keep_their_status(folder):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tellapart", "compare", "a.csv", "none.csv"]
    end = subprocess.run(command, stderr=writer, stdout=subprocess.PIPE, check=False, timeout=300)
    os.close(writer)
    assert end.returncode == 2


def test_help_is_shown_in_any_encoding():
    variables = os.environ | {"PYTHONIOENCODING": "latin-1"}
    for words in (["compare"], ["monitor"], []):
        command = [sys.executable, "-m", "tellapart", *words, "--help"]
        end = subprocess.run(command, capture_output=True, check=False, timeout=300, env=variables)
        assert end.returncode == 0, end.stderr
        assert end.stderr == b""
        assert b"Examples" in end.stdout
