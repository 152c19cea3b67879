"""Data flows one way: a module imports only from those before it."""

import ast
from pathlib import Path

import pytest

import tellapart

ROOT = Path(tellapart.__file__).parent
ORDER = [
    "errors",
    "blas",
    "arguments",
    "column_store",
    "samples",
    "missing",
    "columns",
    "sources",
    "tables",
    "grouping",
    "files",
    "datasets",
    "fastsum",
    "bandwidth",
    "kernels",
    "strs",
    "statistics",
    "pair_sums",
    "squared_sums",
    "row_moments",
    "objective_sums",
    "objective",
    "progress",
    "search",
    "outputs",
    "points",
    "permutation",
    "column_relabelling",
    "selection",
    "folds",
    "tuning",
    "reselection",
    "select",
    "stability",
    "method",
    "result",
    "settings",
    "two_sample",
    "multiplicity",
    "groups_result",
    "groups",
    "selector",
    "reference",
    "baselines",
    "embedding",
    "plots",
    "experiments",
    "report",
    "console",
    "cli",
    "__main__",
]
# A result draws and tells of itself, but only when asked: the import waits inside the method.
LATE = {
    ("selection", "report"),
    ("result", "plots"),
    ("result", "report"),
    ("groups_result", "report"),
}
# Files that hold no step of the flow: the face of the package names what is behind it.
FACES = {"__init__"}


def modules():
    return [
        path
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0].removesuffix(".py") not in FACES
    ]


def unit(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_units(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "tellapart":
                names = [f"tellapart.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            if first == "tellapart" and rest and rest[0] != "__version__":
                yield rest[0]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_come_from_before(path):
    here = unit(path)
    assert here in ORDER, f"give {here} its place in ORDER"
    for other in imported_units(path):
        allowed = ORDER.index(other) <= ORDER.index(here) or (here, other) in LATE
        assert allowed, f"{here} imports {other}, which comes after it"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_hold_one_idea(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_library_does_not_print(path):
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert calls == []


@pytest.mark.parametrize("name", sorted(tellapart.__all__))
def test_public_names_exist(name):
    assert getattr(tellapart, name) is not None
    assert name in dir(tellapart)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tellapart.nonsense  # noqa: B018
