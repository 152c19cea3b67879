"""Messages of the library in the words of the command line: options, not arguments."""

from __future__ import annotations

import ast
import re
import shlex

OPTION_OF = {
    "method": "--method",
    "n_variables": "--variables",
    "kernel": "--kernel",
    "regularization": "--regularization",
    "solver": "--solver",
    "alpha": "--alpha",
    "n_permutations": "--permutations",
    "n_simulations": "--simulations",
    "power": "--power",
    "ratio": "--ratio",
    "confidence": "--confidence",
    "test_size": "--test-size",
    "random_state": "--seed",
    "missing": "--missing",
    "time_limit": "--time-limit",
    "memory_budget": "--memory-budget",
    "n_checks": "--checks",
    "run_length": "--run-length",
    "smallest_effect": "--smallest-effect",
    "by": "--by",
    "strata": "--strata",
    "paired": "--paired",
    "clusters": "--clusters",
    "groups": "--group",
    "group": "--group",
    "against": "--against",
    "columns": "--columns",
    "drop": "--drop",
    "keep": "--keep",
    "layer": "--layer",
    "raw": "--raw",
    "form": "--format",
    "n_jobs": "--jobs",
}
"""The option behind an argument that a message names."""

IN_THE_SHELL = {
    "compare_groups": "tellapart groups",
    'pass from_anndata(adata, layer="…")': "give --layer NAME",
    "drop the column": "leave it out with --drop",
    "mode='pairwise'": "--pairwise",
    ", or give nonnegative=False for the paper's signed weights": "",
}
"""What Python says, and what the shell says instead: nothing, where there is no such option."""

# What stands in quotes is data. A path or the name of a file is no argument, and neither is an
# English word: without a value, only names with an underscore are.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_MENTION = re.compile(
    rf"""(?<!\w)(?:{_QUOTED})(?!\w)"""
    rf"""|(?P<phrase>{"|".join(map(re.escape, IN_THE_SHELL))})(?!\w)"""
    rf"""|(?<![\w./-])(?P<name>{"|".join(OPTION_OF)})"""
    rf"""(?:=(?P<value>\[(?:{_QUOTED})\]|{_QUOTED}|[\w.+-]*\w))?(?![\w/:-]|\.\w)"""
)


def in_options(message: str) -> str:
    """Name options where a message names arguments.

    Examples
    --------
    >>> in_options("test_size must be left out with method='scan'; got 0.3")
    '--test-size must be left out with --method scan; got 0.3'
    >>> in_options('pass missing="drop-rows" or a greater test_size')
    'pass --missing drop-rows or a greater --test-size'
    >>> in_options("pick two with group='T' and against='B cells'")
    "pick two with --group T and --against 'B cells'"
    """
    first, space, rest = message.partition(" ")
    return _MENTION.sub(_option, f"{OPTION_OF.get(first, first)}{space}{rest}")


def _option(mention: re.Match[str]) -> str:
    text, name, value = mention.group(), mention["name"], mention["value"]
    if mention["phrase"]:
        return IN_THE_SHELL[text]
    if name not in OPTION_OF or (value is None and "_" not in name):
        return text
    if value is None or value == "True":
        return OPTION_OF[name]
    return f"{OPTION_OF[name]} {shlex.quote(_written(value))}"


def _written(value: str) -> str:
    """Return a value as it is typed in a shell: a text without its quotes, a list without its."""
    return str(ast.literal_eval(value.strip("[]"))) if value[0] in "'\"[" else value
