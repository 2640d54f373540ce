# Every target makes the environment that it needs, in $(VENV), from the versions in requirements.lock.
PYTHON ?= python3
VENV ?= .venv
DATA ?= data/runs
OUT ?= figures/out
BIN := $(VENV)/bin

# The grid that `make figures` collects where there are no records yet.
GRID := --env cartpole --env pong --env frozenlake \
        --variant alwayscritic --variant reptraj --variant threetraj --variant r2po \
        --runs 4 --iterations 50

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock
export PIP_BUILD_CONSTRAINT := requirements.lock

.PHONY: help figures grid test lint format relations bench clean
.DELETE_ON_ERROR:

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

figures: grid ## Draw all figures and tables into figures/out, from records that are collected first if there are none
	$(BIN)/python -m figures $(DATA) --out $(OUT)

# An interrupted default grid is completed; records of anybody else's are left as they are.
grid: $(VENV)/.core
	@if [ -e $(DATA)/.default-grid ] || [ -z "$$(find $(DATA) -name run.json -print -quit 2>/dev/null)" ]; then \
		mkdir -p $(DATA) && touch $(DATA)/.default-grid && $(BIN)/collect $(GRID) --out $(DATA); \
	fi

test: lint ## Run all checks: format, lint, types, import rules, tests
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

lint: $(VENV)/.dev ## Check format, style, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

relations: $(VENV)/.core ## Write docs/relations.md from audit/models
	$(BIN)/python -m audit.relations_page > docs/relations.md

bench: $(VENV)/.core ## Measure speed, as ratios against named alternatives
	$(BIN)/python -m benchmarks

clean: ## Remove the environment, caches and figures; records stay
	rm -rf $(VENV) $(OUT) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name one with make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.core $@
