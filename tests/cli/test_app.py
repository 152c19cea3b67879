"""What all commands share: version, help, errors, a light start."""

import subprocess
import sys

from tellapart import __version__
from tellapart.cli import run


def test_version_and_help(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"tellapart {__version__}\n"
    assert run([]) == 0
    assert "compare" in capsys.readouterr().out
    assert run(["compare", "--help"]) == 0
    assert "--permutations" in capsys.readouterr().out


def test_an_unknown_command_is_one_line(capsys):
    assert run(["explain"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("tellapart: error: ")
    assert err.count("\n") == 1
    assert "explain" in err


def test_as_a_module():
    command = [sys.executable, "-m", "tellapart", "compare", "a.csv", "none.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_importing_is_quick():
    """Matplotlib, scikit-learn and Numba wait until they are needed."""
    code = "import sys, tellapart; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"matplotlib", "jinja2", "sklearn", "numba", "pandas", "polars"}
    assert not heavy & set(done.stdout.split())
