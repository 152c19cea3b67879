"""Pipes in and out: standard input, JSON on standard output, silence, completion."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from tellapart.cli import run

QUICK = ["--method", "split", "--variables", "1", "--regularization", "0.1", "--seed", "0"]


def table(rows, shift, seed):
    rng = np.random.default_rng(seed)
    return pa.table({"u": rng.normal(size=rows), "w": rng.normal(shift, size=rows)})


def as_bytes(data, form):
    sink = io.BytesIO()
    if form == "parquet":
        parquet.write_table(data, sink)
    elif form == "feather":
        feather.write_feather(data, sink)
    else:
        options = csv.WriteOptions(delimiter="\t" if form == "tsv" else ",")
        csv.write_csv(data, sink, options)
    return gzip.compress(sink.getvalue()) if form == "gzip" else sink.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(table(60, 0, 0), "a.csv")
    csv.write_csv(table(70, 3, 1), "b.csv")
    return tmp_path


@pytest.fixture
def pipe(monkeypatch):
    def fill(content):
        stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)

    return fill


@pytest.mark.parametrize("form", ["csv", "gzip", "tsv", "parquet", "feather"])
def test_either_sample_may_come_through_a_pipe(folder, pipe, capsys, form):
    given = [] if form in ("csv", "gzip") else ["--format", form]
    # --format holds for both samples.
    (folder / "same").write_bytes(as_bytes(table(70, 3, 1), form))
    pipe(as_bytes(table(60, 0, 0), form))
    second = ["same", *given] if given else ["b.csv"]
    assert run(["compare", "-", *second, *QUICK]) == 0
    out = capsys.readouterr().out
    assert " and ".join(["standard input", second[0].removesuffix(".csv")]) in out
    assert "differ (p ≤ 0.001" in out


def test_groups_through_a_pipe(folder, pipe, capsys):
    both = pa.concat_tables([table(60, 0, 0), table(70, 3, 1)])
    both = both.append_column("arm", pa.array(["old"] * 60 + ["new"] * 70))
    pipe(as_bytes(both, "csv"))
    assert run(["compare", "-", "--by", "arm", *QUICK]) == 0
    assert capsys.readouterr().out.startswith("new and old differ")
    pipe(as_bytes(both, "csv"))
    assert run(["groups", "-", "--by", "arm", *QUICK]) == 0
    assert capsys.readouterr().out.startswith("new and old differ (adjusted p ≤ 0.001")


def test_json_alone_goes_to_standard_output(folder, capsys):
    assert run(["compare", "a.csv", "b.csv", *QUICK, "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["reject"] is True
    assert err == ""
    assert sorted(os.listdir()) == ["a.csv", "b.csv"]


def test_quiet_is_silent(folder, capsys):
    constant = [t.append_column("same", pa.array([1.0] * len(t))) for t in (table(60, 0, 0),) * 2]
    for name, data in zip(("c.csv", "d.csv"), constant, strict=True):
        csv.write_csv(data, name)
    assert run(["compare", "c.csv", "d.csv", *QUICK, "-q", "--json", "out.json"]) == 0
    assert capsys.readouterr() == ("", "")
    assert json.loads((folder / "out.json").read_text())["selection"]["constant"] == ["same"]
    assert run(["compare", "c.csv", "d.csv", *QUICK, "--quiet", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["reject"] is False
    assert err == ""
    assert run(["compare", "c.csv", "none.csv", "--quiet"]) == 2
    assert "none.csv" in capsys.readouterr().err


BAD_PIPES = [
    (b"", ["compare", "-", "b.csv"], "standard input: expected a table; got nothing"),
    (b"a;b\n1;2\n", ["compare", "-", "b.csv"], "standard input: .*separated by ';'"),
    (b"u,w\n1,2\n", ["compare", "-", "-"], "one of A and B from standard input, not both"),
    (b"nonsense", ["compare", "-", "b.csv", "--format", "parquet"], "standard input: the file"),
    (b"nonsense", ["compare", "-", "b.csv", "--format", "h5ad"], "AnnData is read from a file"),
    (b"u\n1\n", ["compare", "-", "b.csv", "--format", "xml"], "--format must be one of"),
    (b"u\n1\n", ["compare", "-"], "--by COLUMN"),
]


def test_bad_pipes_are_one_line(folder, pipe, capsys):
    for content, arguments, part in BAD_PIPES:
        pipe(content)
        assert run(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert re.search(part, err)


@pytest.mark.parametrize("more", [[], ["--json", "-"]])
def test_a_reader_that_leaves_is_no_traceback(folder, more):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tellapart", "compare", "a.csv", "b.csv", *QUICK, *more]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


def test_a_terminal_is_no_table(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", type("Terminal", (), {"isatty": lambda self: True})())
    assert run(["compare", "-", "b.csv"]) == 2
    assert "got a terminal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stream", "arguments"),
    [("stdin", ["compare", "-", "b.csv"]), ("stdout", ["demo"]), ("stdout", ["--version"])],
)
def test_a_closed_stream_is_one_line(folder, monkeypatch, capsys, stream, arguments):
    monkeypatch.setattr(sys, stream, None)
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("tellapart: error: standard ")
    assert err.count("\n") == 1


def test_errors_may_go_nowhere(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    assert run(["compare", "a.csv", "b.csv", *QUICK]) == 0
    assert "differ" in capsys.readouterr().out


def test_progress_is_shown_on_a_terminal_only(folder, monkeypatch):
    seen = []

    def note(samples, settings, *others):
        seen.append(settings.progress)
        raise KeyboardInterrupt

    monkeypatch.setattr("tellapart.two_sample.two_sample_test.run_test", note)
    run(["compare", "a.csv", "b.csv"])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(["compare", "a.csv", "b.csv"])
    run(["compare", "a.csv", "b.csv", "--quiet"])
    assert seen == [False, True, False]


@pytest.mark.parametrize("command", [[], ["compare"], ["groups"], ["demo"]])
def test_every_help_has_examples(capsys, command):
    assert run([*command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples" in out
    assert " ".join(["tellapart", *command]) in out


def completed(shell, **environment):
    variables = {**os.environ, "_TELLAPART_COMPLETE": f"complete_{shell}", **environment}
    command = [sys.executable, "-m", "tellapart"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_shell_completes_commands_and_options():
    words = completed("bash", COMP_WORDS="tellapart ", COMP_CWORD="1").split()
    assert {"compare", "groups", "demo"} <= set(words)
    words = completed("bash", COMP_WORDS="tellapart groups --pairw", COMP_CWORD="2").split()
    assert words == ["--pairwise"]
    assert "--quiet" in completed("zsh", _TYPER_COMPLETE_ARGS="tellapart compare --qu")


def test_completion_and_help_do_not_wait_for_the_library():
    code = "import sys, tellapart.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "scipy", "pyarrow", "sklearn"} & set(done.stdout.split())
