# make help lists the targets. Each first installs what it needs into .venv, if that is not done yet.

# Snakemake does not quote the path of Python, which is in this folder; nor does make its own paths.
ifneq ($(words $(CURDIR))$(findstring ',$(CURDIR))$(findstring ",$(CURDIR)),1)
$(error The path of this folder has a space or a quote ($(CURDIR)): move the project to one without)
endif

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3.11
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
RESULTS := results/demo

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Copy of the lock file that the environment was installed from; if the lock changes, it is installed again.
INSTALLED := $(VENV)/requirements.lock
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Bars on a terminal; elsewhere Snakemake's own lines, which say what every job does.
SNAKEMAKE := snakemake --cores $(CORES) $(shell [ -t 1 ] && echo --logger rich)

# Torch comes last: its build depends on the machine, so it has no hash, and what it shares with the lock is there already.
$(INSTALLED): requirements.lock requirements-torch.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --require-hashes --no-deps -r requirements.lock
	$(PIP_INSTALL) -r requirements-torch.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	cp requirements.lock $@

# What only tests and linters need, besides.
DEVELOPED := $(VENV)/requirements-dev.lock
$(DEVELOPED): requirements-dev.lock $(INSTALLED)
	$(PIP_INSTALL) --require-hashes --no-deps -r requirements-dev.lock
	cp requirements-dev.lock $@

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

.PHONY: setup
setup: $(INSTALLED) ## install the pinned dependencies into .venv

.PHONY: demo
demo: $(INSTALLED) ## run the workflow on the data and the tiny BERT that ship (CORES=2 ANALYSES=all)
	$(SNAKEMAKE) all report $(SELECTED)

# What a run makes beyond the paper, by name or `all`: make demo ANALYSES=all
ANALYSES ?=
COMMA := ,
SELECTED = $(if $(ANALYSES),--config 'analyses=[paper$(COMMA)$(ANALYSES)]')

# Another run than the demonstration: make run CONFIG=config/paper.yaml, make label CONFIG=results/<run>/config.yaml
CONFIG ?= config/config.yaml
RUN ?= $(shell sed -nE "s/^run: *[\"']?([A-Za-z0-9._-]+).*/\1/p" "$(CONFIG)")
ANNOTATOR ?= $(USER)
PASS ?= 1

CHECK := @test -f "$(CONFIG)" || { echo "There is no file $(CONFIG). Name a configuration (config/README.md)." >&2; exit 1; }

.PHONY: run
run: $(INSTALLED) ## run a configuration (CONFIG=config/paper.yaml CORES=8)
	$(CHECK)
	$(SNAKEMAKE) all report --configfile "$(CONFIG)" $(SELECTED)

.PHONY: label
ifeq ($(SET),shipped)
label: $(INSTALLED)
	python -m darksecrets.paper.patterns label --shipped --annotations annotations/shipped \
	  --annotator "$(ANNOTATOR)" --pass $(PASS)
else
label: $(INSTALLED) ## label attention maps in the browser (ANNOTATOR=name PASS=1 CONFIG=file; SET=shipped: 100 maps of the shipped set)
	$(CHECK)
	@python -m darksecrets.paper.patterns check --annotator "$(ANNOTATOR)" --pass $(PASS)
	snakemake --cores $(CORES) sample_maps --configfile "$(CONFIG)" --config run=$(RUN)
	python -m darksecrets.paper.patterns label --maps results/$(RUN)/patterns/maps \
	  --annotations annotations/$(RUN) --annotator "$(ANNOTATOR)" --pass $(PASS)
endif

.PHONY: docs
docs: $(DEVELOPED) ## build the pages of docs/ and the reference into site/, to be opened from disk
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true python -m mkdocs build --strict --quiet

DEMO ?= results/demo
REAL ?= results/real
BEYOND ?= results/real-beyond
IMPORTANCE ?=
MULTILINGUAL ?=

.PHONY: pictures
pictures: $(DEVELOPED) ## make the pictures in docs/images again, from finished runs (DEMO= REAL= BEYOND= IMPORTANCE= MULTILINGUAL=folder)
	python -m tools.pictures --demo $(DEMO) --real $(REAL) --beyond $(BEYOND) $(if $(IMPORTANCE),--importance $(IMPORTANCE)) $(if $(MULTILINGUAL),--multilingual $(MULTILINGUAL))

.PHONY: real-page
real-page: $(INSTALLED) ## keep the small tables of the real runs in docs/real, and make the pages from them (REAL= BEYOND= IMPORTANCE= MULTILINGUAL=folder)
	python -m tools.real pages --paper $(REAL) --beyond $(BEYOND) $(if $(IMPORTANCE),--importance $(IMPORTANCE)) $(if $(MULTILINGUAL),--multilingual $(MULTILINGUAL))

.PHONY: compare
compare: $(INSTALLED) ## print a run beside the one in docs/real and beside the paper (RUN=results/paper)
	python -m tools.real compare "$(if $(filter command line,$(origin RUN)),$(RUN),$(error Give the run: make compare RUN=results/paper))"

# Tests of a file share what it made, so a file stays with one worker.
WORKERS ?= 2
# The longest files come first (tests/conftest.py), and keep their order.
PYTEST_IN_PARALLEL := python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: quick
quick: $(DEVELOPED) ## run the units without the slow ones, and the linters: two minutes (WORKERS=2)
	$(PYTEST_IN_PARALLEL) -m 'not slow and not gpu and not thorough' \
	  tests/test_style.py tests/test_architecture.py tests/workflow/lib tests/unit

.PHONY: test
test: $(DEVELOPED) ## run the tests and linters: 20 minutes on two AVX2 cores (WORKERS=2)
	$(PYTEST_IN_PARALLEL)

.PHONY: test-analyses
test-analyses: $(DEVELOPED) ## run every analysis on little data, and check its tables (WORKERS=2)
	$(PYTEST_IN_PARALLEL) -m thorough tests/workflow/test_all_analyses.py tests/workflow/test_analyses.py

.PHONY: test-all
test-all: $(DEVELOPED) ## add the tests that take long, before a release or a change of an inference (WORKERS=2)
	$(PYTEST_IN_PARALLEL) -m 'not cluster and not gpu'

.PHONY: coverage
coverage: $(DEVELOPED) ## run the tests, and print the share of the package's lines, in per cent, that they run (WORKERS=2)
	$(PYTEST_IN_PARALLEL) --quiet --cov=darksecrets --cov-report=
	@python -m coverage report --format=total

.PHONY: test-oldest
test-oldest: $(DEVELOPED) ## test what is used of Snakemake with the oldest version that is allowed
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  "snakemake[reports]==$$(sed -nE 's/^min_version\("(.*)"\)/\1/p' Snakefile).*"
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  >$$($(VENV)-oldest/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/others.pth
	$(VENV)-oldest/bin/python -m pytest $(addprefix tests/workflow/,lib test_paper_run.py)

.PHONY: test-cluster
test-cluster: $(DEVELOPED) ## start a real one-node Slurm (root, Debian) and test the Slurm profile on it
	python -m pytest -m cluster tests/cluster -v -o log_cli=true -o log_cli_level=INFO

.PHONY: test-gpu
test-gpu: $(DEVELOPED) ## compare a GPU with the CPU, within the tolerances of docs/gpu.md
	python -m pytest -m gpu tests/unit

.PHONY: lint
lint: $(DEVELOPED) ## run the linters only
	python -m pytest tests/test_style.py

.PHONY: pattern-classifier
pattern-classifier: $(INSTALLED) ## train and cross-validate the pattern classifier that ships again (20 CPU minutes)
	snakemake --cores $(CORES) train_pattern_classifier \
	  --configfile config/config.yaml --config run=pattern-classifier 'patterns={training: always}'
	rm -rf darksecrets/resources/patterns/classifier
	cp -r results/pattern-classifier/patterns/classifier darksecrets/resources/patterns/
	rm -f darksecrets/resources/patterns/classifier/.snakemake_timestamp
	cp results/pattern-classifier/tables/pattern_predictions.csv darksecrets/resources/patterns/
	python -m darksecrets.core.run.shipped

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
  --no-emit-package torch --no-header --no-annotate

.PHONY: release
release: $(DEVELOPED) ## check that version, changelog, citation and images agree, and say what to tag
	python -m pytest -q tests/test_style.py -k citation
	@python -c 'from darksecrets.core.run.version import __version__ as v; print(f"git tag -a v{v} -m \"darksecrets {v}\"")'

.PHONY: lock
lock: $(DEVELOPED) ## resolve the dependencies of pyproject.toml again, with hashes, into the lock files
	$(COMPILE) --upgrade --extra workflow -o requirements.lock pyproject.toml
	$(COMPILE) --upgrade --extra workflow --extra dev --extra docs --constraints requirements.lock -o requirements-dev.lock pyproject.toml
	python -m tools.environments

.PHONY: audit
audit: ## look the pinned dependencies up in a database of known flaws (needs a connection)
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	grep -hoE '^[a-z0-9-]+==[^ ]+' requirements-dev.lock requirements-torch.txt >$(VENV)-audit/requirements.txt
	$(VENV)-audit/bin/pip-audit --requirement $(VENV)-audit/requirements.txt --no-deps --disable-pip --strict

.PHONY: clean
clean: ## remove the demonstration's results (the environment stays)
	rm -rf $(RESULTS)
