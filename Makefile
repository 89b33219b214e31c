# Two commands: `make run` serves the demo, `make test` runs the tests. Each makes .venv first.
# `make test-pooler` runs what goes through the app again, with PgBouncer between the app and its database.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
PYTEST_ARGS ?= -m "not slow"
POOLER_TESTS := tests/block tests/http tests/prompt tests/sign_in

.PHONY: run test test-pooler check lock clean

run: $(READY)
	@KEEPLINE_DEMO=$${KEEPLINE_DEMO:-1} exec $(BIN)/keepline run

test: $(READY)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-pooler: $(READY)
	$(BIN)/python -m pytest --pooler $(POOLER_TESTS) $(PYTEST_ARGS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Keepline needs Python 3.11 or newer; set PYTHON=python3.x")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Pins every dependency with hashes, for every Python and platform; the file names no package index.
lock:
	$(PYTHON) -m pip install --quiet uv
	$(PYTHON) -m uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade --output-file requirements.lock

clean:
	rm -rf $(VENV) build *.egg-info
