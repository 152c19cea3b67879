"""The file map of the README, made from the tree: rooms in their order, what each says it is.

.venv/bin/python tools/file_map.py     # writes it into README.md
"""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "tellapart"
BEGIN, END = "<!-- file map: made by tools/file_map.py -->\n", "<!-- end of the file map -->\n"
WIDTH = 110

# Leaves first, then the rooms in the order in which data flows; tests/test_architecture.py holds
# every file to it.
LEAVES = (
    "text",
    "budget",
    "errors",
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
    "reproduction",
    "cli",
)
REST = {
    "tests/": "mirror the rooms",
    "benchmarks/": "one question, one script; results/ holds their tables",
    "experiments/": "rows and figures of the paper's evaluation, redone",
    "docs/": "the pages of the site",
    "examples/": "short runnable stories",
    "tools/": "this map",
}


def says(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].rstrip(".")


def room_lines(name: str, indent: str = "  ") -> list[str]:
    """Return what a room is, and the files and rooms in it."""
    folder = PACKAGE / name
    if not folder.is_dir():
        return [f"{indent}{name + '.py':<16}{says(folder.with_suffix('.py'))}"]
    files = sorted(p.stem for p in folder.glob("*.py") if p.stem != "__init__")
    lines = [f"{indent}{folder.name + '/':<16}{says(folder / '__init__.py')}"]
    if files:
        inside = f"{indent}    "
        lines += textwrap.wrap(
            " ".join(files), WIDTH, initial_indent=inside, subsequent_indent=inside
        )
    for inner in sorted(p for p in folder.iterdir() if (p / "__init__.py").exists()):
        lines += room_lines(str(inner.relative_to(PACKAGE)), f"{indent}    ")
    return lines


def file_map() -> str:
    """Return the whole map as a block of Markdown."""
    lines = ["src/tellapart/", *(line for leaf in LEAVES for line in room_lines(leaf))]
    lines += [line for room in ROOMS for line in room_lines(room)]
    lines += [f"{name:<18}{what}" for name, what in REST.items()]
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
