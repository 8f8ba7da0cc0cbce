# Everything runs in .venv, which any target makes for itself. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out
SCALE ?= quick
KEPT := $(wildcard results)
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help paper evidence test test-slow test-any test-ray fuzz drawing check format bench bench-control docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

paper: $(VENV)/.run ## re-create what the paper shows, into out/ (SCALE=smoke|quick|paper)
	@$(BIN)/gpbe run all --scale $(SCALE) --out $(OUT) $(KEPT:%=--start %)
	@$(BIN)/gpbe report --scale $(SCALE) --out $(OUT) $(KEPT:%=--from %)

evidence: $(VENV)/.run ## go on with the experiment that decides the claims, from results/ and back into it (hours; Ctrl-C is fine)
	@$(BIN)/gpbe run evidence --out $(OUT) $(KEPT:%=--start %)
	@$(BIN)/gpbe pack $(OUT) results
	@$(BIN)/gpbe claims --from results --page docs/results.md README.md

drawing: $(VENV)/.test ## draw the rooms of the code into docs/img/architecture.svg
	@$(BIN)/python docs/draw_architecture.py

test: $(VENV)/.test ## install what tests need and run them (all but the slow ones)
	@$(BIN)/python -m pytest -n auto --dist worksteal -q

test-slow: $(VENV)/.test ## the tests that take minutes, and all others with the shapes of every function checked
	@$(BIN)/python -m pytest -n auto --dist worksteal -q -m "slow or not slow" --jaxtyping-packages=gpbe,helpers.checked

test-any: $(VENV)/.test ## what is learned, with ten other seeds and on processors with fewer instructions
	@for seed in 1 2 3 4 5 6 7 8 9 10; do echo "seed $$seed"; \
	  GPBE_TEST_SEED=$$seed $(BIN)/python -m pytest -n auto --dist worksteal -q -m learning tests || exit 1; done
	@for isa in SSE4_2 AVX AVX2 AVX512; do echo "at most $$isa"; \
	  XLA_FLAGS=--xla_cpu_max_isa=$$isa $(BIN)/python -m pytest -n auto --dist worksteal -q -m learning tests || exit 1; done

fuzz: $(VENV)/.test ## ten thousand broken files, specs and command lines of each kind (hours)
	@GPBE_FUZZ=10000 $(BIN)/python -m pytest -q -m "slow or not slow" tests/fuzz

test-ray: $(VENV)/.test ## the same sweeps on a Ray cluster of several nodes, with kills (installs ray)
	@$(PIP) -e '.[test,ray]'
	@$(BIN)/python -m pytest -q -m "slow or not slow" tests/runner/test_cluster.py

check: $(VENV)/.test ## style, types, direction of imports
	@$(BIN)/ruff format --check --quiet src tests benchmarks docs/draw_architecture.py docs/tools
	@$(BIN)/ruff check --quiet src tests benchmarks docs/draw_architecture.py docs/tools
	@$(BIN)/pyright --warnings > $(VENV)/pyright.log || { cat $(VENV)/pyright.log; exit 1; }
	@$(BIN)/lint-imports --no-cache > $(VENV)/imports.log || { cat $(VENV)/imports.log; exit 1; }
	@echo "style, types and imports: all good"

format: $(VENV)/.test ## put the code into the project's format
	@$(BIN)/ruff format src tests benchmarks docs/draw_architecture.py docs/tools
	@$(BIN)/ruff check --fix src tests benchmarks docs/draw_architecture.py docs/tools

bench: $(VENV)/.run ## measure the speed of the solvers and of linear prediction on this machine
	@$(BIN)/python benchmarks/fixed_points.py
	@$(BIN)/python benchmarks/linear_prediction.py

bench-control: $(VENV)/.run ## speed of deep control beside stable-baselines3 (installs that and torch)
	@$(PIP) -e '.[bench]'
	@$(BIN)/gpbe bench control

docs: $(VENV)/.run ## the documentation as a site, into out/site
	@$(PIP) -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) $(OUT)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "gpbe needs Python 3.11 or newer as '$(PYTHON)'; name another one with PYTHON=..."; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment (on Debian: apt-get install python3-venv)"; exit 2; }

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing gpbe into $(VENV) ..."
	@$(PIP) -e .
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing gpbe and its test tools into $(VENV) ..."
	@$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.run
