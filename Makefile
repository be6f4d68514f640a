# Everything a fresh machine needs is Python 3.11 and make: each target sets up .venv by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export PYTHONWARNINGS ?= default
# One thread: two on a small machine are slower, and golden data was recorded with one.
export OMP_NUM_THREADS ?= 1

.PHONY: help setup profile test lint types gate bench check reports format clean

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

# Everything here runs on the simulated device; measured times are this machine's.
reports: setup   ## Make the committed reports again: budgets, levels of the plan, comparisons, figures
	$(BIN)/syncprobe gate --update --jobs 2
	for agent in AC-IQN DQN; do name=$$(echo $$agent | tr A-Z a-z); \
	  $(BIN)/syncprobe plan --agent $$agent --profiles reports/levels --html reports/plan-$$name.html || exit 1; \
	done
	for agent in AC-IQN IQN DDPG DQN SAC Rainbow; do name=$$(echo $$agent | tr A-Z a-z); \
	  $(BIN)/syncprobe compare baseline optimized --agent $$agent -o reports/compare-$$name.md || exit 1; \
	done
	$(BIN)/syncprobe compare baseline optimized --html reports/compare-ac-iqn.html
	$(BIN)/pytest --benchmark-only --benchmark-columns=median,iqr --figures reports/figures.md tests/benchmarks
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,960 --virtual-time-budget=5000 \
	  --screenshot=reports/report.png file://$(CURDIR)/reports/plan-ac-iqn.html

format: setup    ## Format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## Remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks *.egg-info
