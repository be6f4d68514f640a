# Everything a fresh machine needs is Python 3.11 and make: each target sets up .venv by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
BENCH   = $(BIN)/pytest --benchmark-only --benchmark-columns=median,iqr,ops,rounds

export PYTHONWARNINGS ?= default
# One thread: two on a small machine are slower, and golden data was recorded with one.
export OMP_NUM_THREADS ?= 1

.PHONY: help setup profile test test-all lint types docs wheel gate bench check schema model programs fixes faults growth workloads reports format clean

help:            ## Show this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## /\t/' | expand -t 12

setup: $(READY)  ## Create .venv and install everything; quick when nothing changed

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: make setup PYTHON=python3.11" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

profile: setup   ## Profile ten training steps on the simulated accelerator
	$(BIN)/syncprobe profile train --steps 10

# Tests choose their own arithmetic (tests/arithmetic.py); SYNCPROBE_TEST_ARITHMETIC=native leaves it to the machine.
test: setup      ## Run the tests, without benchmarks and what takes long
	$(BIN)/pytest --benchmark-skip --numprocesses 2 --dist loadscope -m "not slow and not measured"

test-all: setup  ## Run all tests but the benchmarks
	$(BIN)/pytest --benchmark-skip --numprocesses 2 --dist loadscope -m "not measured"

lint: setup      ## Check style, formatting and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

docs: setup      ## Build the documentation into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

types: setup     ## Check types
	$(BIN)/mypy

gate: setup      ## Hold the built-in training loops to their budgets in pyproject.toml
	$(BIN)/syncprobe gate --jobs 2

# What fails is measured once more: a machine that was busy for a moment fails once, what is too slow fails twice.
bench: setup     ## Run the benchmarks, print their figures and hold them to their bounds
	$(BENCH) tests/benchmarks || $(BENCH) --last-failed tests/benchmarks
	$(BIN)/pytest -m measured tests/model || $(BIN)/pytest -m measured --last-failed tests/model

check: lint types docs wheel gate bench test  ## What CI runs; the tests come last, so that their closing line does too

# In a folder of its own, so that nothing of the checkout can be imported by chance.
wheel: setup     ## Build the wheel, install it into an empty environment, and try it there
	rm -rf build/wheel build/smoke
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	$(BIN)/python -m venv build/smoke/venv
	build/smoke/venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt build/wheel/*.whl
	printf 'import torch\nfor _ in range(3):\n    torch.ones(2, device="cuda").sum().item()\n' > build/smoke/reads.py
	cd build/smoke && venv/bin/syncprobe profile reads.py -o reads.json && venv/bin/syncprobe report reads.json --format md \
	  && venv/bin/python -c "import syncprobe; assert syncprobe.load('reads.json').counts['scalar_read'] == 3"

schema: setup    ## Make the JSON schema of profiles again, after a change of their model
	$(BIN)/python -m syncprobe.profiles.schema

model: setup     ## Check the model of time against programs of known composition: reports/model.md
	$(BIN)/python -m tests.model.report

programs: setup  ## Run the corpus of programs plain and simulated, in turns: reports/programs.md
	$(BIN)/python -m tests.programs.report

fixes: setup     ## Fix small programs and plant wrong remedies: reports/fixes.md
	$(BIN)/python -m tests.fixing.report

faults: setup    ## Plant faults in the patches, one at a time, and see who notices: reports/faults.md
	$(BIN)/python -m tests.equivalence.faults

growth: setup    ## Measure how costs grow with lines, steps and sites: reports/growth.md
	$(BIN)/python -m tests.recording.growth

workloads: setup ## Count, replay and verify the workloads beside MarineNav at every level: reports/workloads.md
	$(BIN)/python -m tests.workloads.report

# Everything here runs on the simulated device; measured times are this machine's.
reports: setup   ## Make the committed reports again: budgets, levels of the plan, comparisons, figures
	$(BIN)/syncprobe gate --update --jobs 2
	for agent in AC-IQN DQN; do name=$$(echo $$agent | tr A-Z a-z); \
	  $(BIN)/syncprobe plan --agent $$agent --profiles reports/levels --html reports/plan-$$name.html || exit 1; \
	done
	for agent in AC-IQN IQN DDPG DQN SAC Rainbow; do name=$$(echo $$agent | tr A-Z a-z); \
	  $(BIN)/syncprobe compare baseline optimized --agent $$agent -o reports/compare-$$name.md || exit 1; \
	done
	$(BIN)/syncprobe plan --target uara --rounds 3 -o reports/plan-uara.md
	$(BIN)/syncprobe compare baseline optimized --target uara --rounds 3 -o reports/compare-uara.md
	$(BIN)/syncprobe plan --target packing --phase joint --epsilon 0 --rounds 3 -o reports/plan-packing.md
	$(BIN)/syncprobe compare baseline optimized --target packing --phase joint --epsilon 0 --rounds 3 -o reports/compare-packing.md
	for algorithm in ppo dqn; do \
	  $(BIN)/syncprobe plan --target vecenv --env navlite --envs 4 --algo $$algorithm --rounds 3 -o reports/plan-vecenv-$$algorithm.md || exit 1; \
	  $(BIN)/syncprobe compare baseline optimized --target vecenv --env navlite --envs 4 --algo $$algorithm --rounds 3 \
	    -o reports/compare-vecenv-$$algorithm.md || exit 1; \
	done
	$(BIN)/syncprobe compare baseline optimized --html reports/compare-ac-iqn.html
	$(BIN)/pytest --benchmark-only --benchmark-columns=median,iqr --figures reports/figures.md tests/benchmarks

format: setup    ## Format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## Remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks *.egg-info
