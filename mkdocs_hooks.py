"""Give the site the files of the repository that its pages link to, under the names they have.

The pages of docs/ are read on the site and in the repository. There a link to a table of results
is ../benchmarks/results/…; on the site the same file stands beside the pages.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
LINKED = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "benchmarks/*.py",
    "benchmarks/results/*",
    "examples/*.py",
    "experiments/results/*",
)
# From docs/ to the root of the repository, and from there to docs/: one folder on the site.
ACROSS = re.compile(r"(\]\()(?:\.\./(?!\.\.)|docs/)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages may link to."""
    for pattern in LINKED:
        for path in sorted(ROOT.glob(pattern)):
            if not path.is_file():
                continue
            uri = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn ../x of docs/, and docs/x of the root, into x: both stand side by side on the site."""
    if "/" in page.file.src_uri:
        return markdown
    return ACROSS.sub(r"\1", markdown)
