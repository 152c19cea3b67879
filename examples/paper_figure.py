"""A figure for a paper, one column wide: effect sizes of what differs between two kinds of tumour.

Run it with .venv/bin/python examples/paper_figure.py [FIGURE], by default
docs/images/paper_figure.png.
"""

import sys
from pathlib import Path

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, labels=("malignant", "benign"), random_state=0)
default = Path(__file__).parent.parent / "docs" / "images" / "paper_figure.png"
target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
figure = result.figure(target if target.suffix != ".png" else None)
if target.suffix == ".png":
    # For a screen; a journal wants 600 dots per inch, which result.figure(path) gives.
    figure.savefig(target, dpi=160)
print(f"{figure.get_figwidth():g} inches wide, {len(result.findings)} differences named")
