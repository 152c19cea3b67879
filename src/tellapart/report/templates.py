"""The templates of pages and cards, in which every text is made safe and escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from tellapart import __version__
from tellapart.report.svg import draws
from tellapart.scan.finding import pvalue_cell, without_p
from tellapart.text import capitalised, more_than, safe, safe_lines

SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""The policy of every page: browsers load and send nothing, and run no script but ours."""
WORD_ENDS = re.compile(r"(?<=[_./:\-])(?=\w)")


def render(template: str, **content: Any) -> str:
    """Return a page or card: a template of this folder with its content."""
    return get_template(template).render(**content)


@cache
def script(name: str) -> tuple[Markup, Markup]:
    """Return a script of this folder, and the policy of a page that holds it and no other."""
    loader = _environment().loader
    assert loader is not None
    source = loader.get_source(_environment(), name)[0].strip()
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return Markup(source), Markup(f"{SECURITY_POLICY}; script-src 'sha256-{digest}'")


def get_template(name: str) -> Template:
    """Return a template of this folder."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    # Autoescaping is on for every template, whatever its name ends in.
    environment = Environment(
        loader=PackageLoader("tellapart", "report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": breakable, "capitalised": capitalised, "one_line": safe}
    environment.globals |= {
        "security_policy": Markup(SECURITY_POLICY),
        "version": __version__,
        "draws": draws,
        "more_than": more_than,
        "pvalue_cell": pvalue_cell,
        "without_p": without_p,
    }
    return environment


def _shown(value: object) -> object:
    """Return what is put into a page, made safe if it is text; markup was made of such text."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else safe_lines(value)


def breakable(name: str) -> Markup:
    """Return a name as HTML that breaks, where it must, after its underscores, dots and the like.

    >>> breakable("age_5<")
    Markup('age_<wbr>5&lt;')
    """
    return Markup("<wbr>").join(escape(part) for part in WORD_ENDS.split(safe_lines(name)))
