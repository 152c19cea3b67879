"""The map of the README, made from the tree: one line per room, from its docstring.

.venv/bin/python tools/file_map.py     # writes it into README.md
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tellapart"
BEGIN, END = "<!-- file map: made by tools/file_map.py -->\n", "<!-- end of the file map -->\n"

# Leaves first, then the rooms in the order in which data flows; tests/test_architecture.py holds
# every file to it.
LEAVES = (
    "text",
    "budget",
    "errors",
    "optional",
    "arguments",
    "arrays",
    "interrupts",
    "threads",
    "progress",
    "writing",
    "compiling",
)
ROOMS = (
    "data",
    "kernels",
    "statistics",
    "theory",
    "strs",
    "search",
    "permutation",
    "effects",
    "scan",
    "evidence",
    "selection",
    "results",
    "two_sample",
    "groups",
    "monitor",
    "planning",
    "estimator",
    "datasets",
    "baselines",
    "report",
    "cli",
)
REST = {
    "tests/": "follow the rooms",
    "benchmarks/": "one question, one script; results/ holds their tables",
    "experiments/": "the paper's tables and figures, redone",
    "docs/": "the pages of the documentation",
    "examples/": "short programs to run",
    "tools/": "scripts for developers: this map, outputs of pages, packages, versions",
}


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].rstrip(".")


def room_line(name: str) -> str:
    """Return a room, or a module of its own, with the first line of its docstring."""
    folder = PACKAGE / name
    if folder.is_dir():
        return f"  {name + '/':<16}{first_line(folder / '__init__.py')}"
    return f"  {name + '.py':<16}{first_line(folder.with_suffix('.py'))}"


def file_map() -> str:
    """Return the whole map as a block of Markdown."""
    lines = ["src/tellapart/", f"  {'*.py':<16}{', '.join(LEAVES)}: used by every room"]
    lines += map(room_line, ROOMS)
    lines += [f"{name:<18}{description}" for name, description in REST.items()]
    return "".join(f"    {line}\n" for line in lines)


def with_map(readme: str) -> str:
    """Return the README with the map as the tree is now."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{file_map()}\n{END}{after}"


if __name__ == "__main__":
    path = ROOT / "README.md"
    sys.stdout.write("README.md\n")
    path.write_text(with_map(path.read_text(encoding="utf-8")), encoding="utf-8")
