# Everything is set up inside this folder (uv in .tools, the program in .venv) by the first target
# that needs it; see packaging/bootstrap.py. A second `make` starts at once.

PYTHON ?= python3
BIN := .venv/bin
BOOTSTRAP := $(PYTHON) packaging/bootstrap.py
VENV := .venv/.ready
QT_OFFSCREEN := .tools/.qt-offscreen
QT_WINDOW := .tools/.qt-window
PEERS := .tools/.peers .tools/.nginx
# One of tests/bench: peers, agent, charts, sessions.
BENCH ?= peers

# The Python that is here is used; none is downloaded.
export UV_PYTHON_DOWNLOADS = never
# Like pip and apt, uv trusts the certificates the machine trusts.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS ?= 1
endif

.PHONY: help demo run test bench check format clean

help:
	@echo "make demo    sweep seven servers on this machine: out/demo.yaml, out/demo.png (4 minutes)"
	@echo "make run     the program"
	@echo "make test    lint, types and all tests"
	@echo "make bench   what the load agent costs, beside ab, httperf and wrk"
	@echo "make check   lint and types only"
	@echo "make format  put the sources in shape"
	@echo "make clean   remove what was set up; out/ stays"

demo: export LANG = C.UTF-8
demo: export QT_QPA_PLATFORM = offscreen
demo: $(VENV) $(QT_OFFSCREEN)
	@mkdir -p out
	@# Sessions belong to the user: an older one is kept under the time it was made.
	@! test -e out/demo.yaml || { age=$$(date -r out/demo.yaml +%Y%m%d-%H%M%S); \
	  for kind in yaml png; do \
	    ! test -e out/demo.$$kind || mv out/demo.$$kind out/demo-$$age.$$kind; \
	  done; }
	$(BIN)/pongbench run demo -o out/demo.yaml
	$(BIN)/pongbench report out/demo.yaml -o out/demo.png
	$(BIN)/pongbench summary out/demo.yaml

run: $(VENV) $(QT_WINDOW)
	$(BIN)/pongbench

test: export LANG = C.UTF-8
test: export QT_QPA_PLATFORM = offscreen
test: check $(QT_OFFSCREEN)
	$(BIN)/pytest $(ARGS)

bench: export LANG = C.UTF-8
bench: export QT_QPA_PLATFORM = offscreen
bench: export PATH := $(PATH):$(CURDIR)/.tools/nginx/usr/sbin
bench: $(VENV) $(PEERS) $(QT_OFFSCREEN)
	$(BIN)/python tests/bench/$(BENCH).py $(ARGS)

check: $(VENV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

$(VENV): packaging/bootstrap.py pyproject.toml uv.lock
	@$(BOOTSTRAP) venv
	@touch $@

$(QT_OFFSCREEN) $(QT_WINDOW) $(PEERS): .tools/.%: packaging/bootstrap.py
	@$(BOOTSTRAP) $*
	@mkdir -p $(@D)
	@touch $@
