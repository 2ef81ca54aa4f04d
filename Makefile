# One virtual environment, made on demand; every target works from a clean clone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-nojit lint bench clean

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

# two test processes with one BLAS thread each: more would only wait for each other
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.test lint       ## lint, types and the whole suite
	$(PYTEST) -n 2 -m "not slow"

test-nojit: $(VENV)/.test      ## the kernels as plain Python, where a debugger can look inside
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m kernel

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test           ## speed targets as ratios, each measured beside its reference
	$(BIN)/python -m benchmarks.speed

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache build dist
