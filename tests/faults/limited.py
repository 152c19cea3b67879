"""Programs of their own that run out of something: room on the disk, or memory."""

import subprocess
import sys

PROGRAM = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error of the write, as on a full disk
size = int(sys.argv[1])
{before}
resource.setrlimit(resource.{limit}, (size, size))
{program}
"""
COMMAND = "from tellapart.cli.app import run\nsys.exit(run(sys.argv[2:]))"


def run_limited(limit, size, *arguments, before="", program=COMMAND, **settings):
    """Run a program, by default our command line, under a limit of the system that is real."""
    text = PROGRAM.format(limit=limit, before=before, program=program)
    command = [sys.executable, "-c", text, str(size), *map(str, arguments)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | settings
    return subprocess.run(command, timeout=300, check=False, **settings)


def check_one_line(stderr, *words):
    """Check that one line of complaint was written, with all of the words."""
    (line,) = stderr.splitlines()
    assert line.startswith("tellapart: error: ")
    for word in words:
        assert word in line, line
