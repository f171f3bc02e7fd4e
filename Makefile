# From a fresh clone: `make demo` to look around, `make test` to check everything.
# Needs Python 3.11 or newer. uv is used where it is on the PATH, else venv and pip.
#
#   make demo PYTHON=python3.13    uses that Python

VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PYTHON ?=
WORKERS ?= 4
TESTS ?=

# Extras that `fewgold demo` needs, such as [plots].
DEMO_EXTRAS :=

# One stamp file per kind of set-up; each includes the one before.
DEMO_READY := $(VENV)/.ready-demo
TEST_READY := $(VENV)/.ready-test
SPARK_READY := $(VENV)/.ready-spark
PINNED := constraints.txt
PINS := pyproject.toml $(PINNED) $(VENV)/pyvenv.cfg

export UV_SYSTEM_CERTS := 1
export UV_PYTHON_DOWNLOADS := never

# Start-up is slow without bytecode, which uv compiles only on request.
ifneq ($(UV),)
INSTALL = uv pip install --quiet --python $(BIN)/python --compile-bytecode -c $(PINNED) -e
else
# An environment made by uv has no pip, hence ensurepip.
INSTALL = { $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null; } && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(PINNED) -e
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test theory mutants spark tools docs lint package oldest newest clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## Set up and run `fewgold demo` on the embedded data
	@echo "Running fewgold demo: a study with 71 ratings, then 2,000 more like it ..."
	@$(BIN)/fewgold demo

test: lint  ## Set up and run everything that CI runs: ruff, mypy, pytest
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses $(WORKERS)

theory: $(TEST_READY)  ## Run the slow tests of coverage and calibration
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m slow -n auto --maxprocesses $(WORKERS)

mutants: $(TEST_READY)  ## Plant faults in copies of the code and check that the tests notice
	$(BIN)/python tests/mutants/run.py --jobs $(WORKERS)

spark: $(SPARK_READY)  ## Run the tests that need a local Spark (and Java 17)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m spark tests/stored

# Each tool gets its own environment, .venv-tools-NAME; see tests/tools/tools.toml. If one cannot be
# installed, it says why, and the tests of that tool are skipped.
tools: $(TEST_READY)  ## Install real annotation and evaluation tools, and run the tests with them
	-$(BIN)/python tests/tools/install.py
	$(BIN)/pytest -m tools tests/tools -rs

docs: $(TEST_READY)  ## Build the documentation site in build/docs
	$(BIN)/python -m sphinx -W -q -b html docs build/docs

lint: $(TEST_READY)  ## Check style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

package: $(TEST_READY)  ## Build sdist and wheel in dist, and try them in a clean environment
	$(BIN)/python tests/packaging/package.py dist

# Separate environments, made like .venv but with other versions. Old libraries may use deprecated
# names of other libraries, so deprecation warnings are not errors here. The tests of pages need a
# recent test client; `fewgold serve` is tried with the oldest versions too.
NO_CLIENT := $(addprefix --ignore=tests/,web campaign/test_direction.py cli/test_masking.py io/test_matrix.py)
# Some digits of shown output and golden files come from scikit-learn, statsmodels or pandas as pinned.
OTHER_DIGITS := $(addprefix --deselect=tests/,test_golden_commands.py::test_every_command_prints_what_it_did \
	docs/test_docs.py::test_session[monitor] docs/test_docs.py::test_session[rate-more])
oldest:  ## Run the tests with the oldest versions that pyproject.toml allows
	@$(MAKE) --no-print-directory others VENV=.venv-oldest PINNED=build/oldest.txt \
		TESTS='-W default::DeprecationWarning -W default::PendingDeprecationWarning $(NO_CLIENT) $(OTHER_DIGITS) $(TESTS)'

newest:  ## Run the tests with the newest versions available
	@rm -rf .venv-newest
	@$(MAKE) --no-print-directory others VENV=.venv-newest PINNED=build/newest.txt

.PHONY: others
others: $(TEST_READY)
	@$(BIN)/python -c "from importlib.metadata import version as v; \
		print(*(f'{n} {v(n)}' for n in 'numpy scipy pandas scikit-learn typer'.split()), sep=', ')"
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses $(WORKERS) $(TESTS)

build/oldest.txt: pyproject.toml tests/packaging/oldest.py $(VENV)/pyvenv.cfg
	@mkdir -p build
	@$(BIN)/python tests/packaging/oldest.py > $@

build/newest.txt:
	@mkdir -p build
	@: > $@

clean:  ## Remove the environments, caches and builds
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-tools-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(DEMO_READY): $(PINS)
	@echo "1/2 Installing fewgold with numpy, scipy, pandas and scikit-learn into $(VENV)."
	@echo "    This happens once and usually takes a minute or two ..."
	@$(INSTALL) '.$(DEMO_EXTRAS)'
	@echo "2/2 Compiling ..."
	@$(BIN)/python -m compileall -q fewgold
	@touch $@

$(TEST_READY): $(PINS)
	@echo "Installing fewgold with the development tools into $(VENV). This happens once and takes a few minutes ..."
	@$(INSTALL) '.[dev]'
	@$(BIN)/python -m compileall -q fewgold
	@touch $(DEMO_READY) $@

$(SPARK_READY): $(PINS)
	@echo "Installing fewgold with the development tools and Spark into $(VENV). This happens once and takes several minutes ..."
	@$(INSTALL) '.[dev,spark]'
	@$(BIN)/python -m compileall -q fewgold
	@touch $(DEMO_READY) $(TEST_READY) $@

ifneq ($(UV),)
$(VENV)/pyvenv.cfg:
	@rm -rf $(VENV)
	@uv venv --quiet $(if $(PYTHON),--python '$(PYTHON)') $(VENV) || { \
		echo "fewgold needs Python 3.11 or newer; the lines above say why uv found none." \
			"Install one, or name it: make PYTHON=/path/to/python3." >&2; \
		exit 1; }
else
$(VENV)/pyvenv.cfg:
	@rm -rf $(VENV)
	@python=; \
	for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			python=$$candidate; break; \
		fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "fewgold needs Python 3.11 or newer; $(or $(PYTHON),python3) is" \
			"$$($(or $(PYTHON),python3) --version 2>/dev/null || echo missing)." \
			"Install one, or name it: make PYTHON=/path/to/python3." >&2; \
		exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$$python cannot make virtual environments: its venv module is missing." \
			"On Debian and Ubuntu: sudo apt install python3-venv. Or install uv." >&2; \
		exit 1; \
	fi; \
	"$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
endif
