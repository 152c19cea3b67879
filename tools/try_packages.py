"""Install a wheel and an sdist into fresh environments, and use them outside the source tree.

python tools/try_packages.py dist
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMOKE = """
import importlib.metadata, pathlib, sys
import numpy as np, tellapart as ta

assert pathlib.Path(ta.__file__).is_relative_to(sys.prefix), ta.__file__
assert importlib.metadata.version("tellapart") == ta.__version__
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [0, 0, 2, 0]
result = ta.two_sample_test(X, Y, n_permutations=99, random_state=0)
assert result.reject and result.variables == ("x2",), result.summary()
result.to_html("report.html")
assert "x2" in pathlib.Path("report.html").read_text(encoding="utf-8")
"""


def try_package(package: Path) -> None:
    """Install one package, run a test, its page and the command line; raise if any fails."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

        def run(program: str, *arguments: str) -> None:
            subprocess.run([programs / program, *arguments], cwd=place, env=clean, check=True)

        run("python", "-m", "pip", "install", "--quiet", str(package))
        run("python", "-c", SMOKE)
        run("tellapart", "demo", "--help")
        (place / "a.csv").write_text("u,v\n" + "1,2\n2,1\n3,5\n" * 9)
        (place / "b.csv").write_text("u,v\n" + "1,7\n2,9\n3,8\n" * 9)
        run("tellapart", "compare", "a.csv", "b.csv", "--seed", "0", "--json", "out.json")


def main() -> None:
    """Try every package in the folder that is named."""
    folder = Path(sys.argv[1]).resolve()
    packages = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if len(packages) != 2:
        sys.exit(f"{folder} must hold a wheel and an sdist; got {[p.name for p in packages]}")
    for package in packages:
        try_package(package)
        sys.stdout.write(f"{package.name}: installs and works outside the source tree\n")


if __name__ == "__main__":
    main()
