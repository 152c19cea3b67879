"""Check a wheel and an sdist: what they hold, and that they work outside the source tree.

python tools/try_packages.py dist

The wheel is installed without extras, the sdist with those for files and figures, each into a fresh
environment.
"""

from __future__ import annotations

import email
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = {".whl": 1_500_000, ".gz": 6_000_000}
"""Upper limits of the sizes of packages."""
ENDINGS = (".py", ".typed", ".j2", ".css", ".js")
"""Files of the package: code, that it has types, and what pages are made of."""
METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")

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
page = pathlib.Path("report.html").read_text(encoding="utf-8")
assert "x2" in page and ("<svg" in page) == (len(sys.argv) > 1)
"""
HINT = 'a.csv: reading it needs pyarrow; run: pip install "tellapart[files]"'


def check_wheel(wheel: Path) -> Iterator[str]:
    """Yield what is wrong with the contents of a wheel: it holds src/tellapart and nothing else."""
    release = "-".join(wheel.name.split("-")[:2])
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        metadata = archive.read(f"{release}.dist-info/METADATA").decode()
    source = ROOT / "src"
    needed = {
        path.relative_to(source).as_posix()
        for path in (source / "tellapart").rglob("*")
        if path.suffix in ENDINGS
    }
    needed |= {f"{release}.dist-info/{name}" for name in METADATA}
    yield from (f"{wheel.name}: {name} is missing" for name in sorted(needed - held))
    yield from (f"{wheel.name}: {name} is not part of it" for name in sorted(held - needed))
    yield from check_description(wheel.name, metadata)


def check_description(name: str, metadata: str) -> Iterator[str]:
    """Yield what keeps the README from being shown by the package index."""
    from readme_renderer import markdown  # what the package index renders with

    message = email.message_from_string(metadata)
    if message["Description-Content-Type"] != "text/markdown":
        yield f"{name}: the README must be text/markdown; got {message['Description-Content-Type']}"
    said = io.StringIO()
    if markdown.render(message.get_payload(), stream=said) is None:
        yield f"{name}: the README cannot be rendered: {said.getvalue()}"


def check_sdist(sdist: Path) -> Iterator[str]:
    """Yield what is wrong with the contents of an sdist: it holds what git does, and PKG-INFO."""
    with tarfile.open(sdist) as archive:
        held = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    there = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    yield from (f"{sdist.name}: {name} is missing" for name in sorted(there - held))
    yield from (
        f"{sdist.name}: {name} is not under version control"
        for name in sorted(held - there - {"PKG-INFO"})
    )


def check_contents(package: Path) -> list[str]:
    """Return what is wrong with a package before it is installed."""
    check = check_wheel if package.suffix == ".whl" else check_sdist
    found, most, size = list(check(package)), MOST_BYTES[package.suffix], package.stat().st_size
    if size > most:
        found.append(f"{package.name} must take at most {most:,} bytes; got {size:,}")
    return found


def try_package(package: Path, extras: str = "") -> None:
    """Install one package, run a test, its page and the command line; raise if any fails."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        programs = place / "env" / ("Scripts" if os.name == "nt" else "bin")
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

        def run(program: str, *arguments: str, status: int = 0) -> str:
            end = subprocess.run(
                [programs / program, *arguments],
                cwd=place,
                env=clean,
                check=False,
                capture_output=True,
                text=True,
            )
            if end.returncode != status:
                sys.exit(f"{package.name}: {program} ended with {end.returncode}: {end.stderr}")
            return end.stderr

        run("python", "-m", "pip", "install", "--quiet", f"{package}{extras}")
        run("python", "-c", SMOKE, *([extras] if extras else []))
        run("tellapart", "demo", *(["--help"] if extras else []))
        (place / "a.csv").write_text("u,v\n" + "1,2\n2,1\n3,5\n" * 9)
        (place / "b.csv").write_text("u,v\n" + "1,7\n2,9\n3,8\n" * 9)
        compare = ("compare", "a.csv", "b.csv", "--seed", "0", "--json", "out.json")
        said = run("tellapart", *compare, status=0 if extras else 2)
        if not extras and HINT not in said:
            sys.exit(f"{package.name}: the error must be {HINT!r}; got {said!r}")


def main() -> None:
    """Check and try both packages in the folder that is named."""
    folder = Path(sys.argv[1]).resolve()
    packages = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if len(packages) != 2:
        sys.exit(f"{folder} must hold a wheel and an sdist; got {[p.name for p in packages]}")
    problems = [problem for package in packages for problem in check_contents(package)]
    if problems:
        sys.exit("\n".join(problems))
    for package, extras in zip(packages, ("", "[files,plot]"), strict=True):
        try_package(package, extras)
        sys.stdout.write(
            f"{package.name} ({package.stat().st_size / 1e6:.1f} MB): holds what it should, "
            f"installs {'with ' + extras if extras else 'without extras'} and works\n"
        )


if __name__ == "__main__":
    main()
