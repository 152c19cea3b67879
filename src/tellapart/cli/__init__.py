"""The command line: parsing only. Exit status 0 when it ran, 2 for bad input."""

from __future__ import annotations

from tellapart.cli import compare, demo
from tellapart.cli.app import app, main, run

__all__ = ["app", "main", "run"]

# In the order of the help.
for command in (compare.compare, demo.demo):
    app.command()(command)
