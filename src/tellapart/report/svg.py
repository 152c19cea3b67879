"""Figures as inline SVG: text stays text, colours follow the page, and nothing comes from outside.

Matplotlib draws with fixed colours. Here each of them becomes a CSS variable of the page, so that
one drawing is readable in light, in dark and on paper.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from tellapart.optional import Later, is_installed
from tellapart.text import safe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tellapart.report import figures
else:
    figures = Later("tellapart.report.figures")

__all__ = [
    "COLOUR_NULL",
    "COLOUR_STATISTIC",
    "COLOUR_X",
    "COLOUR_Y",
    "draws",
    "figures",
    "inline_svg",
]

# Okabe and Ito's palette: distinct with every common form of colour blindness.
COLOUR_X = "#0072B2"
COLOUR_Y = "#D55E00"
COLOUR_NULL = "#999999"
COLOUR_STATISTIC = "#009E73"
# Fixed ids make equal results equal pages; text left as text can be read aloud and searched.
SVG_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "tellapart"}
VARIABLE_OF = {
    COLOUR_X.lower(): "var(--x)",
    COLOUR_Y.lower(): "var(--y)",
    COLOUR_NULL.lower(): "var(--null)",
    COLOUR_STATISTIC.lower(): "var(--statistic)",
    "#ffffff": "var(--card)",
    "#000000": "currentColor",
}
COLOUR = re.compile(r"#[0-9a-f]{6}")
FONT_SIZE = re.compile(r"font:[^;]*?([\d.]+px)[^;]*")  # as Matplotlib before 3.10 writes it
FONT_FAMILY = re.compile(r"font-family:[^;]*;?")
REFERENCE = re.compile(r"#([\w-]+)")


def draws() -> bool:
    """Say whether pages have figures: without matplotlib they say what to install instead."""
    return is_installed("matplotlib")


def inline_svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    """Return a figure as an `<svg>` for the middle of an HTML page.

    Parameters
    ----------
    figure : matplotlib Figure
        What to show.
    name : str
        Unique on the page: ids inside the figure begin with it.
    title, description : str
        The text that a screen reader reads in place of the figure.

    Returns
    -------
    Markup
        Safe to put into a page as it is: every text in it is made safe and escaped.
    """
    import matplotlib

    content = io.BytesIO()
    with matplotlib.rc_context(SVG_STYLE), warnings.catch_warnings():
        # The reader's browser draws the text, with fonts of its own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(content.getvalue())
    _drop_namespaces(root)
    _drop_clutter(root)
    _follow_the_page(root)
    _share_styles(root)
    _rename_ids(root, name)
    for side in ("width", "height", "version"):
        root.attrib.pop(side, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        element.text = safe(text)
        root.insert(position, element)
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))


def _drop_namespaces(root: ElementTree.Element) -> None:
    """HTML knows what `<svg>` is: without namespaces the page holds no address at all."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: v for key, v in element.attrib.items()}


def _drop_clutter(root: ElementTree.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            # Matplotlib's own style sheet would reach every figure of the page.
            if child.tag == "metadata" or (child.tag == "defs" and child.find("style") is not None):
                parent.remove(child)
    for element in root.iter():
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None


def _follow_the_page(root: ElementTree.Element) -> None:
    """Take colours and font from the page."""
    for element in root.iter():
        style = element.get("style")
        if style is not None:
            style = COLOUR.sub(lambda match: VARIABLE_OF.get(match[0], match[0]), style)
            element.set("style", FONT_FAMILY.sub("", FONT_SIZE.sub(r"font-size: \1", style)))
        if element.tag == "text" and "fill" not in (style or ""):
            element.set("fill", "currentColor")


def _share_styles(root: ElementTree.Element) -> None:
    """Give the style of a group of markers once, not for each of hundreds."""
    for parent in root.iter("g"):
        styles = {child.get("style") for child in parent}
        alike = len(parent) > 1 and all(child.tag == "use" for child in parent)
        if alike and len(styles) == 1 and None not in styles and "style" not in parent.attrib:
            parent.set("style", styles.pop() or "")
            for child in parent:
                del child.attrib["style"]


def _rename_ids(root: ElementTree.Element, name: str) -> None:
    """Keep the ids something refers to, under a name no other figure has."""
    used = {target for _, _, target in _references(root)}
    for element in root.iter():
        target = element.attrib.pop("id", None)
        if target in used:
            element.set("id", f"{name}-{target}")
    for element, key, target in list(_references(root)):
        element.set(key, element.attrib[key].replace(f"#{target}", f"#{name}-{target}"))


def _references(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str, str]]:
    """Find attributes that point at an id: `href="#…"` and `clip-path="url(#…)"`."""
    for element in root.iter():
        for key in ("href", "clip-path"):
            match = REFERENCE.search(element.get(key, ""))
            if match:
                yield element, key, match[1]
