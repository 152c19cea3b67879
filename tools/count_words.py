"""Count the words of the pages, by section: `python tools/count_words.py`.

Prose is what people read: text and tables of text. Blocks of code, what they print and tables of
numbers (benchmark results) are looked up rather than read, and counted apart.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^(`{3,}|:{3,})[^\n]*\n.*?^\1$", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
WORD = re.compile(r"\S*\w\S*")


def count_words(text: str) -> Counter[str]:
    """Return the words of a page: `prose`, `numbers` (tables of them) and `code`."""
    words: Counter[str] = Counter()

    def move(kind: str, part: str) -> str:
        words[kind] += len(WORD.findall(part))
        return "\n"

    text = BLOCK.sub(lambda block: move("code", "\n".join(block[0].splitlines()[1:-1])), text)
    text = LINK_TARGET.sub("]", text)
    text = TABLE.sub(
        lambda table: move("numbers", table[0]) if is_numeric(table[0]) else table[0], text
    )
    move("prose", text)
    return words


def is_numeric(table: str) -> bool:
    """Say whether half of a table's cells are numbers, apart from its first row and column.

    A number has a digit and at most three words beside it, as in "0.81 (t)" or "3 of 25".
    """
    rows = [row.strip("| ").split("|")[1:] for row in table.splitlines()[2:]]
    cells = [cell.strip() for row in rows for cell in row if cell.strip()]
    numbers = [cell for cell in cells if re.search(r"\d", cell) and len(cell.split()) <= 4]
    return 2 * len(numbers) >= max(1, len(cells))


def count_pages(folder: Path = ROOT / "docs") -> dict[Path, Counter[str]]:
    """Return the words of every page that people write."""
    return {
        page: count_words(page.read_text(encoding="utf-8")) for page in sorted(folder.rglob("*.md"))
    }


def main(by_page: bool) -> None:
    """Print the words of each section or page."""
    table: dict[str, Counter[str]] = {}
    for page, words in count_pages().items():
        relative = page.relative_to(ROOT / "docs")
        name = str(relative) if by_page or len(relative.parts) == 1 else relative.parts[0]
        table[name] = table.get(name, Counter()) + words
    table["all"] = sum(table.values(), Counter())
    kinds = ("prose", "numbers", "code")
    lines = [f"{'':32}" + "".join(f"{kind:>9}" for kind in kinds)]
    for name, words in table.items():
        lines.append(f"{name:32}" + "".join(f"{words[kind]:9,}" for kind in kinds))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main("--pages" in sys.argv[1:])
