"""Check that everything that carries the version, or the dependencies, says the same.

python tools/check_release.py [TAG] [--sdist dist/tellapart-….tar.gz]

With a tag, the version must be the tag's. With an sdist, its checksum is written into the conda
recipe, which cannot have it before.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RENAMED = {"matplotlib": "matplotlib-base"}
"""What conda-forge calls a package."""


def problems(root: Path = ROOT, tag: str | None = None) -> Iterator[str]:
    """Yield what does not agree with pyproject.toml, one line each."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = project["version"]
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, the version {version}"
    patterns = {
        "src/tellapart/__init__.py": r'__version__ = "([^"]+)"',
        "CITATION.cff": r"(?m)^version: (\S+)",
        "conda/recipe.yaml": r'version: "([^"]+)"',
        "CHANGELOG.md": r"(?m)^## (\d\S+)",
    }
    for name, pattern in patterns.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"))
        if found is None or found[1] != version:
            yield f"{name} has version {found and found[1]}, pyproject.toml {version}"
    recipe = (root / "conda/recipe.yaml").read_text(encoding="utf-8")
    extras = project["optional-dependencies"]
    needed = {
        f"- {RENAMED.get(name, name)} >={least}"
        for each in (*project["dependencies"], *extras["files"], *extras["plot"])
        for name, least in (each.split(">="),)
    }
    listed = set(re.findall(r"- [\w-]+ >=[\d.]+", recipe[recipe.index("  run:") :]))
    for line in sorted(needed ^ (listed - {"- python >=3.11"})):
        yield f"conda/recipe.yaml and pyproject.toml differ in {line!r}"


def write_checksum(sdist: Path, recipe: Path) -> None:
    """Write the checksum of an sdist into the recipe."""
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    text = recipe.read_text(encoding="utf-8")
    recipe.write_text(re.sub(r'sha256: "\w*"', f'sha256: "{checksum}"', text), encoding="utf-8")


def main() -> None:
    """Print what does not agree; exit with status 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tag", nargs="?")
    parser.add_argument("--sdist", type=Path)
    options = parser.parse_args()
    if options.sdist is not None:
        write_checksum(options.sdist, ROOT / "conda/recipe.yaml")
    found = list(problems(tag=options.tag))
    sys.stderr.writelines(f"{line}\n" for line in found)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
