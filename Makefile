# make demo: installs into .venv and answers three questions from the bundled sample. make test: runs the tests.
# make engines: installs Virtuoso from Debian's packages where it can; tests that need it are skipped where it is absent.
PYTHON ?= python3
BIN := .venv/bin
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)
APT := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq
VIRTUOSO := virtuoso-opensource

.PHONY: demo engines test check format lint types clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	$(BIN)/python -m fedkg.demo

engines:
	@if command -v virtuoso-t >/dev/null && command -v isql-vt >/dev/null; then echo "Virtuoso is installed"; \
	elif $(APT) install -y --no-install-recommends $(VIRTUOSO) </dev/null \
		|| { $(APT) update && $(APT) install -y --no-install-recommends $(VIRTUOSO) </dev/null; }; \
	then echo "Virtuoso is installed now"; \
	else echo "Virtuoso cannot be installed here; as root: apt-get install --no-install-recommends $(VIRTUOSO)"; fi

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
