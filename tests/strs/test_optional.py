"""Optional solvers: loaded when there, named with an install hint when not."""

import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tellapart.errors import MissingDependencyError
from tellapart.strs.contract import OLDEST, load


def test_returns_the_module():
    assert load("math", "any").sqrt(4.0) == 2.0


@pytest.mark.parametrize(
    ("module", "name"), [("clarabel", "clarabel"), ("pyscipopt", "PySCIPOpt"), ("other", "other")]
)
def test_says_who_needs_what_and_how_to_get_it(monkeypatch, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        load(module, "convex-integer")
    message = str(caught.value)
    assert "'convex-integer'" in message
    assert name in message
    assert 'pip install "tellapart[solvers]"' in message
    assert "\n" not in message


@pytest.mark.parametrize(("version", "enough"), [("5.3.9", False), ("5.4.0", True), ("6.0", True)])
def test_a_library_that_is_too_old_is_named(monkeypatch, version, enough):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(metadata, "version", lambda name: version)
    if enough:
        assert load("pyscipopt", "convex-integer")
        return
    with pytest.raises(MissingDependencyError, match=r"PySCIPOpt 5\.4 or newer; got 5\.3\.9"):
        load("pyscipopt", "convex-integer")


def test_oldest_versions_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    stated = dict(
        entry.split(">=") for entry in project["project"]["optional-dependencies"]["solvers"]
    )
    assert stated == OLDEST
