# `make demo` and `make test` need nothing but Python 3.11 or newer: they make .venv themselves.
PYTHON ?= python3
BIN := .venv/bin
REGARD := $(BIN)/regard
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help install demo test bench lint types format clean

help:
	@echo "make demo     set up, train the date model, score it, draw what it looked at"
	@echo "make test     set up, then lint, types and all tests (what CI runs)"
	@echo "make bench    Regard and its peers in one run (docs/speed.md)"
	@echo "make install  the set-up alone"
	@echo "Tests of pages use Chromium (Debian: apt-get install chromium) and are skipped where there is none."

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@echo "Setting up .venv (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP_INSTALL) torch
	$(PIP_INSTALL) --editable ".[track,pronounce,serve,sweep,vision]"
	@touch $@

.venv/installed-dev: .venv/installed
	@echo "Adding the development tools ..."
	$(PIP_INSTALL) --editable ".[track,pronounce,serve,sweep,vision,fast,onnx,ray,dev]"
	@touch $@

demo: install
	$(REGARD) train dates
	$(REGARD) evaluate runs/dates --examples 8
	$(REGARD) explain runs/dates "Saturday 09 May 2018" -o runs/dates/attention.png
	$(REGARD) explain runs/dates "Saturday 09 May 2018" -o runs/dates/attention.html
	@echo
	@echo "What it looked at: runs/dates/attention.png, and attention.html to play with in a browser."
	@echo "How training went: runs/dates/curves.png and runs/dates/samples/. Type next:"
	@echo "  source .venv/bin/activate"
	@echo "  regard explain runs/dates \"3 août 1999\""
	@echo "  echo \"sexta-feira, 2 de março de 1973\" | regard predict runs/dates"
	@echo "  regard serve runs/dates                 # and open the address that it tells"
	@echo "  regard compare ladder --processes 2     # the road to attention, in one table and one page"
	@echo "  regard --help"

test: .venv/installed-dev lint types
	$(BIN)/pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder

bench: .venv/installed-dev
	$(BIN)/python benchmarks/peers $(BENCH)

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
