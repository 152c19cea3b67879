"""The rooms of the package: data flows one way, from the first of them to the last."""

import ast
from functools import cache
from pathlib import Path

import pytest

import tellapart
from file_map import LEAVES, ROOMS

ROOT = Path(tellapart.__file__).parent
# Faces name what is behind them: the package itself, its command, and the objective's old address.
FACES = {"__init__", "__main__", "objective"}
# A result draws and tells of itself, but only when asked: the import waits inside the method.
LATE = {(room, "report") for room in ("selection", "results", "groups", "monitor", "planning")}


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules():
    return [path for path in sorted(ROOT.rglob("*.py")) if room(path) not in FACES]


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_rooms(path):
    """Give the rooms a file imports from, and whether the import waits inside a function."""
    nodes = list(ast.walk(tree(path)))
    inside = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    late = {id(node) for function in inside for node in ast.walk(function)}
    for node in nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "tellapart":
                names = [f"tellapart.{alias.name}" for alias in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == "tellapart" and rest and rest[0] != "__version__":
                yield rest[0], id(node) in late


def test_each_room_imports_only_from_those_before_it():
    place = dict.fromkeys(LEAVES, 0) | {name: i for i, name in enumerate(ROOMS, 1)}
    for path in modules():
        here = room(path)
        assert here in place, f"give {here} its place among the rooms"
        for other, waits in imported_rooms(path):
            allowed = place[other] <= place[here] or (waits and (here, other) in LATE)
            assert allowed, f"{path.relative_to(ROOT)} imports {other}, which comes after {here}"


def test_the_report_computes_nothing():
    """It is handed results and what they hold: it has no use for what computes them."""
    computing = {"kernels", "statistics", "strs", "search", "permutation"}
    for path in (ROOT / "report").glob("*.py"):
        assert computing.isdisjoint(other for other, _ in imported_rooms(path)), path.name


def test_the_library_does_not_print():
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{path.relative_to(ROOT)}:{node.lineno}"


def test_public_names_exist():
    for name in tellapart.__all__:
        assert getattr(tellapart, name) is not None
        assert name in dir(tellapart)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tellapart.nonsense  # noqa: B018
