# Handover's commands. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help run cluster database test soak chaos check format bench bench-gate bench-worker bench-log bench-history bench-relay bench-drain bench-rescue bench-burst bench-cutover lock install dev browser brokers wrk named

export PYTHONUTF8 := 1
PY := .venv/bin/python
TESTS ?= tests
# More than two cores: a third of the tests wait for other processes and for the clock most of their time.
WORKERS ?= 3
# Settings as on a bare production machine: nothing from .env, a key nobody knows.
ALONE = ENV_FILE=/dev/null DEBUG=false SECRET_KEY=$$(od -An -N40 -tx1 /dev/urandom | tr -d ' \n')

help: ## Show this list
	@echo "Handover takes in exams at a deadline and keeps the marks that come of them."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  PORT=8000  HOST=127.0.0.1  HANDOVER_DATA=.data  DATABASE_URL=…   choose where (docs/operations.md)"

run: install ## Start everything on this machine; Ctrl-C stops it
	@$(PY) -m config

cluster: install ## The same on a primary and two standbys, acknowledging by quorum
	@$(PY) -m config cluster

database: install ## Run the embedded database alone, to load a backup into it; Ctrl-C stops it
	@$(PY) -m config database

test: named dev browser brokers ## Run all tests, on a database of their own (TESTS=tests/exams for a part)
	@$(PY) -m pytest $(TESTS) -n $(WORKERS) --dist loadgroup

soak: dev ## Run the long random runs: writers, rollbacks and kills against the log, and more random examples (some minutes)
	@$(PY) -m pytest tests/processes -m soak -s
	@HYPOTHESIS_PROFILE=long $(PY) -m pytest tests/properties tests/contracts tests/cutover/test_properties.py -q

chaos: dev brokers ## Run the promises under load and kills at their full figures (an hour, on a quiet machine)
	@# Figures are those of a disk; all other tests run in memory.
	@HANDOVER_TESTS_IN=$${TMPDIR:-/tmp} $(PY) -m pytest tests -m chaos -s

check: dev ## Look at the code: ruff, mypy, import directions, missing migrations, deployment settings
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo
	@# The warning left out says that no database was asked for its history: none is needed here.
	$(ALONE) $(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(ALONE) $(PY) manage.py check --deploy --fail-level WARNING

format: dev ## Write the code the way `make check` wants it
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: dev brokers wrk ## Measure everything (most of an hour, on a quiet machine)
	@$(PY) -m tests.benchmarks

bench-gate bench-worker bench-log bench-history bench-relay bench-drain bench-rescue: bench-%: dev
	@$(PY) -m tests.benchmarks.$*

bench-burst: dev brokers wrk ## Measure what a deadline does: burst, quorum, overload, refusal, relay, drain, rescue
	@$(PY) -m tests.benchmarks burst quorum overload refusal relay drain rescue

bench-cutover: dev ## Measure the way out of the old copies, edits beside audit libraries, replays, totals and report cards
	@$(PY) -m tests.benchmarks cutover edits replay reports

bench-gate: wrk ## Measure acknowledgements against pgbench in the same run
bench-worker: ## Measure grading and claiming
bench-log: ## Measure the sequencer
bench-history: ## Measure rebuild and history drawer
bench-drain: brokers ## Measure draining against four other queues, in an environment of their own
bench-rescue: brokers ## Measure what becomes of a killed worker's jobs, here and with those queues
bench-relay: brokers ## Measure the relay against kombu on a RabbitMQ of its own

lock: dev ## Lock the newest allowed packages again (requirements/*.in → *.txt)
	@for kind in base s3 dev; do \
		.venv/bin/uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --universal --python-version 3.11 \
			requirements/$$kind.in -o requirements/$$kind.txt; done

named: # Before anything is installed or started for them: are they there?
	@for test in $(foreach test,$(TESTS),"$(firstword $(subst ::, ,$(test)))"); do \
		case "$$test" in -*) break;; *\]) ;; *) [ -e "$$test" ] || { \
			echo "There is no $$test. TESTS names files or folders below tests, and what is in them: tests/config/test_keys.py::NAME" >&2; \
			exit 2; };; esac; done

install:
	@sh requirements/install.sh base

dev:
	@sh requirements/install.sh dev

browser:
	@sh tests/install_browser.sh

brokers:
	@sh tests/install_brokers.sh

wrk:
	@sh tests/install_wrk.sh
