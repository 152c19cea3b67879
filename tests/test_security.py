"""What SECURITY.md promises of the source: no pickle, no eval, no network, every licence listed."""

import ast
import base64
import hashlib
import re
import tomllib
from pathlib import Path

import numpy as np

import tellapart as ta

ROOT = Path(__file__).parent.parent
FORBIDDEN = {
    *("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"),
    *("socket", "ssl", "http", "urllib", "requests", "httpx", "ftplib", "smtplib", "webbrowser"),
}
CALLS = {"eval", "exec", "compile", "__import__"}


def imported(node):
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {node.module.split(".")[0]}
    return set()


def test_nothing_is_run_or_sent():
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func.id if isinstance(node, ast.Call) and hasattr(node.func, "id") else ""
            if imported(node) & FORBIDDEN or called in CALLS:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_pages_load_nothing_and_hold_no_script_but_one():
    pages = sorted((ROOT / "src").rglob("*.html.j2"))
    whole = [page for page in pages if "<html" in page.read_text(encoding="utf-8")]
    assert whole
    for page in pages:
        text = page.read_text(encoding="utf-8")
        # The policy of the page names this script by its hash, and no other runs.
        ours = "<script>{{ script }}</script>" if page.name == "page.html.j2" else ""
        assert "<script" not in (text.replace(ours, "") if ours else text)
        assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    for page in whole:
        # One policy for all of them.
        assert 'Content-Security-Policy" content="{{ security_policy }}"' in page.read_text("utf-8")


def test_every_page_has_the_same_policy():
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(40, 2)), np.repeat(["a", "b"], 20)
    monitor = ta.compare_to_reference(x, n_permutations=19, random_state=0)
    monitor.check(rng.normal(size=(20, 2)))
    pages = {
        "result": ta.two_sample_test(x[:20], x[20:], n_permutations=19, random_state=0).to_html(),
        "groups": ta.compare_groups(x, labels, n_permutations=19, random_state=0).to_html(),
        "monitor": monitor.to_html(),
    }
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    found = re.search(r"<script>(.*?)</script>", pages["result"], re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    ours = {"result": f"; script-src 'sha256-{digest}'"}
    for name, page in pages.items():
        own = policy + ours.get(name, "")
        assert f'<meta http-equiv="Content-Security-Policy" content="{own}">' in page, name


def test_every_dependency_is_listed_with_its_licence():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (every,) = extras["all"]
    users = re.search(r"\[(.+)\]", every).group(1).split(",")
    assert set(extras) - set(users) == {"all", "docs", "dev"}
    needed = [*project["dependencies"], *(line for name in users for line in extras[name])]
    names = {re.match(r"[\w-]+", line).group() for line in needed}
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([\w-]+)(?: \(extra\))? \|", text, re.MULTILINE)) - {"package"}
    assert listed == names
