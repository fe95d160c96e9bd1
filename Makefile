# Everything a person needs to type. `make help` lists it. Each target sets up what it needs in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# one more than two cores: tests that start processes wait for them
JOBS ?= 3
PAGE := src/commonplace/parts/web/static/index.html
PAGE_SOURCES := $(shell find web -path web/node_modules -prune -o -path web/fixtures -prune -o -path web/test -prune -o -name api.d.ts -o -type f -print)

# with the versions that were tested together; where they cannot be had, with the newest that are allowed
pip := $(BIN)/python -m pip install --quiet --disable-pip-version-check
EXTRAS := ann,chroma,cluster,korean,langchain,langgraph,llamaindex,local,mcp,meaning,openai-agents,parquet,postgres,sitcom,web
install = $(pip) --constraint constraints.txt $(1) || \
	{ echo "the versions in constraints.txt cannot be had here: trying the newest ones" >&2; $(pip) $(1); }

.PHONY: run serve page sitcom test lint coverage wheel docs bench check-model-server check-small-model prove constraints lowest help clean
.DEFAULT_GOAL := help

run: $(VENV)/base  ## watch ten characters of a neon village live (plain lines where there is no terminal)
	@mkdir -p runs; n=1; while [ -e runs/latticeville-$$n.run ]; do n=$$((n + 1)); done; \
	exec $(BIN)/commonplace run latticeville -o runs/latticeville-$$n.run

serve: $(VENV)/web page  ## watch that village in the browser; Node is needed once, to build the page
	@exec $(BIN)/commonplace serve latticeville

page: $(PAGE)  ## build the page of the server from web/ (needs Node 20 or newer)

$(PAGE): $(PAGE_SOURCES)
	@command -v npm >/dev/null || { echo "the page is built with Node 20 or newer, which is not installed: https://nodejs.org"; \
	  echo "(make run needs no page: it shows the village in the terminal)"; exit 1; }
	@echo "building the page, about a minute …"
	@cd web && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

sitcom: $(VENV)/sitcom  ## two characters on a stage in the browser, with the reasons under every line
	exec $(BIN)/streamlit run app.py

# an editable install reads the page from the clone; without this pip would bring Node to build it
$(VENV)/base $(VENV)/web $(VENV)/sitcom $(VENV)/test: export COMMONPLACE_NO_PAGE := 1

# tests start hundreds of processes: without bytecode each of them compiles the package again
test coverage prove: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/test  ## run every test that can run here
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

lint: $(VENV)/lint  ## ruff, pyright, the import rule; Biome and the compiler for the page
	$(BIN)/ruff check src tests benchmarks examples tools app.py hatch_build.py
	$(BIN)/ruff format --check src tests benchmarks examples tools app.py hatch_build.py
	$(BIN)/pyright
	$(BIN)/lint-imports
	@if [ -d web/node_modules ]; then cd web && npm run --silent check; else echo "web/ is not checked: no web/node_modules"; fi

coverage: $(VENV)/test  ## how much of the package the tests reach, in per cent; below 60 it fails
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow" -q --cov --cov-report=term:skip-covered --cov-fail-under=60

wheel: page | $(BIN)/python  ## build a wheel with the page into dist/, after trying it in a fresh environment
	$(BIN)/python tools/check_wheel.py

docs: $(VENV)/docs  ## build the documentation site into build/site; a broken link or reference fails
	$(BIN)/python tools/build_site.py

bench: $(VENV)/test  ## print the figures that docs/benchmarks.md keeps
	@for file in benchmarks/[a-z]*.py; do $(BIN)/python $$file || exit 1; done

check-model-server: $(VENV)/test  ## live on a real llama.cpp server with random weights (installed once into .cache/)
	$(BIN)/python tools/check_model_server.py

check-small-model: $(VENV)/test  ## what a model of 93 MB says does no harm (downloaded once into .cache/)
	$(BIN)/python tools/check_small_model.py

prove: $(VENV)/test  ## everything in full size: a hundred kills, hundreds of worlds, all examples of property tests
	COMMONPLACE_PROVE=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

constraints: $(VENV)/lint $(VENV)/docs  ## write the versions that are installed here to constraints.txt
	@{ sed -n '/^#/p' constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | sort -f; } > constraints.new
	@mv constraints.new constraints.txt

lowest:  ## test the libraries with the lowest versions that pyproject.toml allows (needs uv)
	uv venv --quiet --clear --python $(PYTHON) .cache/lowest
	COMMONPLACE_NO_PAGE=1 uv pip install --quiet --python .cache/lowest --resolution lowest-direct --editable . --group test
	.cache/lowest/bin/python -m pytest -n $(JOBS) -q -m "not slow" tests/memory tests/querygraph tests/ledger tests/world tests/cognition

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 22

clean:  ## remove what was set up (runs stay)
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "commonplace needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@echo "setting up $(VENV), a minute or two …"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }  # half of one would be taken for a whole one next time

# pip 25.1 is the first that knows --group
$(VENV)/pip: | $(BIN)/python
	@$(pip) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/base: pyproject.toml | $(BIN)/python
	@$(call install,--editable .)
	@touch $@

$(VENV)/web: pyproject.toml $(VENV)/base
	@echo "installing what the browser needs …"
	@$(call install,--editable ".[web]")
	@touch $@

$(VENV)/sitcom: pyproject.toml $(VENV)/base
	@echo "installing Streamlit and Chroma, a minute or two …"
	@$(call install,--editable ".[sitcom]")
	@touch $@

$(VENV)/test: pyproject.toml $(VENV)/base | $(VENV)/pip
	@echo "installing all extras and what the tests need, some minutes …"
	@$(call install,--editable ".[$(EXTRAS)]" --group test)
	@touch $@

$(VENV)/lint: pyproject.toml $(VENV)/test
	@$(call install,--group lint)
	@touch $@

$(VENV)/docs: pyproject.toml | $(VENV)/pip
	@$(call install,--group docs)
	@touch $@
