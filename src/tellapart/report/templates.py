"""The templates of the pages, with every text from the data made safe and escaped."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from tellapart.text import safe_lines

SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""What every page tells the browser: load nothing, run nothing, send nothing."""
WORD_ENDS = re.compile(r"(?<=[_./:\-])(?=\w)")


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
    environment.filters["breakable"] = breakable
    environment.globals["security_policy"] = Markup(SECURITY_POLICY)
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


def get_template(name: str) -> Template:
    """Return a template of this folder."""
    return _environment().get_template(name)
