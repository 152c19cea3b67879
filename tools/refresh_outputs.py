"""Make the outputs that pages show again: every block runs, and its output is written below it.

An image right below a block is the figure that the block ends with.

.venv/bin/python tools/refresh_outputs.py                       # README.md and all of docs/
.venv/bin/python tools/refresh_outputs.py docs/howto/groups.md ...  # some pages

Outputs that agree except for running times are kept. Review the changes before you commit.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(\w*|\{[\w-]+\})\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Its commands take hours; what they need is tested by tests/cli/test_reproduce.py.
TAKES_HOURS = "evaluation.md"
# A block that imports one of these runs where it is installed (all are: make test-pipelines).
OPTIONAL = re.compile(r"^(?:import|from) (airflow|dagster|duckdb|mlflow|pandera)\b", re.MULTILINE)
IMAGE = re.compile(r"\s*!\[[^\]]*\]\(([^)\s]+)\)")
NUMBER = re.compile(r"((?:(?<![\w.])-)?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
# Digits of a float that was not rounded; a shorter one may be the same number (0.1 + 0.2, 0.3).
FULL_PRECISION = 12
COLUMNS = "100"
DPI = 100
# Pictures that agree may differ in letters, which other versions of Matplotlib place otherwise.
COARSE_PIXELS, LARGEST_DIFFERENCE = 20, 0.1


@dataclass(frozen=True)
class Block:
    """A block of a page, its place, the place of its output, and the figure it ends with.

    `end` is where all of it ends; `figure` is the target of the image.
    """

    language: str
    code: str
    start: int
    end: int
    shown: slice | None
    figure: str | None

    @property
    def absent(self) -> str | None:
        """The optional package that the block needs and that is not installed."""
        needed = OPTIONAL.search(self.code)
        absent = needed is not None and importlib.util.find_spec(needed.group(1)) is None
        return needed.group(1) if needed and absent else None


def pages_of_docs() -> list[Path]:
    """Return the pages that people write."""
    return sorted((ROOT / "docs").rglob("*.md"))


def blocks(text: str) -> Iterator[Block]:
    """Give the blocks of a page, each with its output and the figure shown right below it."""
    found = list(FENCE.finditer(text))
    for i, block in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else None
        shown, end = None, block.end()
        if (
            following is not None
            and following.group(1) == "text"
            and not text[block.end() : following.start()].strip()
        ):
            shown, end = slice(following.start(2), following.end(2)), following.end()
        image = IMAGE.match(text, end) if block.group(1) == "python" and shown is None else None
        figure = None if image is None else image.group(1)
        end = end if image is None else image.end()
        yield Block(block.group(1), block.group(2), block.start(), end, shown, figure)


def run_python(code: str, name: str, names: dict[str, object]) -> object:
    """Run a block and return the value of the expression that it ends with, or None."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), names)


def picture(value: object) -> bytes:
    """Return a figure, or the one that axes are on, as PNG."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    figure = value.figure if isinstance(value, Axes) else value
    assert isinstance(figure, Figure), f"an image stands below this block, which ends with {value}"
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def same_picture(one: bytes, other: bytes) -> bool:
    """Return whether two PNG pictures have the same size and agree in coarse pixels."""
    import numpy as np
    from matplotlib.image import imread

    pixels = [imread(io.BytesIO(png)) for png in (one, other)]
    if pixels[0].shape != pixels[1].shape:
        return False
    difference = (pixels[0] - pixels[1])[..., :3].mean(axis=2)
    rows, columns = (range(0, side, COARSE_PIXELS) for side in difference.shape)
    sums = np.add.reduceat(np.add.reduceat(difference, rows, axis=0), columns, axis=1)
    return bool(np.abs(sums).max() <= LARGEST_DIFFERENCE * COARSE_PIXELS**2)


def run_shell(code: str, folder: Path) -> str:
    """Run the lines as bash does, the project's commands first on the path.

    A line that is a plain call of the program runs in this process, which has loaded it already.
    """
    lines = code.replace("\\\n", " ").splitlines()
    calls = [_program_call(line) for line in lines]
    printed, rest = [], []
    for line, call in zip(lines, calls, strict=True):
        if call is None:
            rest.append(line)
            continue
        printed += [_run_bash("\n".join(rest), folder), _run_here(call, folder)]
        rest = []
    return "".join([*printed, _run_bash("\n".join(rest), folder)])


def _program_call(line: str) -> list[str] | None:
    """Return the arguments of a call of the program that needs no shell, or None."""
    try:
        words = shlex.split(line)
    except ValueError:  # quotes that go on
        return None
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", line)
    plain = words[:1] == ["tellapart"] and not re.search(r"[|&;<>$`()#*?~]", unquoted)
    return words[1:] if plain and "-" not in words else None


def _run_here(arguments: list[str], folder: Path) -> str:
    from tellapart.cli import run

    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(written):
            status = run(arguments)
    finally:
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns
    assert status == 0, arguments
    return written.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def _run_bash(code: str, folder: Path) -> str:
    if not code.strip():
        return ""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": COLUMNS},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_but_for_seconds(printed: str, shown: str) -> bool:
    """Return whether two outputs agree, apart from spaces, running times and last digits.

    Numbers of six digits and more agree to 1e-5, those in full precision to 1e-9: other versions
    of BLAS and other processors add in another order.

    >>> same_but_for_seconds("27.4393 in 0.2 s", "27.4392  in 0.3 s")
    True
    >>> same_but_for_seconds("p = 0.012", "p = 0.013")
    False
    >>> same_but_for_seconds("age,0.30000000000000004,0", "age,0.3,0")
    True
    """
    ours, theirs = _comparable(printed), _comparable(shown)
    return len(ours) == len(theirs) and all(map(_same_word, ours, theirs))


def refreshed(page: Path, folder: Path) -> str:
    """Return the page with the outputs that its blocks print now, having saved its figures."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    parts, last = [], 0
    for block in blocks(text):
        if block.absent:
            continue
        if block.language == "bash" and page.name != TAKES_HOURS:
            printed = run_shell(block.code, folder)
        elif block.language == "python":
            heard = io.StringIO()
            with contextlib.chdir(folder), contextlib.redirect_stdout(heard):
                value = run_python(block.code, str(page), names)
            printed = heard.getvalue()
            if block.figure is not None:
                _save_picture(picture(value), page.parent / block.figure)
        else:
            continue
        if block.shown is not None and not same_but_for_seconds(printed, text[block.shown]):
            parts += [text[last : block.shown.start], printed]
            last = block.shown.stop
    return "".join([*parts, text[last:]])


def _save_picture(png: bytes, path: Path) -> None:
    if not path.exists() or not same_picture(png, path.read_bytes()):
        path.write_bytes(png)


def _comparable(text: str) -> list[str]:
    # The cells of CSV lines are words of their own.
    return re.sub(r"[0-9.]+ s\b", "… s", text).replace(",", ", ").split()


def _same_word(one: str, other: str) -> bool:
    """Return whether words agree, numbers in them up to their last digits."""
    if one == other:
        return True
    ours, theirs = NUMBER.split(one), NUMBER.split(other)
    # Text and numbers alternate, and text comes first.
    return (
        len(ours) == len(theirs)
        and ours[::2] == theirs[::2]
        and all(map(_same_number, ours[1::2], theirs[1::2]))
    )


def _same_number(one: str, other: str) -> bool:
    if one == other:
        return True
    digits = [len(re.sub(r"[eE].*|[^0-9]", "", number)) for number in (one, other)]
    if max(digits) >= FULL_PRECISION:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-14)
    return min(digits) >= 6 and math.isclose(float(one), float(other), rel_tol=1e-5)


def main(arguments: list[str]) -> None:
    """Refresh the pages named, or all of them."""
    pages = [Path(name) for name in arguments]
    for page in pages or [ROOT / "README.md", *pages_of_docs()]:
        with tempfile.TemporaryDirectory() as folder:
            text = refreshed(page, Path(folder))
        changed = text != page.read_text(encoding="utf-8")
        if changed:
            page.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{page}: {'outputs changed' if changed else 'unchanged'}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
