# make demo   install confir into .venv, evaluate the built-in sample, write demo-report.html
# make test   run all tests
# make check  format, lint, types
# make bench  speed beside the peers
# make reproduce DATA=../shared/data   the papers' tables beside ours

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check bench reproduce format clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --editable '.[all]'
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) install --group test
	touch $@

$(VENV)/installed-check: $(VENV)/installed-test
	$(PIP) install --group check
	touch $@

$(VENV)/installed-peers: $(VENV)/installed-test
	$(PIP) install --group peers
	touch $@

demo: $(VENV)/installed
	$(BIN)/confir demo --report demo-report.html

test: $(VENV)/installed-test
	$(BIN)/python -m pytest -n auto $(ARGS)

check: $(VENV)/installed-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/installed-check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/installed-peers
	for script in $(filter-out benchmarks/side_by_side.py,$(wildcard benchmarks/*.py)); do \
		$(BIN)/python $$script || exit 1; done

DATA ?= ../shared/data

reproduce: $(VENV)/installed
	for script in reproductions/*.py; do \
		$(BIN)/python $$script --data $(DATA) --output docs/reproductions || exit 1; done

clean:
	rm -rf $(VENV) .ruff_cache .mypy_cache .pytest_cache .hypothesis build dist
