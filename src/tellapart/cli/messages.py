"""Messages of the library in the words of the command line: options, not arguments."""

from __future__ import annotations

import re

OPTION_OF = {
    "method": "--method",
    "n_variables": "--variables",
    "kernel": "--kernel",
    "regularization": "--regularization",
    "solver": "--solver",
    "alpha": "--alpha",
    "n_permutations": "--permutations",
    "test_size": "--test-size",
    "random_state": "--seed",
    "missing": "--missing",
    "time_limit": "--time-limit",
    "memory_budget": "--memory-budget",
    "by": "--by",
    "groups": "--group",
    "form": "--format",
    "n_jobs": "--jobs",
}
"""The option behind an argument that a message names."""

QUOTES = "'\""

# What stands in quotes is data. A path or the name of a file is no argument, and neither is an
# English word: without a value, only names with an underscore are.
_MENTION = re.compile(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""
    rf"""|(?<![\w./-])(?P<name>{"|".join(OPTION_OF)})"""
    r"""(?:=(?P<value>"[^"]*"|'[^']*'|[\w.+-]*\w))?(?![\w/:-]|\.\w)"""
)


def in_options(message: str) -> str:
    """Name options where a message names arguments.

    Examples
    --------
    >>> in_options("test_size must be left out with method='scan'; got 0.3")
    '--test-size must be left out with --method scan; got 0.3'
    >>> in_options('pass missing="drop-rows" or a greater test_size')
    'pass --missing drop-rows or a greater --test-size'
    """
    first, space, rest = message.partition(" ")
    return _MENTION.sub(_option, f"{OPTION_OF.get(first, first)}{space}{rest}")


def _option(mention: re.Match[str]) -> str:
    text, name, value = mention.group(), mention["name"], mention["value"]
    if name not in OPTION_OF or (value is None and "_" not in name):
        return text
    return OPTION_OF[name] if value is None else f"{OPTION_OF[name]} {value.strip(QUOTES)}"
