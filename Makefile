# Everything is set up inside this folder (uv in .tools, the program in .venv) by the first target
# that needs it; see packaging/bootstrap.py. A second `make` starts at once.

PYTHON ?= python3
BIN := .venv/bin
BOOTSTRAP := $(PYTHON) packaging/bootstrap.py
VENV := .venv/.ready
QT_OFFSCREEN := .tools/.qt-offscreen
QT_WINDOW := .tools/.qt-window
SCREEN := .tools/.screen
LAB := .tools/.lab
PACKAGE := .tools/.package
WINDOWS := .tools/.windows
PEERS := .tools/.peers .tools/.nginx
# One of tests/bench: peers, replies, agent, agreement, bundle, charts, confinement, cost, limit, mayhem, search,
# locust_master, sessions, ssh, startup, tools, websocket, zeromq, zeromq_receiver.
BENCH ?= peers

# Tests of which `make test` runs a sample.
VERIFY := $(shell grep -lE "^from (tests\.)?chosen import" -r tests --include=test_*.py) tests/verify

# Tests that run after the others, one by one: of `make test`, and of `make test-lab`.
ALONE := $(shell grep -lE "mark\.alone" -r tests --include=test_*.py)
ALONE_IN_THE_LAB := $(filter tests/lab/%,$(ALONE))

# The Python that is here is used; none is downloaded.
export UV_PYTHON_DOWNLOADS = never
# Like pip and apt, uv trusts the certificates the machine trusts.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= 1
endif

.PHONY: agent-lock help demo run package package-windows test test-lab verify fuzz soak bench screenshots pictures catalogue-check catalogue-record catalogue-sweep check format docs facts clean

help:
	@echo "make demo    sweep seven servers on this machine: out/demo.yaml, out/demo.png (4 minutes)"
	@echo "make run     the program"
	@echo "make test    lint, types and all tests"
	@echo "make verify  everything of which the tests run a sample (an hour)"
	@echo "make test-lab  machines over SSH, on separate hosts (root; otherwise it lists what is skipped)"
	@echo "make fuzz    damaged files with new seeds, until Ctrl-C"
	@echo "make soak    500 short runs in one process, or 12 hours of them, to find leaks"
	@echo "make bench   cost of the load agent, compared with ab, httperf and wrk (BENCH=tools: every load tool)"
	@echo "make screenshots  every page, dark and light, in out/screenshots"
	@echo "make pictures  those of the README, of the last two sessions of make demo"
	@echo "make package an installer and a wheel in dist/, tested on bare machines (Linux, as root)"
	@echo "make package-windows  the installer for Windows, built and used with Wine (root, 6 GB, 15 minutes)"
	@echo "make catalogue-check  every server deployed and tested (fetches missing programs)"
	@echo "make catalogue-record  each alone and started twice; results into the entries"
	@echo "make catalogue-sweep  every server under load for two seconds (about 20 minutes)"
	@echo "make check   lint and types only"
	@echo "make format  format the sources"
	@echo "make docs    update the tables of docs/plans.md, docs/sources.md and docs/servers.md"
	@echo "make facts   compare the quoted figures of the published benchmarks with their texts"
	@echo "make clean   remove everything that was set up, but keep out/"

demo: export LANG = C.UTF-8
demo: export QT_QPA_PLATFORM = offscreen
demo: $(VENV) $(QT_OFFSCREEN)
	@mkdir -p out
	@# Sessions belong to the user: an older one is kept under the time it was made.
	@! test -e out/demo.yaml || { age=$$(date -r out/demo.yaml +%Y%m%d-%H%M%S); \
	  for kind in yaml png; do \
	    ! test -e out/demo.$$kind || mv out/demo.$$kind out/demo-$$age.$$kind; \
	  done; }
	@$(BIN)/pongbench run demo --brief -o out/demo.yaml
	@$(BIN)/pongbench report out/demo.yaml -o out/demo.png
	@echo "Every point: $(BIN)/pongbench summary out/demo.yaml"

run: $(VENV) $(QT_WINDOW)
	$(BIN)/pongbench

test: export LANG = C.UTF-8
test: export QT_QPA_PLATFORM = offscreen
test: check $(QT_OFFSCREEN) $(SCREEN)
ifdef ARGS
	$(BIN)/pytest $(ARGS)
else
	status=0; \
	  $(BIN)/python -m tests.again -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations=40 -m "not alone" || status=$$?; \
	  $(BIN)/python -m tests.again --durations=15 -m alone $(filter-out $(ALONE_IN_THE_LAB),$(ALONE)) || status=$$?; \
	  exit $$status
endif

verify: export LANG = C.UTF-8
verify: export QT_QPA_PLATFORM = offscreen
verify: export PONGBENCH_VERIFY = 1
verify: $(VENV) $(QT_OFFSCREEN) $(LAB)
	$(BIN)/pytest $(VERIFY) $(ARGS)

test-lab: export LANG = C.UTF-8
test-lab: $(VENV) $(LAB)
ifdef ARGS
	$(BIN)/python -m tests.again tests/lab $(ARGS)
else
	status=0; \
	  $(BIN)/python -m tests.again tests/lab -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations=20 -m "not alone" || status=$$?; \
	  $(BIN)/python -m tests.again --durations=10 -m alone $(ALONE_IN_THE_LAB) || status=$$?; \
	  exit $$status
endif

fuzz: export LANG = C.UTF-8
fuzz: export QT_QPA_PLATFORM = offscreen
fuzz: $(VENV) $(QT_OFFSCREEN)
	$(BIN)/python -m tests.hostile.fuzz $(ARGS)

soak: export LANG = C.UTF-8
soak: $(VENV)
	$(BIN)/python -m tests.soak $(ARGS)

bench: export LANG = C.UTF-8
bench: export QT_QPA_PLATFORM = offscreen
bench: export PATH := $(PATH):$(CURDIR)/.tools/nginx/usr/sbin
bench: $(VENV) $(PEERS) $(QT_OFFSCREEN)
	$(BIN)/python tests/bench/$(BENCH).py $(ARGS)

screenshots: export LANG = C.UTF-8
screenshots: export QT_QPA_PLATFORM = offscreen
screenshots: $(VENV) $(QT_OFFSCREEN)
	$(BIN)/python tests/screenshots.py $(ARGS)

pictures: $(VENV)
	$(MAKE) screenshots ARGS=readme

package: $(VENV) $(QT_WINDOW) $(LAB) $(PACKAGE)
	UV_PROJECT_ENVIRONMENT=.tools/package .tools/uv/bin/uv sync --quiet --frozen --no-dev --group package --python $(BIN)/python \
	  --reinstall-package pongbench
	.tools/package/bin/python packaging/build.py
	.tools/package/bin/python packaging/smoke.py
	$(BIN)/pytest tests/lab/installed.py
	@# In an environment of its own, with what the package index has today.
	QT_QPA_PLATFORM=offscreen .tools/uv/bin/uv tool run --isolated --python $(BIN)/python --from dist/pongbench-*.whl pongbench --selftest

# In a chroot, from what the package index, Maven and Debian have; see packaging/windows/on-linux.sh.
package-windows: $(VENV) $(WINDOWS)
	bash packaging/windows/on-linux.sh

# Says yes to fetching packages of the distribution, which are unpacked in the user's cache.
catalogue-check: $(VENV)
	$(BIN)/pongbench catalogue check --install $(ARGS)

catalogue-record: $(VENV)
	$(BIN)/python -m tests.seen_servers $(ARGS)

check: $(VENV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/pytest -q tests/unit/test_source_rules.py

# Reports servers that died, leaked or hung; does not look for limits.
catalogue-sweep: $(VENV)
	$(BIN)/pongbench run tests/bench/sweeps/pong.yaml --family socket --install
	$(BIN)/pongbench run tests/bench/sweeps/http-1.0.yaml --family wsgi --family hello --install
	$(BIN)/pongbench run tests/bench/sweeps/http-1.1.yaml --family wsgi --family hello --install
	$(BIN)/pongbench run tests/bench/sweeps/macro.yaml --family macro --install
	$(BIN)/pongbench run tests/bench/sweeps/websocket.yaml --family websocket --install
	$(BIN)/pongbench run tests/bench/sweeps/zeromq.yaml --family message --install

# After `uv lock --upgrade`: the agent's packages follow.
agent-lock: $(VENV)
	$(BIN)/python packaging/agent_lock.py

# Tables of docs/plans.md, docs/sources.md and docs/servers.md, from what workloads, sources and
# entries declare. The last is measured anew by `make catalogue-record`.
docs: $(VENV)
	$(BIN)/python -m tests.doc_tables

# Every figure, date and cell that docs, presets and catalogue quote; see tests/cases/sources.yaml.
facts: $(VENV)
	$(BIN)/python -m tests.source_facts $(TEXTS)
	$(BIN)/pytest -q tests/unit/test_source_facts.py

format: $(VENV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

$(VENV): packaging/bootstrap.py pyproject.toml uv.lock
	@$(BOOTSTRAP) venv
	@touch $@

# Tests on a screen, or with hosts, are skipped where these cannot be had; they say so.
$(SCREEN) $(LAB): .tools/.%: packaging/bootstrap.py
	@mkdir -p $(@D)
	@$(BOOTSTRAP) $* && touch $@ || true

$(QT_OFFSCREEN) $(QT_WINDOW) $(PACKAGE) $(WINDOWS) $(PEERS): .tools/.%: packaging/bootstrap.py
	@$(BOOTSTRAP) $*
	@mkdir -p $(@D)
	@touch $@
