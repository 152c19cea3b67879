"""Measure the source tree: files, lines of code, imports, and the walk of a call through the files.

    python tools/house.py                 # size of the tree
    python tools/house.py --walks         # and the files that four calls visit

A line of code is a line that holds a token other than a docstring, a comment or an import. The walk
counts the files of the package in which a function runs during a call (`visited`), how often
execution passes from one file to another when functions are taken in the order of their first call
(`changes`), and how many files it comes back to (`returns`).
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "tellapart"
BLANK_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def lines_of(text: str) -> tuple[int, int]:
    """Return the numbers of lines of code and of import lines of a file."""
    tree = ast.parse(text)
    strings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        constant = node.value if isinstance(node, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in BLANK_TOKENS:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - strings - imports), len(imports)


def measure_tree(source: Path) -> dict[str, float]:
    """Return the size of the tree below `source`."""
    files = sorted(source.rglob("*.py"))
    texts = [path.read_text() for path in files]
    counts = [lines_of(text) for text in texts]
    total = sum(text.count("\n") for text in texts)
    names = [path.name for path in files if path.name != "__init__.py"]
    return {
        "files": len(files),
        "lines": total,
        "lines of code": sum(code for code, _ in counts),
        "import lines, share of all lines": round(sum(lines for _, lines in counts) / total, 3),
        "files below 50 lines of code": sum(code < 50 for code, _ in counts),
        "longest file, lines": max(text.count("\n") for text in texts),
        "file names that occur more than once": len({n for n in names if names.count(n) > 1}),
    }


def walk_of(call: Callable[[], object], source: Path) -> dict[str, int]:
    """Return how a call goes through the files below `source`."""
    seen: dict[tuple[str, str, int], None] = {}
    prefix = str(source)

    def hook(frame: object, event: str, _argument: object) -> None:
        if event == "call":
            code = frame.f_code  # type: ignore[attr-defined]
            if code.co_filename.startswith(prefix) and code.co_name != "<module>":
                seen.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno))

    import threading

    threading.setprofile(hook)
    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    files = [name for name, *_ in seen]
    visits = [now for now, before in zip(files, [None, *files], strict=False) if now != before]
    return {
        "visited": len(set(files)),
        "functions": len(seen),
        "changes": len(visits) - 1,
        "returns": len({name for name in visits if visits.count(name) > 1}),
    }


def four_calls() -> dict[str, Callable[[], object]]:
    """Return the calls that are walked through: 200 + 200 rows, 20 columns, two of them shifted."""
    import numpy as np

    import tellapart as ta

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 20)), rng.normal(size=(200, 20))
    Y[:, :2] += 0.5
    problem = ta.strs.SparseTrustRegion(
        -np.cov(X, rowvar=False), X.mean(axis=0) - Y.mean(axis=0), 3
    )
    return {
        "two_sample_test": lambda: ta.two_sample_test(X, Y, random_state=0),
        "select_variables": lambda: ta.select_variables(X, Y, 3, random_state=0),
        'method="split"': lambda: ta.two_sample_test(X, Y, method="split", random_state=0),
        "strs.solve": lambda: ta.strs.solve(problem, random_state=0),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the size of the tree and, with --walks, the walks of the four calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", action="store_true", help="walk four calls too")
    parser.add_argument("--source", type=Path, default=SOURCE, help="the package's folder")
    options = parser.parse_args(arguments)
    rows = [f"{name:40} {value:>10,}" for name, value in measure_tree(options.source).items()]
    if options.walks:
        sys.path.insert(0, str(options.source.parent))
        for name, call in four_calls().items():
            call()  # imports and compilation are not part of the walk
            walk = ", ".join(
                f"{key} {value}" for key, value in walk_of(call, options.source).items()
            )
            rows.append(f"{name:40} {walk}")
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
