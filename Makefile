# make demo       install confir into .venv, evaluate the built-in sample, write demo-report.html
# make test       run the tests, in .venv-test; the examples of README and docs in .venv
# make test-embedding   tests with MTEB, sentence-transformers and PyTerrier, in .venv-embedding (2 GB)
# make test-spark       tests with a local session of Spark, in .venv-spark (needs Java)
# make check      format, lint, types
# make outputs    update the outputs in README and docs
# make docs       build the documentation site in build/docs, and check its links
# make cases      update the outputs of docs/cases, on the data in CONFIR_DATA
# make pictures   draw the pictures of README and site that no command draws, by Chromium
# make test-processors  records and tests with the instruction sets of older processors
# make verify     what takes too long for every commit: coverage, packages, fuzz, mutate, decisions,
#                 the slow tests, the newest packages, embedding libraries, other processors
# make test-slow  tests marked slow, and tests/verify: simulations, memory at 10 million topics, ranx,
#                 all real runs, all pages by processes, LaTeX tables, read-only folders
# make test-newest   the tests with the newest versions of all packages, not those of constraints.txt
# make lock       update the versions of packages that are installed, in constraints.txt
# make coverage   branches that the tests reach; fails below 95 % of the data and statistics layers
# make fuzz       feed the readers with damaged files: SECONDS=… for each of them, then try every
#                 property with CONFIR_EXAMPLES=… new examples
# make decisions  search for limits that jump, and for unmarked decisions that change with the seed
# make mutate     break lines of the statistics, and count which the tests notice: SECONDS=…
# make bench      compare the speed with that of similar tools; ARGS=--quick tries confir alone
#                 (benchmarks/earlier_commit.py COMMIT compares with an earlier confir, and
#                 hardening/earlier_outputs.py COMMIT what both print)
# make tables     simulate the quantiles that calibrated-beta ships with
# make packages   build wheel and sdist, and try both in empty environments
# make data       say where the collections are published, and verify the copy in CONFIR_DATA
# make references regenerate the values of validation/, by R with the packages that its README names
# make reproduce  compare the papers' tables with those of confir, on the data in CONFIR_DATA

PYTHON ?= python3
export CONFIR_DATA ?= $(CURDIR)/data
# The tests start many processes, which would each compile the modules again.
unexport PYTHONDONTWRITEBYTECODE

# .venv holds what a user installs, and nothing else; .venv-test holds the tools of developers too.
VENV := .venv
TEST_VENV := .venv-test
EMBEDDING_VENV := .venv-embedding
SPARK_VENV := .venv-spark
PIP := -m pip --disable-pip-version-check --quiet
LOCK := --constraint constraints.txt
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)

SECONDS ?= 300

.PHONY: demo test test-embedding test-spark test-slow test-newest test-processors check lock verify coverage \
	fuzz mutate decisions outputs docs cases pictures bench tables data packages references reproduce format clean

%/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $*
	$*/$(BIN)/python $(PIP) install $(LOCK) --upgrade "pip>=25.1"
	$*/$(BIN)/python $(PIP) install $(LOCK) --editable '.[all]'
	touch $@

TEST_GROUPS := test check peers docs fuzz
$(TEST_GROUPS:%=$(TEST_VENV)/installed-%): \
$(TEST_VENV)/installed-%: $(TEST_VENV)/installed
	$(TEST_VENV)/$(BIN)/python $(PIP) install $(LOCK) --group $*
	touch $@

demo: $(VENV)/installed
	$(VENV)/$(BIN)/confir demo --report demo-report.html

test: $(VENV)/installed $(TEST_VENV)/installed-test
	CONFIR_DEMO_PYTHON=$(CURDIR)/$(VENV)/$(BIN)/python $(TEST_VENV)/$(BIN)/python -m pytest -n auto -m "not slow" $(ARGS)

$(EMBEDDING_VENV)/installed-embedding: $(EMBEDDING_VENV)/installed
	$(EMBEDDING_VENV)/$(BIN)/python $(PIP) install --group embedding
	touch $@

test-embedding: $(EMBEDDING_VENV)/installed-embedding
	$(EMBEDDING_VENV)/$(BIN)/python -m pytest tests/embedding $(ARGS)

$(SPARK_VENV)/installed-spark: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/$(BIN)/python $(PIP) install $(LOCK) --upgrade "pip>=25.1"
	$(SPARK_VENV)/$(BIN)/python $(PIP) install $(LOCK) --editable '.[spark,fast]' --group spark
	touch $@

test-spark: $(SPARK_VENV)/installed-spark
	$(SPARK_VENV)/$(BIN)/python -m pytest tests/spark $(ARGS)

check: $(TEST_VENV)/installed-check
	$(TEST_VENV)/$(BIN)/ruff format --check .
	$(TEST_VENV)/$(BIN)/ruff check .
	$(TEST_VENV)/$(BIN)/codespell
	$(TEST_VENV)/$(BIN)/mypy

lock:
	$(PYTHON) hardening/lock.py

verify: coverage packages fuzz mutate decisions test-slow test-newest test-embedding test-processors

# LaTeX with acmart is needed for the tables; on Debian: apt-get install texlive-publishers
# texlive-latex-extra texlive-fonts-extra texlive-fonts-recommended texlive-plain-generic
test-slow: $(VENV)/installed $(TEST_VENV)/installed-test
	CONFIR_DEMO_PYTHON=$(CURDIR)/$(VENV)/$(BIN)/python $(TEST_VENV)/$(BIN)/python -m pytest -n auto \
		-m slow --ignore tests/verify/test_packages.py $(ARGS)

test-newest:
	$(MAKE) test LOCK= VENV=$(VENV)-newest TEST_VENV=$(TEST_VENV)-newest

test-processors: $(VENV)/installed $(TEST_VENV)/installed-test
	CONFIR_DEMO_PYTHON=$(CURDIR)/$(VENV)/$(BIN)/python $(TEST_VENV)/$(BIN)/python hardening/processors.py \
		--tests tests/contracts tests/reference $(ARGS)

# The layers are those of the data and statistics; pages and browsers are not needed to reach them.
# Which test ran which line, and for how long, is kept for the mutants.
coverage: $(VENV)/installed $(TEST_VENV)/installed-test
	CONFIR_DEMO_PYTHON=$(CURDIR)/$(VENV)/$(BIN)/python $(TEST_VENV)/$(BIN)/python -m pytest -n auto \
		-m "not slow" --cov --cov-context=test --cov-report= --cov-fail-under=0 --junitxml=build/tests.xml -o junit_family=xunit1 \
		--ignore tests/browser --ignore tests/documentation --ignore tests/embedding $(ARGS)
	$(TEST_VENV)/$(BIN)/python -m coverage report --skip-covered

build/tests.xml:
	$(MAKE) coverage

# The readers by atheris, then every property with new examples: CONFIR_EXAMPLES says how many.
fuzz: $(TEST_VENV)/installed-fuzz $(TEST_VENV)/installed-test
	for reader in runs qrels scores effects exclusions teams contributors metadata; do \
		$(TEST_VENV)/$(BIN)/python hardening/fuzz_readers.py $$reader --seconds $(SECONDS) || exit 1; done
	CONFIR_EXAMPLES=$(or $(CONFIR_EXAMPLES),500) $(TEST_VENV)/$(BIN)/python -m pytest -n auto -m hypothesis $(ARGS)

# Limits that jump, and decisions that the seed makes.
decisions: $(TEST_VENV)/installed
	$(TEST_VENV)/$(BIN)/python hardening/jumps.py --seconds $(SECONDS)
	$(TEST_VENV)/$(BIN)/python hardening/seeds.py

mutate: $(TEST_VENV)/installed-test build/tests.xml
	$(TEST_VENV)/$(BIN)/python hardening/mutate.py --seconds $(SECONDS) $(ARGS)

format: $(TEST_VENV)/installed-check
	$(TEST_VENV)/$(BIN)/ruff format .
	$(TEST_VENV)/$(BIN)/ruff check --fix .

outputs: $(VENV)/installed
	$(VENV)/$(BIN)/confir demo --output docs/figures/demo.svg
	for page in README.md skills/confir/SKILL.md docs/*.md; do \
		$(VENV)/$(BIN)/python tests/documentation/run_pages.py --processes --write $$page || exit 1; done

docs: $(TEST_VENV)/installed-docs
	$(TEST_VENV)/$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	$(TEST_VENV)/$(BIN)/python docs/check_links.py build/docs

cases: $(VENV)/installed
	for page in docs/cases/*.md; do \
		$(VENV)/$(BIN)/python tests/documentation/run_pages.py --write $$page || exit 1; done

pictures: $(VENV)/installed
	$(VENV)/$(BIN)/python docs/pictures.py

bench: $(TEST_VENV)/installed-peers
	for script in $(filter-out benchmarks/side_by_side.py benchmarks/earlier_commit.py,$(wildcard benchmarks/*.py)); do \
		$(TEST_VENV)/$(BIN)/python $$script $(ARGS) || exit 1; done

tables: $(VENV)/installed
	$(VENV)/$(BIN)/python tables/pivot_quantiles.py

packages: $(TEST_VENV)/installed-test
	$(TEST_VENV)/$(BIN)/python $(PIP) install build
	rm -rf dist
	$(TEST_VENV)/$(BIN)/python -m build --outdir dist .
	$(TEST_VENV)/$(BIN)/python -m pytest -n 0 -p no:randomly tests/verify/test_packages.py

data:
	$(PYTHON) collections/verify.py $(CONFIR_DATA)

references: $(VENV)/installed
	PYTHON=$(CURDIR)/$(VENV)/$(BIN)/python validation/regenerate.sh

reproduce: $(VENV)/installed
	for script in reproductions/*.py; do \
		$(VENV)/$(BIN)/python $$script --data $(CONFIR_DATA) --output docs/reproductions || exit 1; done

clean:
	rm -rf $(VENV) $(TEST_VENV) $(VENV)-newest $(TEST_VENV)-newest $(EMBEDDING_VENV) $(SPARK_VENV) .ruff_cache .mypy_cache .pytest_cache .hypothesis build dist
