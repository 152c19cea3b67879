"""A headless Chromium for tests: what a page became, said on the console, and asked of a network.

The browser is looked for on PATH, or named by TELLAPART_BROWSER. It is never downloaded.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 90
# As the browser writes it: [1:2:date:INFO:CONSOLE:7] "text", source: file:///… (7)
CONSOLE = re.compile(r":CONSOLE[:(]\d+\)?\] (.*)")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    # Nothing gets out: a request is seen, and fails.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # Files may look into each other: a page of ours measures the page under test in a frame.
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--dump-dom",
)


@dataclass(frozen=True)
class Visit:
    """One page opened: its DOM as HTML, the console's lines, the addresses it asked for."""

    dom: str
    console: list[str]
    requests: list[str]


def find_browser():
    """Return the path of a Chromium, or None."""
    named = os.environ.get("TELLAPART_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def open_page(browser: str, page: Path, folder: Path, *more: str) -> Visit:
    """Open a page in a browser that remembers nothing and reaches nobody."""
    log = folder / "network.json"
    command = [browser, *OPTIONS, *more]
    command += [f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", page.as_uri()]
    # A group of its own: the browser's helpers end with it.
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            dom, said = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, said
    return Visit(dom, CONSOLE.findall(said), _requests(log))


def _requests(log: Path) -> list[str]:
    """Return what pages asked for: the browser's own errands have no origin."""
    text = log.read_text(encoding="utf-8").rstrip()
    events = json.loads(text if text.endswith("}") else text.rstrip(",") + "]}")["events"]
    found = [event.get("params", {}) for event in events]
    return [
        asked["url"]
        for asked in found
        if "url" in asked and asked.get("initiator", "not an origin") != "not an origin"
    ]
