# Firsthand's two commands are `make demo` and `make test`; they make their own environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -q

.PHONY: setup demo test check evals evals-demo evals-walls evals-extraction bench crash crash-long crash-paid promises trust trust-long \
	fuzz fuzz-long pins clean

setup: $(VENV)/.base

$(VENV)/.base: requirements/base.txt requirements/build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Firsthand needs Python 3.11 or later; name one with PYTHON=")'
	@echo "making $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements/build.txt -r requirements/base.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src  # where Python may keep no bytecode, every start would compile again: 0.6 s
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.txt
	@echo "adding what the tests need (once)"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/.base  ## keep the pages that ship with the project, answer three questions, check every quote
	@$(BIN)/firsthand demo

test: $(VENV)/.dev  ## every test
	@$(BIN)/python -m pytest

check: $(VENV)/.dev  ## formatter, linter, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

evals-demo: $(VENV)/.dev  ## questions over the demo pages, against the pinned floors
	@$(BIN)/python -m evals.run_demo --floors evals/floors.json

evals-walls: $(VENV)/.dev  ## what came instead of a page, against the pinned floors
	@$(BIN)/python -m evals.walls --floors evals/floors-walls.json

evals: $(VENV)/.dev  ## the open questions over six documentation packages
	@$(BIN)/python -m evals.run_questions --install --no-misses

evals-extraction: $(VENV)/.dev  ## main text of the golden pages; for the public sets see evals/README.md
	@$(BIN)/python -m evals.extraction --set golden evals/data/extraction --ours-only

bench: $(VENV)/.dev  ## start-up, answer and recall, one JSON object each
	@$(BIN)/python -m benchmarks.answer
	@$(BIN)/python -m benchmarks.world_run --setting real --runs 3
	@$(BIN)/python -m benchmarks.fetch

crash: $(VENV)/.dev  ## kill at every fault point and at 100 random moments, resume, compare
	@$(BIN)/python -m benchmarks.crash --hits 4 --random 100 --out benchmarks/results/crash.jsonl

crash-long: $(VENV)/.dev  ## the same with 1,000 random moments
	@$(BIN)/python -m benchmarks.crash --random 1000 --double 200 --out benchmarks/results/crash.jsonl

crash-paid: $(VENV)/.dev  ## kill around a paid search, resume, count requests and charges at the service
	@$(BIN)/python -m benchmarks.paid_search --hits 2 --random 5 --double 3 --out benchmarks/results/paid-search.jsonl

promises: $(VENV)/.dev  ## every test that shows a promise
	@$(BIN)/python -m tests.promises

trust: $(VENV)/.dev  ## the figures of P1 to P6, short form
	@$(BIN)/python -m benchmarks.trust --short

trust-long: $(VENV)/.dev  ## the same with a million generated addresses and the corpus' own time limits
	@$(BIN)/python -m benchmarks.trust

fuzz: $(VENV)/.dev  ## a minute of made-up input for everything that takes hostile input
	@mkdir -p build; $(BIN)/python -m benchmarks.fuzz --seconds 60 --out build/fuzz.json --failures build/fuzz.jsonl

fuzz-long: $(VENV)/.dev  ## ten million inputs and 200,000 pages
	@nice -n 15 $(BIN)/python -m benchmarks.fuzz --executions 10000000

COMPILE := $(BIN)/pip-compile -q --generate-hashes --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	--no-header --strip-extras --allow-unsafe

pins: $(VENV)/.dev  ## compile the pins again: hashes, no index address
	@$(COMPILE) --all-build-deps --only-build-deps -o requirements/build.txt pyproject.toml
	@$(COMPILE) --extra search -o requirements/base.txt pyproject.toml
	@$(COMPILE) --all-extras -c requirements/base.txt -o requirements/dev.txt pyproject.toml

clean:
	rm -rf $(VENV) out build dist
