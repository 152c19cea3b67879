"""Settings of the site. `make docs` builds it in site/, and a warning is an error."""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util import logging

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("src", "docs", "tools")]
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the build itself runs in parallel

import tellapart  # noqa: E402
from notebooks import write_notebook  # noqa: E402

logger = logging.getLogger(__name__)

project = "tellapart"
author = "The tellapart developers"
version = release = tellapart.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.zip"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".table": "markdown"}

# Pages are Markdown, which the repository shows as well; colon fences are the directives.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# A block shown as text is printed output.
highlight_language = "none"

# One page for each object named in reference/index.md.
autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings
autodoc_default_options = {"members": True, "member-order": "bysource"}
numpydoc_show_class_members = False
# numpydoc links attributes that are inherited properties, which have no entry of their own.
nitpick_ignore_regex = [("py:obj", ".*")]
default_role = "code"
toc_object_entries = False

# Programs named plot_… run when the site is built; what they showed is kept in docs/gallery until
# they change. Each is also a notebook.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!.*plot_)",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    # A program ends with a figure or axes, which a notebook shows; of their text nothing is shown.
    "ignore_repr_types": r"Shown|matplotlib",
    "image_scrapers": ("gallery_figures.save_figures", "matplotlib"),
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "tellapart"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "glossary": [], "faq": []}
html_math_renderer = "mathml"

FRONT = "---\norphan: true\nnosearch: true\n---\n"
TABLE = re.compile(r"\]\((?:\.\./)+((?:benchmarks|experiments)/results)/([\w-]+)\.md\)")
ROOT_PAGES = {
    "CONTRIBUTING": "developers/contributing.md",
    "CHANGELOG": "reference/changes.md",
    "SECURITY": "reference/security.md",
}


def visit_math(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext(), as_block=block)
    except Exception as error:  # of any class; it would be lost where pages are written in parallel
        logger.warning("%s: %s", error, node.astext(), location=node)
        formula = html.escape(node.astext())
    writer.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def escape_docstring(
    app: Sphinx, kind: str, name: str, held: Any, options: Any, lines: list[str]
) -> None:
    """Let |x| and names_ in docstrings be text; they would be references in reStructuredText."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = "`".join(parts)


def link_outside(app: Sphinx, page: str, source: list[str]) -> None:
    """Let links that leave docs/ lead to the pages of the site."""
    for name, target in ROOT_PAGES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{name}\.md", f"](/{target}", source[0])
    source[0] = TABLE.sub(r"](/results/\2.table)", source[0])


def copy_tables(app: Sphinx) -> None:
    """Make a page of every table of results that a page links to."""
    pages = (page.read_text(encoding="utf-8") for page in Path(app.srcdir).rglob("*.md"))
    folder = Path(app.srcdir, "results")
    folder.mkdir(exist_ok=True)
    for place, name in {link for page in pages for link in TABLE.findall(page)}:
        table = (ROOT / place / f"{name}.md").read_text(encoding="utf-8")
        table = re.sub(r"\]\(([\w-]+)\.md\)", r"](\1.table)", table)
        table = re.sub(r"\]\(([\w-]+\.csv)\)", rf"](../../{place}/\1)", table)
        if "\n## " not in table:
            table = re.sub(r"^### ", "## ", table, flags=re.MULTILINE)
        title = "" if table.startswith("# ") else f"# {name}\n\n"
        (folder / f"{name}.table").write_text(f"{FRONT}{title}{table}", "utf-8")


def wrap_long_lines(app: Sphinx, tree: nodes.document) -> None:
    """Mark printed sentences, which are wrapped; tables keep their lines and scroll."""
    for block in tree.findall(nodes.literal_block):
        lines = block.astext().splitlines()
        gaps = [len(re.findall(r"(?<=\S) {2,}(?=\S)", line)) for line in lines]
        sentences = any(len(line) > 40 and n < 2 for line, n in zip(lines, gaps, strict=True))
        printed = block.get("language") in {"text", "none"}
        if printed and sentences and sum(n > 2 for n in gaps) < 2:
            block["classes"].append("sentences")


def offer_notebook(app: Sphinx, page: str, source: list[str]) -> None:
    """Write a tutorial as a notebook and let its page offer it."""
    if page.startswith("tutorial/") and page != "tutorial/index":
        name = write_notebook(ROOT / "docs" / f"{page}.md").name
        title, rest = source[0].split("\n", 1)
        source[0] = f"{title}\n\n[Download this page as a notebook]({name})\n{rest}"


def find_all_pages(app: Sphinx, exception: Exception | None) -> None:
    """Fail where a page was not written: an error while pages are written in parallel is lost."""
    absent = [page for page in app.env.found_docs if not Path(app.outdir, f"{page}.html").is_file()]
    if exception is None and app.builder.name == "html" and absent:
        raise SphinxError(f"these pages were not written: {', '.join(sorted(absent))}")


def setup(app: Sphinx) -> None:
    """Register the formulas, the docstrings, the links and the notebooks."""
    app.connect("builder-inited", copy_tables)
    app.connect("source-read", link_outside)
    app.connect("doctree-read", wrap_long_lines)
    app.connect("source-read", offer_notebook)
    app.connect("build-finished", find_all_pages)
    app.connect("autodoc-process-docstring", escape_docstring, priority=1)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
