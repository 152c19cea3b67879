"""What a release carries: versions that agree, workflows that run commands which exist."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest
import yaml

from check_release import problems, write_checksum
from try_packages import METADATA, check_contents

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CARRIERS = ["pyproject.toml", "CITATION.cff", "CHANGELOG.md", "conda", "src/tellapart/__init__.py"]


def test_versions_and_dependencies_agree_everywhere():
    assert list(problems()) == []


def test_what_differs_is_named(tmp_path):
    for name in CARRIERS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    recipe = tmp_path / "conda/recipe.yaml"
    recipe.write_text(recipe.read_text().replace("numpy >=1.26", "numpy >=1.25"))
    found = list(problems(tmp_path, tag="v9.9"))
    assert found[0].startswith("the tag is v9.9")
    assert [line for line in found if "numpy >=1.2" in line]
    write_checksum(ROOT / "LICENSE", recipe)
    assert re.search(r'sha256: "[0-9a-f]{64}"', recipe.read_text())


def test_what_is_wrong_with_packages_is_named(tmp_path):
    pytest.importorskip("readme_renderer")
    wheel = tmp_path / "tellapart-0.2.0-py3-none-any.whl"
    source = ROOT / "src"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in (source / "tellapart").rglob("*"):
            if path.suffix in (".py", ".typed", ".j2", ".css"):
                archive.write(path, path.relative_to(source))
        for name in METADATA:
            text = "Description-Content-Type: text/x-rst\n\n# README" if name == "METADATA" else ""
            archive.writestr(f"tellapart-0.2.0.dist-info/{name}", text)
        archive.writestr("tests/conftest.py", "")
    assert check_contents(wheel) == [
        f"{wheel.name}: tellapart/report/tables.js is missing",
        f"{wheel.name}: tests/conftest.py is not part of it",
        f"{wheel.name}: the README must be text/markdown; got text/x-rst",
        f"{wheel.name} must take at most 1,500,000 bytes; got {wheel.stat().st_size:,}",
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_there_is(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    # YAML reads the key "on" as true.
    assert {"name", True, "permissions", "jobs"} <= set(workflow)
    for job in workflow["jobs"].values():
        assert "runs-on" in job
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            command = step.get("run", "")
            assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= targets
            for script in re.findall(r"(?:python |^)((?:tools|\.ci)/\S+)", command):
                assert (ROOT / script).exists()


def test_forms_and_citation_are_readable():
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert "body" in form or path.stem == "config"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["preferred-citation"]["authors"][0]["family-names"] == "Wang"
