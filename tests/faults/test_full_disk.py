"""Full disks: the old file stays whole, nothing half written is left, one line names the path."""

import builtins
import errno
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from limited import check_one_line, run_limited

import tellapart as ta
from reproduction.curves import draw_powers
from reproduction.store import Store
from tellapart.cli import run

OLD = b"what was there before"


class FullFile(io.FileIO):
    """A file on a disk with room for ten bytes more."""

    def write(self, content):
        super().write(bytes(content)[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full_disk(monkeypatch, tmp_path):
    """Fill the disk, once called: whatever is opened below the folder takes ten bytes."""
    real = builtins.open

    def opened(path, mode="r", *rest, **given):
        # Folders are opened to see whether a file can be made in them, and the names of those
        # begin with "tmp".
        name = os.path.basename(str(path))
        here = Path(str(path)).parent == tmp_path and not name.startswith("tmp")
        if here and any(letter in mode for letter in "wxa"):
            made = real(path, mode, *rest, **given)
            made.close()
            return FullFile(path, "r+" if "a" not in mode else "a")
        return real(path, mode, *rest, **given)

    def fill():
        monkeypatch.setattr(builtins, "open", opened)
        monkeypatch.setattr(io, "open", opened)  # as pathlib opens

    return fill


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.normal((0, 1.5, 0), size=(40, 3))


@pytest.fixture(scope="module")
def made(samples):
    """Return everything that can be written, by name."""
    result = ta.two_sample_test(*samples, n_permutations=99, random_state=0)
    both = np.concatenate([*samples, samples[0]])
    by = np.repeat(["a", "b", "c"], 40)
    groups = ta.compare_groups(both, by, n_permutations=99, random_state=0)
    monitor = ta.compare_to_reference(samples[0], n_permutations=99, random_state=0)
    monitor.check(samples[1])
    plan = ta.plan_sample_size(
        *samples, n_simulations=30, n_permutations=39, most_rows=200, random_state=0
    )
    return {"result": result, "groups": groups, "monitor": monitor, "plan": plan}


WRITERS = [
    ("result", "to_json", "out.json"),
    ("result", "to_html", "out.html"),
    ("result", "to_csv", "out.csv"),
    ("result", "to_latex", "out.tex"),
    ("result", "figure", "out.pdf"),
    ("groups", "to_json", "out.json"),
    ("groups", "to_html", "out.html"),
    ("groups", "to_csv", "out.csv"),
    ("groups", "to_latex", "out.tex"),
    ("monitor", "save", "state.json"),
    ("monitor", "to_json", "out.json"),
    ("monitor", "to_html", "out.html"),
    ("plan", "to_json", "out.json"),
]


@pytest.mark.parametrize(("what", "method", "name"), WRITERS)
def test_every_writer_leaves_what_was_there(tmp_path, made, full_disk, what, method, name):
    path = tmp_path / name
    path.write_bytes(OLD)
    full_disk()
    with pytest.raises(OSError, match="No space left on device; it was not written") as caught:
        getattr(made[what], method)(path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, OLD)]


@pytest.mark.parametrize(("what", "method", "name"), WRITERS)
def test_a_new_file_is_not_begun(tmp_path, made, full_disk, what, method, name):
    full_disk()
    with pytest.raises(OSError, match="No space left"):
        getattr(made[what], method)(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_writers_that_are_missing_here(made):
    """Everything public that takes the path of a file to write is in the table."""
    listed = {(what, method) for what, method, _ in WRITERS}
    names = ("to_json", "to_html", "to_csv", "to_latex", "figure", "save")
    there = {(what, name) for what, thing in made.items() for name in names if hasattr(thing, name)}
    assert there == listed


def test_rows_of_a_trial_are_stored_together_or_not(tmp_path, full_disk):
    store = Store(tmp_path / "rows.csv", keys=("trial",), values=("value",))
    store.add([{"trial": 0, "value": 1}, {"trial": 0, "value": 2}])
    whole = store.path.read_bytes()
    full_disk()
    with pytest.raises(OSError, match="the trial was not stored") as caught:
        store.add([{"trial": 1, "value": 3}, {"trial": 1, "value": 4}])
    assert caught.value.filename == str(store.path)
    assert store.path.read_bytes() == whole
    assert store.done() == {("0",)}


def test_figures_of_the_reproduction_are_written_whole(tmp_path, full_disk):
    path = tmp_path / "curves.png"
    path.write_bytes(OLD)
    full_disk()
    with pytest.raises(OSError, match="No space left"):
        draw_powers([], "n", "rows", path)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def files(tmp_path, samples, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, values in zip("ab", samples, strict=True):
        np.savetxt(f"{name}.csv", values, delimiter=",", header="u,v,w", comments="")
    return tmp_path


OUTPUTS = ["--json", "--report", "--plot", "--csv", "--latex", "--figure"]


@pytest.mark.parametrize("option", OUTPUTS)
def test_on_the_command_line(files, full_disk, capsys, option):
    path = files / f"out{'.svg' if option in ('--plot', '--figure') else ''}"
    path.write_bytes(OLD)
    full_disk()
    given = ["compare", "a.csv", "b.csv", "--permutations", "99", "--seed", "0"]
    assert run([*given, option, str(path)]) == 2
    told = capsys.readouterr()
    check_one_line(told.err, str(path), "No space left on device", "it was not written")
    assert "differ (p " in told.out  # what was computed is told before anything is written
    assert path.read_bytes() == OLD
    assert sorted(file.name for file in files.iterdir()) == ["a.csv", "b.csv", path.name]


@pytest.mark.long
@pytest.mark.parametrize(("unbuffered", "form"), [("", ["--json", "-"]), ("1", [])])
def test_standard_output_on_a_full_disk(files, unbuffered, form):
    """Unbuffered, Python itself would lose the rest in silence and end with status 0."""
    given = ["compare", "a.csv", "b.csv", "--permutations", "99", "--seed", "0", *form]
    with Path("out.txt").open("w") as out:
        end = run_limited(
            "RLIMIT_FSIZE",
            100,
            *given,
            stdout=out,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert end.returncode == 2
    check_one_line(end.stderr, "standard output: File too large", "incomplete")
    assert os.path.getsize("out.txt") == 100


def test_a_monitor_keeps_its_state(files):
    """A real limit of the system on the size of files, between two states."""
    shutil.copy("b.csv", "c.csv")
    Path("d.csv").write_text(Path("b.csv").read_text().replace("1", "2"))
    given = ["monitor", "a.csv", "--state", "state.json", "--permutations", "99", "--seed", "0"]
    assert run([*given, "b.csv", "--quiet"]) == 0
    before = Path("state.json").read_bytes()
    end = run_limited("RLIMIT_FSIZE", len(before) - 1, *given, "d.csv")
    assert end.returncode == 2
    assert "2. d: p " in end.stdout  # the check itself is told
    check_one_line(end.stderr, "state.json: File too large; it was not written")
    assert Path("state.json").read_bytes() == before
    assert not list(files.glob(".tellapart-*"))
    # With room again the same batch is checked, and not passed over.
    assert run([*given, "d.csv", "--quiet"]) == 0
    assert len(json.loads(Path("state.json").read_text())["history"]) == 2


ON_TMPFS = """
import os, sys
import tellapart as ta, numpy as np
x = np.random.default_rng(0).normal(size=(30, 2))
result = ta.two_sample_test(x, x[::-1] + 1, n_permutations=99, random_state=0)
path = os.path.join(sys.argv[1], "out.html")
open(path, "w").write("old")
try:
    result.to_html(path)
except OSError as error:
    print(error.errno, error.filename, os.listdir(sys.argv[1]), open(path).read())
"""


def test_a_file_system_that_is_really_full(tmp_path):
    """A tiny one in memory, seen by this one process alone."""
    place = tmp_path / "tiny"
    place.mkdir()
    shell = 'mount -t tmpfs -o size=16k tmpfs "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "--mount", "sh", "-c", shell, "sh", place, sys.executable, ON_TMPFS]
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only the superuser may mount a file system")
    end = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if "mount" in end.stderr or "unshare" in end.stderr:
        pytest.skip("mounting is not permitted here")
    assert end.stderr == ""
    path = place / "out.html"
    assert end.stdout.split("\n")[0] == f"{errno.ENOSPC} {path} ['out.html'] old"
    assert list(place.iterdir()) == []  # and gone with its process


CACHED = """
import os
from tellapart.strs.domains import secular_root
import numpy as np
print(secular_root(np.array([0.0, 1.0]), np.array([1.0, 0.5]), 0.0))
for folder, _, files in os.walk(os.environ["NUMBA_CACHE_DIR"]):
    for name in files:
        print(name)
"""


def test_compiled_functions_need_no_room(tmp_path):
    """Numba alone raises where it cannot store what it has compiled."""
    with_room = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "room")}
    whole = run_limited("RLIMIT_FSIZE", 10**9, program=CACHED, env=with_room)
    assert ".nbi" in whole.stdout
    without = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "none")}
    cut = run_limited("RLIMIT_FSIZE", 100, program=CACHED, env=without)
    assert cut.stderr == ""
    assert cut.stdout == whole.stdout.splitlines(keepends=True)[0]  # the value, and no file
    # What is kept but damaged is compiled again, and kept whole.
    (index,) = (tmp_path / "room").rglob("*.nbi")
    index.write_bytes(index.read_bytes()[:40])
    again = run_limited("RLIMIT_FSIZE", 10**9, program=CACHED, env=with_room)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[0] == whole.stdout.splitlines()[0]
    assert index.stat().st_size > 40
