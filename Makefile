# make demo: installs into .venv and answers three questions from the bundled sample. make test: runs the tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check format lint types clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	$(BIN)/python -m fedkg.demo

test: .venv/installed
	$(BIN)/python -m pytest

format: .venv/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/installed
	$(BIN)/mypy

check: lint types test

clean:
	rm -rf .venv build dist
