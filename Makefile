# Everything a fresh machine needs is Python 3.11 and make: each target sets up .venv by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export PYTHONWARNINGS ?= default
# One thread: two on a small machine are slower, and golden data was recorded with one.
export OMP_NUM_THREADS ?= 1

.PHONY: help setup profile test lint types gate bench check format clean

help:            ## Show this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## /\t/' | expand -t 12

setup: $(READY)  ## Create .venv and install everything; quick when nothing changed

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: make setup PYTHON=python3.11" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

profile: setup   ## Profile ten training steps on the simulated accelerator
	$(BIN)/syncprobe profile train --steps 10

test: setup      ## Run all tests but the benchmarks
	$(BIN)/pytest --benchmark-skip --numprocesses 2 --dist loadscope

lint: setup      ## Check style, formatting and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: setup     ## Check types
	$(BIN)/mypy

gate: setup      ## Hold the built-in training loops to their budgets in pyproject.toml
	$(BIN)/syncprobe gate --jobs 2

bench: setup     ## Run the benchmarks, print their figures and hold them to their bounds
	$(BIN)/pytest --benchmark-only --benchmark-columns=median,iqr,ops,rounds tests/benchmarks

check: lint types gate bench test  ## What CI runs; the tests come last, so that their closing line does too

format: setup    ## Format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## Remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks *.egg-info
