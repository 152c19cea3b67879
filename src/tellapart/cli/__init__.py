"""The command line: parsing only; its exit statuses are in `tellapart.cli.app`."""

from __future__ import annotations

from tellapart.cli import check, compare, demo, groups, monitor, plan, reproduce
from tellapart.cli.app import app, main, run

__all__ = ["app", "main", "run"]

# In the order of the help.
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=groups.EXAMPLES)(groups.groups)
app.command(epilog=check.EXAMPLES)(check.check)
app.command(epilog=monitor.EXAMPLES)(monitor.monitor)
app.command(epilog=plan.EXAMPLES)(plan.plan)
app.command(epilog=demo.EXAMPLES)(demo.demo)
app.command(epilog=reproduce.EXAMPLES)(reproduce.reproduce)
