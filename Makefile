# make demo       install confir into .venv, evaluate the built-in sample, write demo-report.html
# make test       run all tests, in .venv-test; the examples of README and docs in .venv
# make check      format, lint, types
# make docs       write the outputs in README and docs anew
# make bench      compare the speed with that of similar tools
# make tables     simulate the quantiles that calibrated-beta ships with
# make reproduce  compare the papers' tables with those of confir, on the data in CONFIR_DATA

PYTHON ?= python3
export CONFIR_DATA ?= $(CURDIR)/data

# .venv holds what a user installs, and nothing else; .venv-test holds the tools of developers too.
VENV := .venv
TEST_VENV := .venv-test
PIP := -m pip --disable-pip-version-check --quiet

.PHONY: demo test check docs bench tables reproduce format clean

%/installed: pyproject.toml
	$(PYTHON) -m venv $*
	$*/bin/python $(PIP) install --upgrade "pip>=25.1"
	$*/bin/python $(PIP) install --editable '.[all]'
	touch $@

$(TEST_VENV)/installed-test $(TEST_VENV)/installed-check $(TEST_VENV)/installed-peers: \
$(TEST_VENV)/installed-%: $(TEST_VENV)/installed
	$(TEST_VENV)/bin/python $(PIP) install --group $*
	touch $@

demo: $(VENV)/installed
	$(VENV)/bin/confir demo --report demo-report.html

test: $(VENV)/installed $(TEST_VENV)/installed-test
	CONFIR_DEMO_PYTHON=$(CURDIR)/$(VENV)/bin/python $(TEST_VENV)/bin/python -m pytest -n auto $(ARGS)

check: $(TEST_VENV)/installed-check
	$(TEST_VENV)/bin/ruff format --check .
	$(TEST_VENV)/bin/ruff check .
	$(TEST_VENV)/bin/mypy

format: $(TEST_VENV)/installed-check
	$(TEST_VENV)/bin/ruff format .
	$(TEST_VENV)/bin/ruff check --fix .

docs: $(VENV)/installed
	$(VENV)/bin/confir demo --output docs/figures/demo.svg
	$(VENV)/bin/python tests/documentation/run_pages.py --write README.md docs/*.md

bench: $(TEST_VENV)/installed-peers
	for script in $(filter-out benchmarks/side_by_side.py,$(wildcard benchmarks/*.py)); do \
		$(TEST_VENV)/bin/python $$script || exit 1; done

tables: $(VENV)/installed
	$(VENV)/bin/python tables/pivot_quantiles.py

reproduce: $(VENV)/installed
	for script in reproductions/*.py; do \
		$(VENV)/bin/python $$script --data $(CONFIR_DATA) --output docs/reproductions || exit 1; done

clean:
	rm -rf $(VENV) $(TEST_VENV) .ruff_cache .mypy_cache .pytest_cache .hypothesis build dist
