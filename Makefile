# One virtual environment, made on demand; every target works from a clean clone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
PLAIN  := .venv-plain
SITE   := .venv-docs

.PHONY: demo test test-slow test-nojit coverage lint bench docs dist-check clean

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo            ## fuse 100 clusterings of the digits and write a picture
	$(BIN)/partita demo

# two test processes with one BLAS thread each: more would only wait for each other; compiled modules
# are kept, because tests start hundreds of processes
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.test lint       ## lint, types and the whole suite
	$(PYTEST) -n 2 -m "not slow"

test-slow: export OMP_NUM_THREADS = 1
test-slow: export OPENBLAS_NUM_THREADS = 1
test-slow: $(VENV)/.test       ## what takes more than a minute: kernels with the bounds check
	$(PYTEST) -n 2 -m slow --ignore=tests/test_distribution.py

$(PLAIN)/.test: pyproject.toml
	$(PYTHON) -m venv $(PLAIN)
	$(PLAIN)/bin/python -m pip install --quiet --editable ".[test]"
	$(PLAIN)/bin/python -m pip uninstall --quiet --yes numba llvmlite
	touch $@

# what depends on kernels: files, figures, Dask and the command line are tested with numba
test-nojit: export OMP_NUM_THREADS = 1
test-nojit: export OPENBLAS_NUM_THREADS = 1
test-nojit: $(PLAIN)/.test     ## the suite without numba: kernels by their definitions in NumPy
	$(PLAIN)/bin/python -m pytest -n 2 -m "not slow" \
	  $(addprefix --ignore=tests/,benchmarks cli generators input io plotting reporting scale \
	  test_docs.py test_docstrings.py test_examples.py)

# compiled kernels run no lines that Python could count: their definitions in NumPy run instead;
# tests of the sources, of the pages and of drawn cases reach no other lines
coverage: export OMP_NUM_THREADS = 1
coverage: export OPENBLAS_NUM_THREADS = 1
coverage: $(PLAIN)/.test       ## share of the lines and branches that tests reach without numba
	$(PLAIN)/bin/python -m pytest -n 2 -m "not slow" --cov --cov-report=term \
	  $(addprefix --ignore=tests/,benchmarks trust test_contribution.py test_docs.py \
	  test_docstrings.py test_layers.py test_packaging.py test_public_api.py test_site.py \
	  test_source_rules.py)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test           ## speed targets as ratios, each measured beside its reference
	$(BIN)/python -m benchmarks.speed

$(SITE)/.docs: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --editable ".[docs]"
	touch $@

docs: export OMP_NUM_THREADS = 1
docs: export OPENBLAS_NUM_THREADS = 1
docs: $(SITE)/.docs            ## the documentation site in build/docs/html; warnings are errors
	$(SITE)/bin/python -m sphinx -E -W --keep-going -b html -d build/docs/doctrees docs build/docs/html
	$(SITE)/bin/python docs/check_site.py build/docs/html

$(VENV)/.dist: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --editable ".[dist]"
	touch $@

dist-check: export PARTITA_DIST = dist
dist-check: $(VENV)/.dist      ## build the wheel and the sdist, check their metadata, install both into clean environments
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTEST) -m slow tests/test_distribution.py

clean:
	rm -rf $(VENV) $(PLAIN) $(SITE) .pytest_cache .ruff_cache .mypy_cache build dist \
	  docs/reference docs/project docs/gallery
