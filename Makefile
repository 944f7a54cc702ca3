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
# The major version of LLVM that `make pass` builds for: that of clang, and of rustc where `cargo caudal` is used.
LLVM ?= 22
# The grids of `make test-long`: `sample` for one cell of nine.
GRIDS ?= whole
# Pages whose programs are built in release first, which takes minutes: `sample` leaves them out.
PAGES_THAT_BUILD = --skip guides::first_service --skip guides::instrument_your_code --skip guides::watch_a_runtime

.PHONY: help build deps deps-of-tests pass demo test test-long test-pass test-strangers bench-pass soak stress sanitize lint deny bench bench-peers bench-rt bench-rt-pass bench-rt-scan fidelity measure-tiny-quanta fuzz measure-services test-services install install-command install-c install-pass header reproduce docs site clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

build: ## build the `caudal` command
	@$(CARGO) build --release --locked -p caudal

deps: ## install what the probe pass and its compilers need on Debian and Ubuntu: clang, lld, LLVM, CMake, Ninja
	@scripts/need clang-$(LLVM) clang-$(LLVM)
	@scripts/need ld.lld-$(LLVM) lld-$(LLVM)
	@[ -f "$$(llvm-config-$(LLVM) --cmakedir 2>/dev/null)/LLVMConfig.cmake" ] || scripts/need LLVMConfig.cmake llvm-$(LLVM)-dev
	@scripts/need cmake cmake
	@scripts/need ninja ninja-build
	@scripts/need g++ g++

pass: deps ## build the probe pass, and the compilers that use it: caudal, caudal-cc, cargo-caudal
	@$(CARGO) build --release --locked -p caudal -p caudal-driver -p cargo-caudal
	@ln -sf caudal-cc $(TARGET_DIR)/release/caudal-c++
	@scripts/pass $(LLVM)

demo: build ## plan for measured RocksDB service times: which system carries how much load?
	@# An answer of another build is not this one's.
	@if [ $(CAUDAL) -nt $(DEMO_OUT)/meta.json ]; then \
		rm -f $(DEMO_OUT)/{meta,plan,report}.json $(DEMO_OUT)/{progress,rows}.jsonl; fi
	$(CAUDAL) plan --workload data/rocksdb-get-scan.csv --target 'get p99.9 < 50us' --cores 16 \
		--out $(DEMO_OUT) --policy policy.toml
	@echo "The policy is in policy.toml"

test: ## run the tests, ten minutes on two cores (installs what they need: `make deps`, Chromium, pkg-config, ccache, memcached, libomp, libgc), and say how long each part took
	@scripts/part begin 'make test'
	@scripts/part run 'tools that are installed' $(MAKE) --no-print-directory deps-of-tests
	@scripts/part run 'the probe pass' scripts/pass $(LLVM) >/dev/null
	@scripts/part run 'tests, built' $(CARGO) test --workspace --locked --no-run
	@scripts/part run 'tests, run' $(CARGO) test --workspace --locked --no-fail-fast
	@scripts/part run 'tests of the runtime with a yield at every probe' scripts/every-probe
	@scripts/part run 'models of the runtime, in every order' scripts/loom
	@LLVM=$(LLVM) scripts/part run 'tests of the probe pass' scripts/test-pass --sample
	@scripts/part end

test-long: ## what `make test` leaves out; ten minutes on two cores
	@scripts/part begin 'make test-long'
	@scripts/part run 'tools that are installed' $(MAKE) --no-print-directory deps-of-tests
	@scripts/part run 'tests, built' $(CARGO) test --workspace --locked --no-run
	@CAUDAL_GRIDS=$(GRIDS) scripts/part run 'long tests' $(CARGO) test --workspace --locked --no-fail-fast --tests -- --ignored \
		$(if $(filter sample,$(GRIDS)),$(PAGES_THAT_BUILD))
	@scripts/part run 'long models of the runtime' scripts/loom --long
	@LLVM=$(LLVM) scripts/part run 'the probe pass at all levels; libraries and random programs' scripts/test-pass
	@scripts/part run 'fuzzing' scripts/fuzz --seconds 10
	@scripts/part end

deps-of-tests: deps
	@scripts/need chromium chromium
	@scripts/need ccache ccache
	@scripts/need memcached memcached
	@scripts/need pkg-config pkg-config
	@[ -f /usr/lib/llvm-$(LLVM)/lib/libomp.so ] || scripts/need libomp.so libomp-$(LLVM)-dev
	@[ -f /usr/include/gc/gc.h ] || scripts/need gc.h libgc-dev

test-pass: deps ## the tests of the probe pass alone: small functions, programs, SQLite and others, random programs (installs csmith)
	@LLVM=$(LLVM) scripts/test-pass $(TEST_PASS)

test-strangers: deps ## libraries of others, from Debian and the crate registry, by their own tests, with probes and without; an hour and more
	@$(CARGO) build --release --locked -p caudal-driver -p cargo-caudal
	@ln -sf caudal-cc $(TARGET_DIR)/release/caudal-c++
	@scripts/pass $(LLVM) >/dev/null
	@scripts/need make make
	@scripts/need dpkg-source dpkg-dev
	@pass/third-party/strangers --drivers $(TARGET_DIR)/release --work $(TARGET_DIR)/strangers $(STRANGERS)

soak: ## all tests but the long ones on other random cases, again and again for half an hour
	@scripts/soak --minutes 30

stress: ## a million requests that do everything at random, each of which has to end once, for three seeds
	@scripts/stress $(STRESS)

sanitize: ## the runtime's tests under AddressSanitizer and ThreadSanitizer; takes a nightly toolchain with rust-src
	@scripts/sanitize $(SANITIZE)

lint: ## formatting, clippy and rustdoc, circles of modules, openings of doc comments, links of pages, crates that run anywhere; warnings are errors
	@scripts/part begin 'make lint'
	@scripts/part run 'formatting' $(CARGO) fmt --all --check
	@scripts/part run 'clippy' $(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" scripts/part run 'rustdoc' \
		$(CARGO) doc --workspace --no-deps --locked --document-private-items
	@scripts/part run 'circles and floors of modules, doc comments, links, uses of the host' $(CARGO) run -q --locked -p caudal-lint
	@scripts/part run 'dependencies of the runtime' scripts/runtime-needs
	@scripts/part run 'crates that run anywhere' scripts/portable
	@scripts/part end

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

bench-rt-pass: ## requests in C and Rust that nobody has edited, beside hand-placed probes; some minutes on an idle machine
	@LLVM=$(LLVM) scripts/bench-rt-pass $(BENCH_RT_PASS)

bench-rt-scan: ## gets beside long scans on LevelDB, with probes and without, as requests of the runtime; some minutes on an idle machine
	@LLVM=$(LLVM) scripts/bench-rt-scan $(BENCH_RT_SCAN)

bench-pass: deps ## what probes cost, and how exactly they end a quantum, program by program; two hours on an idle machine
	@scripts/need valgrind valgrind
	@run="pass/bench/run --plugin $$(scripts/pass $(LLVM)) --probe crates/caudal-probe --out $(TARGET_DIR)/bench-pass \
		--kept $(TARGET_DIR)/third-party"; \
	$$run --callgrind $(BENCH_PASS) && $$run $(BENCH_PASS)

fidelity: ## the simulator with this machine's costs and stalls against measured runs of the runtime
	@$(CARGO) build --release --locked -p caudal-rt-bench
	@$(TARGET_DIR)/release/caudal-rt-bench fidelity $(FIDELITY)

measure-tiny-quanta: ## Tiny Quanta's Figures 5 to 12 on one worker, for the reproduction: 20 minutes on an idle machine
	@$(CARGO) build --release --locked -p caudal-rt-bench
	@$(TARGET_DIR)/release/caudal-rt-bench tiny-quanta --out data/tiny-quanta-measured.json $(TINY_QUANTA)

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

site: ## the pages as a site with search, in target/site (installs mdbook)
	@command -v mdbook >/dev/null || $(CARGO) install mdbook --locked --quiet
	@scripts/site

header: ## caudal/caudal.h, from the sources of caudal-capi
	@CAUDAL_WRITE_HEADER=1 $(CARGO) test --locked -q -p caudal-capi --test all header

# The command is installed first, so that it is there even if LLVM can not be installed.
install: install-command install-c install-pass ## install `caudal`, libcaudal for C and C++, and the compilers with the probe pass, under PREFIX

install-command: build ## install the `caudal` command alone; it needs no LLVM
	install -D -m 755 $(CAUDAL) $(PREFIX)/bin/caudal
	@echo "installed $(PREFIX)/bin/caudal"

install-pass: pass install-c ## install the compilers with the probe pass alone
	install -D -m 755 $(TARGET_DIR)/release/caudal-cc $(PREFIX)/bin/caudal-cc
	ln -sf caudal-cc $(PREFIX)/bin/caudal-c++
	install -D -m 755 $(TARGET_DIR)/release/cargo-caudal $(PREFIX)/bin/cargo-caudal
	install -D -m 755 $(TARGET_DIR)/pass-$(LLVM)/libcaudal-pass-$(LLVM).so $(PREFIX)/lib/caudal/libcaudal-pass-$(LLVM).so
	install -D -m 644 crates/caudal-driver/packaging/toolchain.cmake $(PREFIX)/lib/cmake/Caudal/toolchain.cmake
	install -D -m 644 -t $(PREFIX)/share/caudal/lists pass/lists/*.txt

install-c: ## install libcaudal alone: headers, libraries, pkg-config and CMake files
	@$(CARGO) build --release --locked -p caudal-capi
	$(TARGET_DIR)/release/caudal-capi-install $(PREFIX)

clean: ## remove what was built
	$(CARGO) clean
