# One command to run Cairn (`make run`), one to test it (`make test`).
# Needs only Python 3.11+ and make; everything else comes from the hashed locks.

SHELL := /bin/sh
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.9
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Where it is set, every process compiles all modules anew: seconds at each start.
unexport PYTHONDONTWRITEBYTECODE

LOCK_OPTIONS := --quiet --generate-hashes --universal --python-version 3.11 --no-emit-index-url \
	--custom-compile-command "make lock"
# Tests wait more than they compute, so more processes than cores share them; servers that are given
# (DATABASE_URL) are used by one process alone.
SHARED := $(if $(DATABASE_URL),,-n 4 --dist loadgroup --no-loadscope-reorder)

# As root on Debian the tests install what no Python package has, and no service with it. Anywhere
# else they leave out what needs it and say so at the end; with CI=true nothing is left out.
define install_programs
if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
  && ! { command -v chromium && command -v pgbouncer && command -v nginx \
    && command -v systemd-analyze; } > /dev/null; then \
  echo "… installing chromium, pgbouncer, nginx and systemd for the tests" >&2; \
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      chromium pgbouncer nginx-light systemd; \
    systemctl disable --now -q pgbouncer nginx; } > /dev/null 2>&1; \
fi
endef

# Installs a lock into the virtual environment: with uv, or with pip where uv cannot.
define install_lock
began=$$(date +%s); echo "… installing packages of $(1)"; \
{ [ -x $(BIN)/uv ] || $(BIN)/python -m pip install -q "uv==$(UV_VERSION)"; } \
  && $(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r $(1) \
  || { echo "… uv did not manage; trying pip"; \
       $(BIN)/python -m pip install -q --require-hashes -r $(1); } \
  || { echo "The packages of $(1) could not be installed; the reason is above." >&2; exit 1; }; \
echo "✓ packages $$(( $$(date +%s) - began )) s"
endef

TEMPLATES := frontend/templates accounts/templates config/templates
TEMPLATE_STYLE := --quiet --indent-width 2 --line-length 120
STATIC := frontend/static/frontend

.DEFAULT_GOAL := run
.PHONY: run restart doctor ner traces test lint check format lock bench bench-search bench-session bench-ingest

run: $(VENV)/.installed
	@exec $(BIN)/python -m config.embedded run

restart: $(VENV)/.installed
	@exec $(BIN)/python -m config.embedded restart

doctor: $(VENV)/.installed
	@exec $(BIN)/python -m config.embedded manage doctor

# The reader of names for the night, an extra: its library, and its model as files by hash.
ner: $(VENV)/.installed requirements-ner.lock
	@$(call install_lock,requirements-ner.lock)
	@exec $(BIN)/python -m memory.providers.weights --names \
	  --into "$${CAIRN_MODELS:-$${CAIRN_HOME:-var}/models}"

# Traces by OpenTelemetry, an extra: its libraries. Variables of OTEL_ say where to.
traces: $(VENV)/.installed requirements-traces.lock
	@$(call install_lock,requirements-traces.lock)

test: $(VENV)/.installed-dev
	@$(install_programs)
	@exec $(BIN)/pytest -q -p no:valkey $(SHARED)

# One figure, measured at full length: make goal-G1
goal-%: $(VENV)/.installed-dev
	@CAIRN_SCALE=long $(BIN)/pytest -q -p no:valkey --timeout 5400 -m "goal(name='$*')"

# What is found by reading alone.
lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt $(TEMPLATE_STYLE) --check $(TEMPLATES)
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/lint-imports

check: lint
	$(BIN)/pytest -q -p no:valkey -n 2 --dist loadfile tests/architecture tests/unit

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djangofmt $(TEMPLATE_STYLE) $(TEMPLATES)
	$(BIN)/css-beautify -r -n -s 2 $(STATIC)/*.css
	$(BIN)/js-beautify -r -n -s 2 -w 100 $(STATIC)/*.js

lock: $(VENV)/.installed-dev
	$(BIN)/uv pip compile $(LOCK_OPTIONS) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCK_OPTIONS) --extra dev pyproject.toml -o requirements-dev.lock
	$(BIN)/uv pip compile $(LOCK_OPTIONS) --extra ner --constraint requirements-dev.lock pyproject.toml -o requirements-ner.lock
	$(BIN)/uv pip compile $(LOCK_OPTIONS) --extra traces --constraint requirements-dev.lock pyproject.toml -o requirements-traces.lock

bench: $(VENV)/.installed-dev
	@exec $(BIN)/python -m tests.bench

# Search at these sizes: make bench-search SIZES="1000 10000 100000 1000000"
bench-search: $(VENV)/.installed-dev
	@exec $(BIN)/python -m tests.bench.bench_search $(SIZES)

# What a session costs while it runs and when it ends, as shares of the goals
bench-session: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.bench.bench_events
	@exec $(BIN)/python -m tests.bench.bench_points

bench-ingest: $(VENV)/.installed-dev
	@exec $(BIN)/python -m tests.bench.bench_ingest

$(VENV)/.installed: requirements.lock | $(BIN)/pip
	@$(call install_lock,requirements.lock)
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock requirements.lock | $(BIN)/pip
	@$(call install_lock,requirements-dev.lock)
	@touch $(VENV)/.installed $@

$(BIN)/pip:
	@command -v $(PYTHON) > /dev/null \
	  || { echo "Cairn needs Python 3.11 or newer; $(PYTHON) was not found." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Cairn needs Python 3.11 or newer: make PYTHON=python3.12 run" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	       && apt-get update -qq && apt-get install -y -qq python3-venv > /dev/null; } \
	  || { echo "This Python cannot make environments; as root: apt-get install python3-venv" >&2; \
	       exit 1; }
	@echo "… making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
