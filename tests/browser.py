"""A headless Chromium for tests: what a page became, said on the console, and asked of a network.

`open_page` looks at a page once; a `Tab` is used as a reader does: keys, clicks, widths, print.

The browser is looked for on PATH, or named by TELLAPART_BROWSER. It is never downloaded.
"""

import base64
import json
import os
import re
import select
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 90
KEYS = {"Enter": (13, "\r"), " ": (32, " "), "Tab": (9, "")}
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
    command = [browser, *OPTIONS, "--dump-dom", *more]
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


class Tab:
    """One tab that stays open, driven by the DevTools protocol over a pipe."""

    def __init__(self, browser: str, folder: Path):
        from fcntl import F_DUPFD, fcntl  # not on Windows, where nothing here is used

        ends = *os.pipe(), *os.pipe()
        # The browser reads its file 3 and writes to its file 4: ours are out of the way.
        inward, self._send, self._receive, outward = (fcntl(end, F_DUPFD, 10) for end in ends)
        for end in ends:
            os.close(end)
        shell = f'exec "$@" 3<&{inward} 4>&{outward}'
        command = [browser, *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(inward, outward),
            start_new_session=True,
        )
        os.close(inward)
        os.close(outward)
        self._rest, self._last, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **parameters):
        """Call a method of the protocol and wait for its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda said: said.get("id") == self._last)
        assert "error" not in answer, answer
        return answer["result"]

    def _wait(self, wanted):
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._receive], [], [], SECONDS)
                assert ready, "the browser is silent"
                piece = os.read(self._receive, 1 << 20)
                assert piece, "the browser has ended"
                self._rest += piece
            line, _, self._rest = self._rest.partition(b"\0")
            said = json.loads(line)
            if wanted(said):
                return said

    def open(self, page: Path, scripts: bool = True):
        """Open a page, with or without scripts, and wait until it has loaded."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=page.as_uri())
        self._wait(lambda said: said.get("method") == "Page.loadEventFired")

    def ask(self, expression: str):
        """Return the value of an expression on the page; tests may, whatever its policy is."""
        asked = {"expression": expression, "returnByValue": True}
        answer = self.call("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 800):
        """Make the screen as wide as a phone's, or a desk's."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def press(self, key: str):
        """Press and release a key where the focus is."""
        code, text = KEYS[key]
        event = {"key": key, "windowsVirtualKeyCode": code}
        down = event | ({"text": text} if text else {})
        self.call("Input.dispatchKeyEvent", type="keyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str):
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str):
        """Click with the mouse in the middle of an element."""
        place = self.ask(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({ block: 'center' }); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        event = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **event)

    def print(self) -> bytes:
        """Return the page as it is printed, a PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def close(self):
        """End the browser and its helpers."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._send)
        os.close(self._receive)
