"""Figures as inline SVG: text stays text, colours follow the page, and nothing comes from outside.

Matplotlib draws with fixed colours. Here each of them becomes a CSS variable of the page, so that
one drawing is readable in light, in dark and on paper.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from tellapart.groups.result import Profile
from tellapart.report.plots import (
    COLOUR_NULL,
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    draw_embedding,
    draw_marginal,
    draw_null,
)
from tellapart.report.scan_plots import axis_label, draw_effects, draw_profile, draw_side
from tellapart.results.columns import Marginal, Scatter
from tellapart.results.embedding import Embedding
from tellapart.results.result import TestResult
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import Scale
from tellapart.text import safe

# Small, so that the letters stay legible on a phone.
NULL_INCHES = (4.4, 3.0)
MARGINAL_INCHES = (2.4, 1.5)
EMBEDDING_INCHES = (4.2, 3.5)
PAIR_INCHES = (4.2, 2.2)
EFFECTS_WIDTH, EFFECTS_HEIGHT, ROW_HEIGHT = 4.2, 0.65, 0.2
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


def null_svg(result: TestResult, title: str, description: str) -> Markup:
    """Return the null distribution with the observed statistic and the critical value."""
    figure = Figure(figsize=NULL_INCHES, layout="constrained")
    axes = figure.subplots()
    draw_null(axes, result)
    axes.set_title("")
    return inline_svg(figure, "null", title, description)


def marginal_svg(marginal: Marginal, name: str, title: str, description: str) -> Markup:
    """Return one variable in both samples; the page gives its name, so the figure does not."""
    figure = Figure(figsize=MARGINAL_INCHES, layout="constrained")
    axes = figure.subplots()
    draw_marginal(axes, marginal)
    axes.set_title("")
    return inline_svg(figure, name, title, description)


def effects_svg(
    scale: Scale, findings: Sequence[Finding], name: str, title: str, description: str
) -> Markup:
    """Return effects with their intervals; the page says which scale it is, and the colours."""
    height = EFFECTS_HEIGHT + ROW_HEIGHT * len(findings)
    figure = Figure(figsize=(EFFECTS_WIDTH, height), layout="constrained")
    label = axis_label(scale, findings[0].labels).removeprefix(scale.title).removeprefix(", ")
    draw_effects(figure.subplots(), scale, findings).set_xlabel(label, fontsize=8)
    return inline_svg(figure, name, title, description)


def profile_svg(profile: Profile, title: str, description: str) -> Markup:
    """Return the selected variables in every group as a dot plot."""
    axes = draw_profile(profile, "dots")
    assert isinstance(axes.figure, Figure)
    return inline_svg(axes.figure, "profile", title, description)


def scatter_svg(view: Scatter, name: str, title: str, description: str) -> Markup:
    """Return two columns, the samples side by side on equal axes: the first on the left."""
    figure = Figure(figsize=PAIR_INCHES, layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for side, axes in enumerate((left, right)):
        draw_side(axes, view, side)
    right.set_ylabel("")
    return inline_svg(figure, name, title, description)


def embedding_svg(
    embedding: Embedding, labels: tuple[str, str], title: str, description: str
) -> Markup:
    """Return both samples in two dimensions on the field of the witness function."""
    figure = Figure(figsize=EMBEDDING_INCHES, layout="constrained")
    draw_embedding(figure.subplots(), embedding, labels)
    return inline_svg(figure, "plane", title, description)


def inline_svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    """Return a figure as an `<svg>` for the middle of an HTML page.

    Parameters
    ----------
    figure : matplotlib Figure
        What to show.
    name : str
        Unique on the page: ids inside the figure begin with it.
    title, description : str
        What a screen reader says in place of the figure.

    Returns
    -------
    Markup
        Safe to put into a page as it is: every text in it is made safe and escaped.
    """
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
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        element.text = safe(text)
        root.insert(place, element)
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
            style = COLOUR.sub(lambda found: VARIABLE_OF.get(found[0], found[0]), style)
            element.set("style", FONT_FAMILY.sub("", FONT_SIZE.sub(r"font-size: \1", style)))
        if element.tag == "text" and "fill" not in (style or ""):
            element.set("fill", "currentColor")


def _share_styles(root: ElementTree.Element) -> None:
    """Say once for a group of markers what all of them look like: hundreds would say it."""
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
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{name}-{own}")
    for element, key, target in list(_references(root)):
        element.set(key, element.attrib[key].replace(f"#{target}", f"#{name}-{target}"))


def _references(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str, str]]:
    """Find attributes that point at an id: `href="#…"` and `clip-path="url(#…)"`."""
    for element in root.iter():
        for key in ("href", "clip-path"):
            found = REFERENCE.search(element.get(key, ""))
            if found:
                yield element, key, found[1]
