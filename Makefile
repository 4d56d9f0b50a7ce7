# Two commands do everything: `make tour` shows the program at work, `make test` runs all its tests.
.PHONY: help tour test check coverage mutation bench docs audit setup setup-test clean
.DEFAULT_GOAL := help
BIN := .venv/bin
# Two workers; the tests of one file share their servers, so they stay together.
TWO := -n 2 --dist loadfile

help:
	@echo "make tour   see the main job done in small (installs what it needs into .venv)"
	@echo "make test   run everything: lint, types, all tests (installs what it needs)"
	@echo "make check  lint, types and the fast tests of what you changed, for daily work"
	@echo "make coverage  branch coverage of the fast tests, per folder"
	@echo "make mutation  mutation testing of the modules named in pyproject.toml"
	@echo "make bench  the benchmarks, each printing a ratio to its peer or limit"
	@echo "make docs   regenerate the reference and build the site into build/docs, offline"
	@echo "make audit  look for known faults in the pinned dependencies"

setup:
	@tools/setup.sh tour train,parquet,plots,llm,studio,serve 2000

setup-test:
	@tools/system.sh
	@tools/setup.sh test test 6000

tour: setup
	@$(BIN)/deadpan models pull wordllama-256 >/dev/null || echo "without the vectors wordllama-256"
	@$(BIN)/deadpan tour

test: setup-test
	@$(BIN)/deadpan models pull all
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest $(TWO) --durations=10

check: setup-test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest $(TWO) -m "not slow" $$(tools/changed.sh)

coverage: setup-test
	@$(BIN)/python -m pytest $(TWO) --cov --cov-report=
	@$(BIN)/python tools/covered.py --check

mutation: setup-test
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt mutmut
	@$(BIN)/python -m mutmut run

bench: setup-test
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: setup-test
	@$(BIN)/python tools/reference.py
	@$(BIN)/python -m zensical build --strict >/dev/null && echo "build/docs/index.html"

audit:
	@tools/audit.sh

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache
