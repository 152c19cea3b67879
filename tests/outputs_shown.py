"""Outputs that documents show, compared with what was printed."""

import re


def same_but_for_seconds(printed: str, shown: str) -> bool:
    """Say whether two outputs agree, spaces and running times apart."""
    return _comparable(printed) == _comparable(shown)


def _comparable(text: str) -> list[str]:
    return re.sub(r"[0-9.]+ s\b", "… s", text).split()
