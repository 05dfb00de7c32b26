# What needs more than cargo. `.ci/run` uses the same targets; each installs what it needs by package name.

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := native geojson mapped citation
# Folder with the real sources of benches/plans.
SOURCES ?= ../shared/corpora

# How often the program is killed under load; the tests do it 100 times.
KILLS ?= 1000

# The program that 'make conformance' looks at; built where empty.
HORNBOOK ?=

.PHONY: help fuzz deny kills documents conformance bench-corpus

help:
	@echo 'make fuzz          fuzz every target for FUZZ_SECONDS ($(FUZZ_SECONDS)) each; installs cargo-fuzz'
	@echo 'make deny          check licences, bans and sources of dependencies; installs cargo-deny'
	@echo 'make kills         kill the program KILLS ($(KILLS)) times under 16 concurrent callers with retries'
	@echo 'make documents     renew what is rendered from the operations table: docs/rendered and the table in README.md'
	@echo 'make conformance   hold the running service against its OpenAPI document with schemathesis, linters and GeoJSON readers'
	@echo 'make bench-corpus  build and measure snapshots of real law from SOURCES ($(SOURCES))'

fuzz:
	command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
	for target in $(FUZZ_TARGETS); do \
		cargo fuzz run --sanitizer none $$target -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=4096 || exit 1; \
	done

deny:
	command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check licenses bans sources

kills:
	HORNBOOK_TEST_KILLS=$(KILLS) cargo test -p hornbook --test accounts_process -- --nocapture killed_under_load

documents:
	HORNBOOK_RENEW_DOCUMENTS=1 cargo test --quiet -p hornbook --test http rendered_documents

conformance:
	tests/conformance/run $(HORNBOOK)

bench-corpus:
	cargo bench --bench corpus -- --sources $(SOURCES)
