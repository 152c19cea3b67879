"""Optional solvers: loaded when there, named with an install hint when not."""

import sys

import pytest

from tellapart.errors import MissingDependencyError
from tellapart.strs.optional import load


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
