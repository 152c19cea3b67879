"""What reaches a terminal or a page is shown, and nothing in it acts."""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from tellapart.text import safe, safe_lines

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def test_what_acts_is_written_out():
    for unsafe, shown in {
        "\x1b[2J": r"\x1b[2J",
        "\x1b]0;title\x07": r"\x1b]0;title\x07",
        "\x9b31m": r"\x9b31m",
        "a\x00b\x08\x7f": r"a\x00b\x08\x7f",
        "half \ud83d": r"half \ud83d",
        "\u202eevil\u202c\u2066\u2069\u200f\u061c": r"\u202eevil\u202c\u2066\u2069\u200f\u061c",
        "one\r\ntwo\nthree\tfour\u2028five\x85six": "one two three four five six",
    }.items():
        assert safe(unsafe) == shown


def test_what_is_only_seen_stays():
    for text in ("", "age (years)", "[/red] {x} <b> & \\", "Größe, 身長, طول, 👩‍🔬, a\u00a0b"):
        assert safe(text) == safe_lines(text) == text
    assert safe(3.5) == "3.5"


def test_lines_and_tabs_may_stay():
    assert safe_lines("a\tb\nc\r\nd\x1b\re") == "a\tb\nc\nd\\x1b\\x0de"


@given(ANY_TEXT)
@example("\u2029")
def test_nothing_unsafe_is_left_and_safe_text_stays(text):
    shown = safe(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(c) for c in shown} & {"RLO", "LRO", "RLE", "LRE", "PDF"}
    assert safe(shown) == shown
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    lines = safe_lines(text)
    assert safe(lines) == lines.replace("\n", " ").replace("\t", " ")
