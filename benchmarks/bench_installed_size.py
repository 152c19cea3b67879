"""What an installation takes on disk, by package: without extras, with files and figures, with all.

python benchmarks/bench_installed_size.py

Each set is installed into one fresh environment, on top of the set before it. Sizes are those of
all files that pip has recorded, compiled bytecode included; pip itself does not count.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
import venv
from pathlib import Path

from store import store, table

ROOT = Path(__file__).parents[1]
SETS = (".", ".[files,plot]", ".[all]")
SHOWN = 2.0
"""Megabytes from which a package has a line of its own."""
MEASURE = """
import importlib.metadata as metadata, json, os

def size(path):
    return os.path.getsize(path) if os.path.isfile(path) else 0

print(json.dumps({
    found.name.lower(): sum(size(found.locate_file(path)) for path in found.files or ())
    for found in metadata.distributions() if found.name not in ("pip", "setuptools")
}))
"""


def sizes(place: Path) -> list[dict[str, int]]:
    """Return the bytes of every package after each set is installed."""
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    measured = []
    for chosen in SETS:
        # The package itself is built anew: what is in the tree is measured.
        subprocess.run([python, "-m", "pip", "install", "--quiet", chosen], cwd=ROOT, check=True)
        end = subprocess.run([python, "-c", MEASURE], capture_output=True, check=True, cwd=place)
        measured.append(json.loads(end.stdout))
    return measured


def main() -> None:
    """Install, measure and store."""
    with tempfile.TemporaryDirectory() as folder:
        measured = sizes(Path(folder))
    rows, seen = [], set()
    for chosen, packages in zip(SETS, measured, strict=True):
        for name in sorted(set(packages) - seen, key=lambda name: -packages[name]):
            size, command = round(packages[name] / 1e6, 1), f'`pip install "{chosen}"`'
            rows.append({"package": name, "MB": size, "installed by": command})
        seen |= set(packages)
    totals = [
        {
            "command": f'`pip install "{chosen}"`',
            "packages": len(packages),
            "MB": round(sum(packages.values()) / 1e6),
        }
        for chosen, packages in zip(SETS, measured, strict=True)
    ]
    text = (
        "# Installed size\n\n"
        "What pip records as installed, bytecode included, without pip itself, on "
        f"{platform.system()} {platform.machine()} with Python {platform.python_version()}. "
        "`python benchmarks/bench_installed_size.py`\n\n"
        f"{table(totals)}\n\n"
        f"Packages of {SHOWN:g} MB or more, each with the first set that needs it:\n\n"
        f"{table([row for row in rows if row['MB'] >= SHOWN])}\n"
    )
    store("installed_size", text, rows)


if __name__ == "__main__":
    main()
