# Each target makes the virtual environment it needs; only Python 3.11+ and make must be there before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run ask assets browser test check format bench screenshots clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

run: assets  ## Start the dashboard at http://localhost:8000
	$(BIN)/python -m streamlit run app.py $(ARGS)

ask: assets  ## Ask the built-in model for the example of payload.json, in the terminal
	$(BIN)/python -m evaluator_core payload.json $(ARGS)

assets: $(VENV)/.run  ## Fetch the built-in model and the sandbox (105 MB), unless they are there
	$(BIN)/python -m evaluator_core.assets

browser: $(VENV)/.dev  ## Install a Chromium for the tests, unless there is one
	$(BIN)/python -m tests.browser.chromium

# CI sets the variable of that name; on one's own machine the quick tests alone are the ones to run all day.
test: $(VENV)/.dev assets $(if $(CI),browser)  ## Run the quick tests; with CI=true all of them, in a browser too
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(CI),,-m "not slow") $(ARGS)

check: $(VENV)/.dev  ## Lint and check types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## Put the code into its standard form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev assets browser  ## Measure speed and memory, and print the tables
	$(BIN)/python -m benchmarks $(ARGS)

screenshots: $(VENV)/.dev assets browser  ## Take pictures of every page in both themes, into screenshots/
	$(BIN)/python -m tests.browser.screenshots screenshots

clean:  ## Remove the virtual environment and the caches; results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.venv requirements.txt
	$(PIP) install -r requirements.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	$(PIP) install -r requirements-dev.txt
	@touch $@
