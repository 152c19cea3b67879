"""The README's example: a test on bundled data, its summary and its figure.

Run it with .venv/bin/python examples/quickstart.py [FIGURE], by default docs/images/quickstart.png.
"""

import sys
from pathlib import Path

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, labels=("malignant", "benign"), random_state=0)
print(result.summary())

default = Path(__file__).parent.parent / "docs" / "images" / "quickstart.png"
target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
target.parent.mkdir(parents=True, exist_ok=True)
result.plot().savefig(target, dpi=100)
