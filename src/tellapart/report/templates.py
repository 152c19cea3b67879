"""The templates of the pages, with every text from the data escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def _environment() -> Environment:
    # Autoescaping is on for every template, whatever its name ends in.
    return Environment(
        loader=PackageLoader("tellapart", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def get_template(name: str) -> Template:
    """Return a template of this folder."""
    return _environment().get_template(name)
