"""Text from data, safe to show: names and labels must not steer a terminal or a page."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

# Control characters, lone surrogates, line and paragraph separators, noncharacters (XML, and so
# SVG, cannot hold them), and the marks that change the direction of the text.
_CONTROLS = "\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufffe\uffff"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[{_CONTROLS}{_DIRECTIONS}]")
_UNSAFE_IN_LINES = re.compile(rf"(?![\n\t])[{_CONTROLS}{_DIRECTIONS}]")
_BREAK = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")


def safe(text: object) -> str:
    r"""Return text on one line, without characters that a terminal would act on.

    Line breaks and tabs become spaces. Control characters, lone surrogates and marks that change
    the direction of the text are written out, as in \x1b.

    Examples
    --------
    >>> safe("two\nlines"), safe("\x1b[31mred"), safe("abc\u202efdp.exe"), safe("naïve 名前 ±")
    ('two lines', '\\x1b[31mred', 'abc\\u202efdp.exe', 'naïve 名前 ±')
    """
    return _UNSAFE.sub(_written_out, _BREAK.sub(" ", str(text)))


def safe_lines(text: object) -> str:
    r"""Return text of several lines made safe like `safe`, but with its line breaks and tabs.

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


def number_text(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, large ones with commas.

    Examples
    --------
    >>> number_text(0.123456), number_text(-101775.2), number_text(2.5e-7), number_text(61.0)
    ('0.1235', '−101,775', '2.5e−07', '61')
    """
    if 1e4 <= abs(value) < 1e12:
        places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
        text = f"{value:,.{places}f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−")


def number_pair(first: float, second: float) -> tuple[str, str]:
    """Return two numbers with enough digits to show the difference between them.

    Examples
    --------
    >>> number_pair(61.24, 58.0), number_pair(101774.9, 101775.2)
    (('61.24', '58'), ('101,774.9', '101,775.2'))
    """
    digits = 4
    difference = abs(first - second)
    largest = max(abs(first), abs(second))
    if math.isfinite(largest) and difference > 0:
        shown = math.floor(math.log10(largest)) - math.floor(math.log10(difference))
        digits = min(max(digits, shown + 1), 15)
    return number_text(first, digits), number_text(second, digits)


NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number_word(count: int) -> str:
    """Return a count as a word up to ten, as digits beyond.

    Examples
    --------
    >>> number_word(3), number_word(1200)
    ('three', '1,200')
    """
    return NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural but for one.

    Examples
    --------
    >>> counted(1, "variable"), counted(1200, "row")
    ('1 variable', '1,200 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def capitalised(text: str) -> str:
    """Return text with its first letter in upper case, all others as they are.

    Examples
    --------
    >>> capitalised("p-value of MMD²"), capitalised("")
    ('P-value of MMD²', '')
    """
    return f"{text[:1].upper()}{text[1:]}"


def joined(names: Iterable[object]) -> str:
    """Return names with commas between them, and "and" before the last.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = map(safe, names)
    return f"{', '.join(first)} and {last}" if first else last


def listed(names: Iterable[object], most: int, separator: str = ", ") -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b"], 2), listed(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    every = [safe(name) for name in names]
    return separator.join(every[:most]) + more_than(most, len(every))


def more_than(shown: int, count: int) -> str:
    """Return " and … more" where `shown` things of so many are shown; else nothing.

    Examples
    --------
    >>> more_than(10, 1210), more_than(10, 3)
    (' and 1,200 more', '')
    """
    return f" and {count - shown:,} more" if count > shown else ""


MOST_QUOTED = 5
"""Messages name this many columns, then say how many more there are."""


def quoted(names: Iterable[str]) -> str:
    """Return names for a message, the first few of them.

    >>> quoted(["a", "b"]), quoted("abcdefg")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    return listed(map(repr, names), MOST_QUOTED)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return what to say after a name that is not known: the known ones nearest to it."""
    every = list(names)
    near = difflib.get_close_matches(name, every, n=3)
    return f"the nearest names are {quoted(near)}" if near else f"there are {quoted(every)}"


def described(data: object) -> str:
    """Return what messages call an object: its package and type.

    >>> described([1, 2]), described("x")
    ('list', "str 'x'")
    """
    package = package_of(data)
    name = type(data).__name__ if package == "builtins" else f"{package} {type(data).__name__}"
    return f"{name} {data!r}" if isinstance(data, str) else name


def package_of(data: object) -> str:
    """Return the package that an object's type is from."""
    return type(data).__module__.partition(".")[0]
