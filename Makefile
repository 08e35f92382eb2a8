.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One thread for each test worker: small matrices lose by more. Bytecode is kept, whatever the environment says: tests start
# hundreds of processes. Each worker takes modules in a row, so that what a module shares is made once. Three workers for two
# cores: tests of browsers and servers wait for other processes half of the time.
WORKERS := $(shell expr \( $$(getconf _NPROCESSORS_ONLN) \* 3 + 1 \) / 2)
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
STAMP := $(VENV)/.installed
TOOLS := $(VENV)/.tools

.PHONY: help install tools demo paper test test-slow check format docs bench wheel pythons clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/make \1\t\2/' | expand -t 16

install: $(STAMP)  ## make .venv with the package, all its extras and the development tools

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,dev]'
	@touch $(STAMP)

tools: $(TOOLS)  ## make sure that the tests have a Chromium and a WordNet

$(TOOLS): scripts/install_test_tools | $(STAMP)
	scripts/install_test_tools
	@touch $(TOOLS)

demo: install  ## the whole job on the built-in simulated campaign; says where the report is
	$(BIN)/steelyard demo

paper: install  ## reproduce the paper from the scores in the package; says where the page is
	$(BIN)/steelyard paper

test: install tools  ## all tests but the long simulations
	$(PYTEST) -m "not slow"

test-slow: install tools  ## the long simulations
	$(PYTEST) -m slow

check: install  ## lint, format, types, layers, spelling, size
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python scripts/counts.py

format: install  ## let ruff format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: install  ## build the documentation into site/
	$(BIN)/python scripts/cli_reference.py
	$(BIN)/python scripts/json_schemas.py
	$(BIN)/mkdocs build --strict

bench: install  ## benchmarks side by side with peers
	$(BIN)/python -m benchmarks

wheel: install  ## build the wheel and run the README in empty environments, lowest versions too
	PYTHONPATH=tests/support $(BIN)/python scripts/try_wheel.py

pythons:  ## a part of the quick tests with other versions of Python: make pythons PYTHONS="python3.12 python3.13"
	$(PYTHON) scripts/try_pythons.py $(PYTHONS)

clean:  ## remove what the targets made
	rm -rf $(VENV) site steelyard-demo steelyard-paper
