"""Text from data, safe to show: names and labels must not steer a terminal or a page."""

from __future__ import annotations

import re

# Controls of both sets, halves of characters, ends of line and paragraph, what is no character
# (XML, and so SVG, cannot hold it), and the marks that reverse what follows them.
_CONTROLS = "\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufffe\uffff"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[{_CONTROLS}{_DIRECTIONS}]")
_UNSAFE_IN_LINES = re.compile(rf"(?![\n\t])[{_CONTROLS}{_DIRECTIONS}]")
_BREAK = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")


def safe(text: object) -> str:
    r"""Return text on one line, without anything that acts instead of being shown.

    Breaks of lines and tabs become spaces. Control characters, halves of characters and marks
    that reverse the direction of reading are written out, as in \x1b.

    Examples
    --------
    >>> safe("two\nlines"), safe("\x1b[31mred"), safe("abc\u202efdp.exe"), safe("naïve 名前 ±")
    ('two lines', '\\x1b[31mred', 'abc\\u202efdp.exe', 'naïve 名前 ±')
    """
    return _UNSAFE.sub(_written_out, _BREAK.sub(" ", str(text)))


def safe_lines(text: object) -> str:
    r"""Return text of several lines made safe like `safe`, its lines and tabs left as they are.

    Examples
    --------
    >>> safe_lines("a\tb\r\nc\x07")
    'a\tb\nc\\x07'
    """
    return _UNSAFE_IN_LINES.sub(_written_out, str(text).replace("\r\n", "\n"))


def escaped_json(text: str) -> str:
    r"""Return JSON with the same content, safe to show: unsafe characters as JSON's own escapes.

    Examples
    --------
    >>> escaped_json('["\x9b31m"]')
    '["\\u009b31m"]'
    """
    return _UNSAFE_IN_LINES.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
