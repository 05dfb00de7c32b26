# Tasks that need more than cargo. `.ci/run` uses the same targets. Each installs the packages that it needs.

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(sort $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs))))
# The targets mcp and snapshot need the server.
FUZZ_FEATURES := $(if $(filter mcp snapshot,$(FUZZ_TARGETS)),--features server)
# What cargo-fuzz would set, so that the stable compiler is enough: which branches an input took, and what it compared.
FUZZ_HOST := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-,level=4 inline-8bit-counters pc-table trace-compares)
FUZZ_DIR = $(or $(CARGO_TARGET_DIR),target)/fuzz
# The folder with the source files for benches/plans.
SOURCES ?= ../shared/corpora

# How often the server is killed under load of programs, agents and pages; the tests do it 12 times.
KILLS ?= 1000

# How often each command on snapshots is killed; the tests do it 12 times.
SNAPSHOT_KILLS ?= 100

# How many random histories of payments are compared with the model; the tests compare 250.
PAYMENTS ?= 10000

# How many power cuts of the state file are tried; the tests try 20,000.
CUTS ?= 100000

# How many sequences of operations the model compares on PostgreSQL; on the file it compares 10,000.
POSTGRES_SEQUENCES ?= 40
# How long three servers work on one database while they are broken.
POSTGRES_SECONDS ?= 60
# How long everything around three servers, two databases and haproxy is broken; below 120 seconds, each kind once.
MINUTES ?= 30
BOXES_SECONDS ?= $(shell expr $(MINUTES) '*' 60)

# The database of known faults that 'make advisories' reads.
ADVISORY_DB ?= https://github.com/RustSec/advisory-db

# What 'make dist' makes programs for.
DIST_TARGETS ?= x86_64-unknown-linux-musl aarch64-unknown-linux-musl
DIST_TOOLS = target/dist-tools

# How many slow clients of each kind connect; the tests use 500.
SLOW_CLIENTS ?= 9000

# The program that 'make conformance', 'make browser' and 'make lighthouse' check; if empty, it is built.
HORNBOOK ?=

# $(call install,PROGRAM[:PACKAGE] ...) installs the Debian packages whose programs are missing, and no other: another
# package may hold the program already. A package without a name is called like its program.
install = PATH=$$PATH:/usr/sbin; packages=; for pair in $(1); do command -v $${pair%%:*} > /dev/null || packages="$$packages $${pair\#\#*:}"; done; \
	[ -z "$$packages" ] || tests/install-packages $$packages
# PostgreSQL's own programs are on no path.
install-postgresql = [ -n "$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null)" ] || { $(call install,initdb:postgresql); }

.PHONY: help fuzz deny advisories minisign attack small-box kills snapshot-kills power-cuts lease-runs bench-leases postgres deploy-check many-boxes dist first-steps arm64-kernels payments slow-clients smuggling unit-score documents known-words naics model no-encoder quality words conformance browser lighthouse bench-corpus

help:
	@echo 'make fuzz          fuzz FUZZ_TARGETS (every one) for FUZZ_SECONDS ($(FUZZ_SECONDS)) each, from seeds out of the tests'
	@echo 'make deny          check licences, bans and sources of dependencies; installs cargo-deny'
	@echo 'make advisories    fetch the known faults of packages that tests/tidy compares the lock files with, from the RustSec advisory database'
	@echo 'make minisign      compare keys and signatures of packs with those of minisign; installs it from Debian'
	@echo 'make attack        flood every way into a server while a client that pays searches on, and judge what it feels'
	@echo 'make kills         kill the server KILLS ($(KILLS)) times under 16 programs, agents and readers of pages at once'
	@echo 'make snapshot-kills  kill shelving, packing, installing and pulling SNAPSHOT_KILLS ($(SNAPSHOT_KILLS)) times each'
	@echo 'make small-box     serve the US Code from SOURCES within 256 and 512 MB of memory; needs root and control groups'
	@echo 'make power-cuts    cut the power CUTS ($(CUTS)) times, and fail each of 500 writes and syncs'
	@echo 'make bench-leases  time calls and searches charged to the state file, to leases and to a PostgreSQL of its own'
	@echo 'make lease-runs    servers with leases against a plain account, in 100,000 random runs with crashes and partitions'
	@echo 'make postgres      start a PostgreSQL, run the suites of accounts on it, then three servers on one database that are broken; installs it'
	@echo 'make deploy-check  check the settings in deploy/servers with haproxy, nginx, kubectl and docker-compose; installs them'
	@echo 'make many-boxes    three servers, PostgreSQL with a replica and haproxy, for MINUTES ($(MINUTES)) cut apart, killed, failed over and with wrong clocks; needs root, installs them'
	@echo 'make dist          static programs, Debian packages, container images, parts lists and checksums for DIST_TARGETS in target/dist; installs what it needs'
	@echo 'make first-steps   the first steps of README.md in empty containers, with the static program; needs root, installs what it needs'
	@echo 'make arm64-kernels  run the tests of the inner loops of vector search for 64-bit Arm, in an emulator; installs it'
	@echo 'make payments      compare PAYMENTS ($(PAYMENTS)) random histories of payments, by card and by hand, with a plain model'
	@echo 'make slow-clients  SLOW_CLIENTS ($(SLOW_CLIENTS)) silent connections and as many with half a request, at once'
	@echo 'make smuggling     the smuggling cases behind nginx and haproxy; installs both from Debian'
	@echo 'make unit-score    how exposed the systemd unit is, at most 1.5; installs systemd from Debian'
	@echo 'make documents     update what is rendered from the operations table: docs/rendered and the table in README.md'
	@echo 'make known-words   write the list of English words that are never corrected again, from Debian packages'
	@echo 'make naics         make the table of NAICS 2022 codes again, from the workbook of the Census Bureau in SOURCES'
	@echo 'make model         train the table that queries are embedded with again, from the law in SOURCES and tests/quality/everyday; two minutes'
	@echo 'make no-encoder    that programs without sentence encoders refuse what needs it'
	@echo 'make quality       hold search quality against tests/quality/floors, on the sample and where SOURCES is there on two codes'
	@echo 'make words         build every plan for the real files in SOURCES, and fail if a word of a source is lost in its snapshot'
	@echo 'make conformance   check the running service against its OpenAPI document and the public suite of the Model Context Protocol'
	@echo 'make browser       walk the pages with a browser: light, dark, phone, keyboard, without scripts; installs chromium from Debian'
	@echo 'make lighthouse    audit every kind of page with Lighthouse: accessibility and best practices at least 95, with PERFORMANCE=1 performance instead; installs chromium'
	@echo 'make bench-corpus  build and measure snapshots of real law from SOURCES ($(SOURCES))'

fuzz:
	python3 fuzz/seeds.py
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --release --target $(FUZZ_HOST) --target-dir $(abspath $(FUZZ_DIR)) $(FUZZ_FEATURES) $(addprefix --bin ,$(FUZZ_TARGETS))
	for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target fuzz/artifacts/$$target; \
		nice $(FUZZ_DIR)/$(FUZZ_HOST)/release/$$target fuzz/corpus/$$target -artifact_prefix=fuzz/artifacts/$$target/ \
			-max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=20 -rss_limit_mb=4096 || exit 1; \
	done

deny:
	command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check licenses bans sources

advisories:
	rm -rf target/advisory-db && git clone --quiet --depth 1 $(ADVISORY_DB) target/advisory-db
	day=$$(git -C target/advisory-db log -1 --format=%cs) \
	&& python3 tests/tidy/advisories.py target/advisory-db "$$day" > target/advisories.tsv && mv target/advisories.tsv tests/tidy/advisories.tsv

minisign:
	$(call install,minisign)
	HORNBOOK_TEST_MINISIGN=required cargo test --package hornbook-pack -- --nocapture minisign_verifies

attack:
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	$(call install,ip:iproute2)
	tests/attack/run $(or $(HORNBOOK),target/release/hornbook)

small-box:
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	@mkdir -p target/small-box; program=$(or $(HORNBOOK),target/release/hornbook); \
	[ -d target/small-box/us-code ] || $$program build corpus/plans/real-files/us-code-text-2016.toml --sources $(SOURCES) --out target/small-box/us-code \
	&& tests/small-box/run $$program target/small-box/us-code

kills:
	HORNBOOK_TEST_KILLS=$(KILLS) cargo test --workspace --test accounts_process -- --nocapture killed_under_load

snapshot-kills:
	HORNBOOK_TEST_SNAPSHOT_KILLS=$(SNAPSHOT_KILLS) cargo test --workspace --test cli -- --nocapture killed_at_any_moment

payments:
	HORNBOOK_TEST_PAYMENTS=$(PAYMENTS) cargo test --workspace --test payments nothing_differs

power-cuts:
	HORNBOOK_TEST_CUTS=$(CUTS) cargo test --package hornbook-accounts --test it power_cuts
	HORNBOOK_TEST_FAULTS=every cargo test --package hornbook-accounts --test it the_nth_write_or_sync_fails

bench-leases:
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	tests/postgres/run --bench $(or $(HORNBOOK),target/release/hornbook)

lease-runs:
	HORNBOOK_TEST_LEASE_RUNS=100000 cargo test --release --package hornbook-accounts --lib leases

postgres:
	$(install-postgresql)
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	HORNBOOK_TEST_SEQUENCES=$(POSTGRES_SEQUENCES) tests/postgres/run $(or $(HORNBOOK),target/release/hornbook) $(POSTGRES_SECONDS)

# Nomad's own tool is in no package of Debian; where it is installed, it checks its file too.
deploy-check:
	$(call install,haproxy nginx:nginx-light kubectl:kubernetes-client docker-compose)
	PATH=$$PATH:/usr/sbin deploy/servers/check

# The compiler for C and the linker for every target are packages of PyPI.
$(DIST_TOOLS)/bin/cargo-zigbuild:
	python3 -m venv $(DIST_TOOLS) || { tests/install-packages python3-venv && python3 -m venv $(DIST_TOOLS); }
	$(DIST_TOOLS)/bin/pip install --quiet ziglang==0.17.1 cargo-zigbuild==0.24.1

dist: $(DIST_TOOLS)/bin/cargo-zigbuild
	$(call install,readelf:binutils lintian skopeo systemd-analyze:systemd qemu-aarch64-static:qemu-user-static)
	rustup --quiet target add $(DIST_TARGETS)
	PATH=$(abspath $(DIST_TOOLS))/bin:$$PATH deploy/dist/run target/dist $(DIST_TARGETS)

# The program is the one of 'make dist' for this machine.
first-steps: $(DIST_TOOLS)/bin/cargo-zigbuild
	$(call install,busybox:busybox-static unshare:util-linux)
	rustup --quiet target add $$(uname -m)-unknown-linux-musl
	PATH=$(abspath $(DIST_TOOLS))/bin:$$PATH cargo zigbuild --quiet --release --locked --bin hornbook --target $$(uname -m)-unknown-linux-musl
	tests/first-steps/run target/$$(uname -m)-unknown-linux-musl/release/hornbook

arm64-kernels: $(DIST_TOOLS)/bin/cargo-zigbuild
	$(call install,qemu-aarch64-static:qemu-user-static)
	rustup --quiet target add aarch64-unknown-linux-musl
	PATH=$(abspath $(DIST_TOOLS))/bin:$$PATH CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=qemu-aarch64-static \
		cargo-zigbuild test --quiet --package hornbook-corpus --lib --target aarch64-unknown-linux-musl vector

many-boxes:
	$(install-postgresql)
	$(call install,haproxy ip:iproute2)
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	tests/network/run $(or $(HORNBOOK),target/release/hornbook) $(BOXES_SECONDS)

slow-clients:
	ulimit -n $$(ulimit -H -n) && HORNBOOK_TEST_SLOW_CLIENTS=$(SLOW_CLIENTS) cargo test --workspace --test cli -- --nocapture slow_clients

no-encoder:
	cargo test --quiet --package hornbook-index-build no_encoder

# Each is built and judged by the program that is checked; what a floor demands is in tests/quality/floors.
# Every law that a training query is about; what is kept for judging teaches nothing.
model:
	@[ -d $(SOURCES) ] || { echo 'there is no folder $(SOURCES) with the law to train on; name it with SOURCES='; exit 1; }
	cargo build --release --example train-queries
	@[ -n "$(HORNBOOK)" ] || cargo build --release
	@mkdir -p target/model && rm -rf target/model/*; \
	program=$(or $(HORNBOOK),target/release/hornbook); \
	$$program build benches/plans/quality.toml --sources $(SOURCES) --out target/model/quality \
	&& $$program build corpus/plans/real-files/ut-code-text-2014.toml --sources $(SOURCES) --out target/model/utah \
	&& target/release/examples/train-queries --snapshot target/model/quality --snapshot target/model/utah \
		--without tests/quality/withheld.txt --out corpus/model/law-static-256-queries.safetensors tests/quality/everyday/*.jsonl
	@echo 'now run the tests of embed: they say which numbers of its self-check change'

quality:
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	@program=$(or $(HORNBOOK),target/release/hornbook); \
	judge() { \
		rm -rf target/quality/$$1 && mkdir -p target/quality \
		&& $$program build $$2 $$3 --out target/quality/$$1 > target/quality/$$1.txt 2>&1 || { cat target/quality/$$1.txt; return 1; }; \
		echo "quality of $$1"; \
		$$program eval target/quality/$$1 $$4 --rounds 0 --floors tests/quality/floors/$$1.tsv $(RENEW_FLOORS); \
	}; \
	judge sample corpus/sample/plan.toml '' tests/quality/sample.jsonl || exit 1; \
	if [ -d $(SOURCES) ]; then \
		judge spanish-fork corpus/plans/real-files/ut-spanish-fork-code.toml '--sources $(SOURCES)' tests/quality/everyday/spanish-fork.jsonl || exit 1; \
		judge district-of-columbia corpus/plans/real-files/dc-code.toml '--sources $(SOURCES)' tests/quality/everyday/district-of-columbia.jsonl || exit 1; \
	else \
		echo 'the quality on real law was not judged: there is no folder $(SOURCES)'; \
	fi

smuggling:
	$(call install,nginx:nginx-light haproxy)
	HORNBOOK_TEST_PROXIES=required cargo test --workspace --test cli -- --nocapture smuggled_past

unit-score:
	$(call install,systemd-analyze:systemd)
	mkdir -p target && systemd-analyze security --offline=true --threshold=15 --no-pager deploy/hornbook.service > target/unit-score.txt; \
		status=$$?; tail -1 target/unit-score.txt; exit $$status

documents:
	HORNBOOK_RENEW_DOCUMENTS=1 cargo test --quiet --workspace --test http rendered_documents

# From the Debian packages of SCOWL.
known-words:
	rm -rf target/words && mkdir -p target/words
	cd target/words && apt-get download wamerican-large wbritish-large wcanadian-large wamerican-huge && for package in *.deb; do dpkg-deb -x $$package . || exit 1; done
	python3 search/words/known-words.py target/words

naics:
	mkdir -p target && tar --zstd -xOf $(SOURCES)/naics-2022.tar.zst 'naics-2022/data/naics/raw/2-6 digit_2022_Codes.xlsx' > target/naics.xlsx
	python3 src/formation/naics/codes.py target/naics.xlsx > target/naics.tsv && mv target/naics.tsv src/formation/naics/codes.tsv

# One of the generated clients is in Ruby.
conformance:
	ruby -e 'require "typhoeus"' 2> /dev/null || tests/install-packages ruby ruby-typhoeus
	tests/conformance/run $(HORNBOOK)
	tests/conformance/mcp/run $(HORNBOOK) $(FIXTURES)

browser:
	tests/browser/run $(HORNBOOK)

lighthouse:
	tests/browser/lighthouse/run $(if $(PERFORMANCE),--performance) $(HORNBOOK)

bench-corpus:
	cargo bench --bench corpus -- --sources $(SOURCES)

words:
	@[ -n "$(HORNBOOK)" ] || cargo build --quiet --release
	tests/words/run $(or $(HORNBOOK),target/release/hornbook) $(SOURCES)
