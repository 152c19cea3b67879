# Every target sets up what it needs: a virtual environment in .venv with the package and its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Neighbouring tests stay in one process, which makes what they share once; who is done early takes
# over from the others.
IN_PARALLEL := -n 2 --dist worksteal
export MPLBACKEND := Agg

.PHONY: demo test test-long test-oldest test-versions test-pipelines packages docs check format benchmark reproduce clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("tellapart needs Python 3.11 or newer, found " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(STAMP)

demo: $(STAMP)  ## the main job on bundled data
	$(BIN)/tellapart demo

test: $(STAMP)  ## the suite, doctests included, without the long checks
	$(BIN)/python -m pytest $(IN_PARALLEL)

test-long: $(STAMP)  ## the statistical checks that take minutes
	$(BIN)/python -m pytest $(IN_PARALLEL) -m long

test-oldest:  ## the suite with the oldest supported version of everything, in .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip uv
	VIRTUAL_ENV=$(CURDIR)/.venv-oldest .venv-oldest/bin/uv pip install --quiet \
		--resolution lowest-direct --editable ".[dev]"
	.venv-oldest/bin/python -m pytest $(IN_PARALLEL)

test-versions:  ## the suite with oldest and newest versions and pandas 2, on every Python found
	$(PYTHON) tools/try_versions.py

test-pipelines:  ## the recipes for pipelines and the notebooks in what they are for, in .venv-pipelines
	$(PYTHON) -m venv .venv-pipelines
	.venv-pipelines/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-pipelines/bin/python -m pip install --quiet --editable ".[dev]" --group pipelines
	AIRFLOW_HOME=$(CURDIR)/.venv-pipelines/airflow .venv-pipelines/bin/python -m pytest -rs \
		-k "pipelines or notebook" -m "long or not long" \
		tests/test_pipelines.py tests/test_notebooks.py tests/test_docs.py

packages: $(STAMP)  ## wheel and sdist in dist/, each installed and tried outside the source tree
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python tools/try_packages.py dist

docs: $(STAMP)  ## the site, in site/index.html; a warning is an error
	rm -rf docs/reference/generated docs/results site
	$(BIN)/sphinx-build -W --keep-going -n -E -q -j auto -d build/doctrees docs site

check: $(STAMP)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## put the code into the one format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(STAMP)  ## every benchmark, results below benchmarks/results
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

reproduce: $(STAMP)  ## the paper's tables and figures; trials on file are not run again
	$(BIN)/tellapart reproduce all --jobs 2

clean:
	rm -rf $(VENV) .venv-oldest .venv-pipelines .venv-versions .pytest_cache .mypy_cache .ruff_cache build dist site \
		docs/gallery docs/reference/generated docs/results docs/tutorial/*.ipynb
