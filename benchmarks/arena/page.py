"""Tables of the arena in its page of the documentation: what lies between two marks is made."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "power.md"


def fill(text: str, name: str, made: str) -> str:
    """Return the text with `made` between the marks of that name.

    >>> fill("<!-- a: made by draw.py -->old<!-- end of a -->", "a", "new").splitlines()
    ['<!-- a: made by draw.py -->', '', 'new', '', '<!-- end of a -->']
    """
    begin, end = f"<!-- {name}: made by draw.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{made.strip()}\n\n{end}{after}"


def fill_page(parts: dict[str, str]) -> None:
    """Write those parts into the page that it has marks for."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in parts.items():
        if f"<!-- {name}: made by draw.py -->" in text:
            text = fill(text, name, made)
    PAGE.write_text(text, encoding="utf-8")
