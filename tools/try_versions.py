"""Run the suite in one environment per Python and choice of versions, and count what passes.

    python tools/try_versions.py [--pythons python3.11 python3.13] [--only oldest newest pandas-2]
                                 [--tests tests/data -m long]

Environments are made below .venv-versions by uv. "oldest" has the lowest version of everything
that `pyproject.toml` allows, on the oldest Python only; "newest" what is newest today; "pandas-2"
the same with the last pandas before 3. Writes benchmarks/results/versions.md and versions.csv after
each environment; a row of the same Python and choice is replaced, the others stay.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".venv-versions"
RESULTS = ROOT / "benchmarks" / "results"
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
CHOICES = {
    "oldest": ("--resolution", "lowest-direct"),
    "newest": (),
    "pandas-2": ("pandas<3",),
}
SHOWN = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "numba", "dask")
COUNTS = ("passed", "skipped", "failed", "error")


def found_pythons() -> list[str]:
    """Return the interpreters of supported versions that are on the path or pyenv's."""
    pyenv = sorted(Path.home().glob(".pyenv/versions/*/bin/python"))
    found = {}
    for version in SUPPORTED:
        named = shutil.which(f"python{version}")
        held = [str(path) for path in pyenv if path.parts[-3].startswith(f"{version}.")]
        works = [p for p in ([named] if named else []) + held if _version(p).startswith(version)]
        if works:
            found[version] = works[-1]
    return list(found.values())


def _version(python: str) -> str:
    command = [python, "-c", "import sys; print(sys.version.split()[0])"]
    end = subprocess.run(command, capture_output=True, text=True, check=False)
    return end.stdout.strip()


def _uv() -> str:
    """Return the path of uv, installed into a small environment of its own if need be."""
    there = shutil.which("uv")
    if there:
        return there
    own = PLACE / "uv"
    if not (own / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", own], check=True)
        subprocess.run([own / "bin" / "python", "-m", "pip", "install", "-q", "uv"], check=True)
    return str(own / "bin" / "uv")


def environment(python: str, choice: str) -> Path:
    """Return an environment with the package and its tools, made afresh."""
    place = PLACE / f"{_version(python)}-{choice}"
    subprocess.run([_uv(), "venv", "-q", "--clear", "--python", python, place], check=True)
    subprocess.run(
        [_uv(), "pip", "install", "-q", *CHOICES[choice], "--editable", ".[dev]"],
        cwd=ROOT,
        env=os.environ | {"VIRTUAL_ENV": str(place)},
        check=True,
    )
    return place


def counted(line: str) -> dict[str, int]:
    """Return the counts of pytest's last line.

    >>> counted("2 failed, 1500 passed, 3 skipped in 9.1s")
    {'passed': 1500, 'skipped': 3, 'failed': 2, 'error': 0}
    """
    found = {kind: int(n) for n, kind in re.findall(r"(\d+) (passed|skipped|failed|error)", line)}
    return {kind: found.get(kind, 0) for kind in COUNTS}


def tried(place: Path, python: str, choice: str, tests: list[str]) -> dict[str, object]:
    """Run the tests in an environment and return its row of the table."""
    program = str(place / "bin" / "python")
    command = [program, "-m", "pytest", "-o", "addopts=", "--doctest-modules", "--strict-markers"]
    command += ["--import-mode=importlib", "-q", "-p", "no:cacheprovider"]
    # Without pyproject's options; an `-m` of the caller's own takes the place of this one.
    command += ["-m", "not long", *tests]
    log = PLACE / f"{place.name}.log"
    with log.open("w") as out:
        settings = os.environ | {"MPLBACKEND": "Agg"}
        subprocess.run(command, cwd=ROOT, stdout=out, stderr=out, env=settings, check=False)
    last = log.read_text().strip().splitlines()[-1]
    ask = "import sys, importlib.metadata as m; print(*[m.version(n) for n in sys.argv[1:]])"
    versions = subprocess.run(
        [program, "-c", ask, *SHOWN], capture_output=True, text=True, check=True
    ).stdout.split()
    held = ", ".join(f"{name} {version}" for name, version in zip(SHOWN, versions, strict=True))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    row: dict[str, object] = {"Python": _version(python), "versions": choice, "commit": commit}
    return row | counted(last) | {"with": held}


def main() -> None:
    """Try every combination, print and store the counts; status 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pythons", nargs="+", default=None, help="interpreters; all by default")
    parser.add_argument("--only", nargs="+", choices=list(CHOICES), default=list(CHOICES))
    asked, tests = parser.parse_known_args()
    pythons = asked.pythons or found_pythons()
    PLACE.mkdir(exist_ok=True)
    failed = False
    for python in pythons:
        for choice in asked.only:
            if choice == "oldest" and python != found_pythons()[0]:
                continue  # the newest Pythons have no wheels of the oldest versions
            row = tried(environment(python, choice), python, choice, tests)
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
            store(row, " ".join(["python tools/try_versions.py", *sys.argv[1:]]))
            failed = failed or bool(row["failed"] or row["error"])
    sys.exit(failed)


def store(row: dict[str, object], command: str) -> None:
    """Write a row beside those of other environments that earlier runs have stored."""
    numbers = RESULTS / "versions.csv"
    rows = []
    if numbers.exists():
        with numbers.open(encoding="utf-8", newline="") as file:
            rows = [dict(held) for held in csv.DictReader(file)]
    entry = {key: str(value) for key, value in row.items()} | {"command": command}
    place = (entry["Python"], entry["versions"])
    rows = [held for held in rows if (held["Python"], held["versions"]) != place]
    rows = sorted([*rows, entry], key=lambda held: (held["Python"], held["versions"]))
    heading = list(entry)
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    lines += [f"| {' | '.join(held[key] for key in heading)} |" for held in rows]
    (RESULTS / "versions.md").write_text(
        "\n".join(["# Versions", "", *lines, ""]), encoding="utf-8"
    )
    with numbers.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, heading, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
