# The commands of the README. `make help` lists them.
#
# Everything that a target needs beyond cargo and a C compiler is installed by itself, quietly when it is
# there already: Debian and Ubuntu packages by apt-get (as root or with sudo), cargo tools by cargo.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
PREFIX ?= $(HOME)/.local
DEMO_OUT ?= caudal-results/demo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
CAUDAL = $(TARGET_DIR)/release/caudal

.PHONY: help build demo test soak stress sanitize lint deny bench bench-peers bench-rt fidelity fuzz measure-services test-services install install-c header reproduce docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

build: ## build the `caudal` command
	@$(CARGO) build --release --locked -p caudal

demo: build ## plan for measured RocksDB service times: which system carries how much load?
	@# An answer of another build is not this one's.
	@if [ $(CAUDAL) -nt $(DEMO_OUT)/meta.json ]; then \
		rm -f $(DEMO_OUT)/{meta,plan,report}.json $(DEMO_OUT)/{progress,rows}.jsonl; fi
	$(CAUDAL) plan --workload data/rocksdb-get-scan.csv --target 'get p99.9 < 50us' --cores 16 \
		--out $(DEMO_OUT) --policy policy.toml
	@echo
	@echo "The policy is in policy.toml, the report in $(DEMO_OUT)/report.html"

test: ## run all tests (installs what they need: Chromium, CMake, pkg-config, g++, clang)
	@scripts/need chromium chromium
	@scripts/need g++ g++
	@command -v clang-22 >/dev/null || scripts/need clang clang
	@scripts/need cmake cmake
	@scripts/need pkg-config pkg-config
	$(CARGO) test --workspace --locked
	@scripts/loom
	@scripts/every-probe
	@scripts/fuzz --seconds 10

soak: ## all tests on other random cases, again and again for half an hour
	@scripts/soak --minutes 30

stress: ## a million requests that do everything at random, each of which has to end once, for three seeds
	@scripts/stress $(STRESS)

sanitize: ## the runtime's tests under AddressSanitizer and ThreadSanitizer; takes a nightly toolchain with rust-src
	@scripts/sanitize $(SANITIZE)

lint: ## formatting, clippy and rustdoc; warnings are errors
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" $(CARGO) doc --workspace --no-deps --locked --document-private-items

deny: ## licences and sources of dependencies
	@command -v cargo-deny >/dev/null || $(CARGO) install cargo-deny --locked --quiet
	$(CARGO) deny --offline check licenses bans sources

bench: ## speed and memory of the simulator, beside the limits; pinned to one core
	@$(CARGO) build --release --locked -p caudal-bench
	@scripts/bench

bench-peers: ## the same queue on SSJ, cimba, nexosim and SimPy
	@$(CARGO) build --release --locked -p caudal-bench
	@CAUDAL_BENCH="$(TARGET_DIR)/release/caudal-bench peer" benches/peers/run

bench-rt: ## the runtime: its parts, its dispatcher, and what one would pick instead; some minutes on an idle machine
	@scripts/bench-rt

fidelity: ## the simulator with this machine's costs and stalls against measured runs of the runtime
	@$(CARGO) build --release --locked -p caudal-rt-bench
	@$(TARGET_DIR)/release/caudal-rt-bench fidelity $(FIDELITY)

fuzz: ## fuzz the parsers for ten minutes each
	@scripts/fuzz --seconds 600

measure-services: ## measure the services of data/ anew, on this machine: half an hour
	$(CARGO) run --release --locked --manifest-path services/measure/Cargo.toml -- all --out data
	$(CARGO) run --release --locked --manifest-path services/measure/Cargo.toml -- black-scholes --requests 20000 \
		--warm-up 100 --runs 2 --out data

test-services: ## test the programs that measure-services runs
	$(CARGO) test --locked -p black-scholes
	$(CARGO) test --locked --manifest-path services/measure/Cargo.toml

reproduce: build ## every figure of the papers, and docs/reproduction.md
	$(CAUDAL) reproduce all --docs

docs: build ## the generated reference pages
	@$(CARGO) run --release --locked -q -p caudal-docs

header: ## caudal/caudal.h, from the sources of caudal-capi
	@CAUDAL_WRITE_HEADER=1 $(CARGO) test --locked -q -p caudal-capi --test header

install: build install-c ## install `caudal`, and libcaudal for C and C++, under PREFIX
	install -D -m 755 $(CAUDAL) $(PREFIX)/bin/caudal
	@echo "installed $(PREFIX)/bin/caudal"

install-c: ## install libcaudal alone: headers, libraries, pkg-config and CMake files
	@$(CARGO) build --release --locked -p caudal-capi
	$(TARGET_DIR)/release/caudal-capi-install $(PREFIX)

clean: ## remove what was built
	$(CARGO) clean
