# Every target is one script of Scripts/, which can be run by hand as well. Bare `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help bootstrap build test test-tsan soak bench conformance coverage-api run run-server check format docs release-check clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-13s %s\n", $$1, $$2 }'

bootstrap: ## check the toolchain, install missing C libraries
	@Scripts/bootstrap

build: bootstrap ## build every package with its tests (PACKAGE="Auth SQLite" for some)
	@Scripts/build $(PACKAGE)

test: bootstrap ## run all tests, consumers and script tests (PACKAGE="Auth SQLite" for some packages)
	@Scripts/test $(PACKAGE)

test-tsan: bootstrap ## run the stress tests under Thread Sanitizer (PACKAGE=Core for one package)
	@MODE=tsan Scripts/test $(PACKAGE)

soak: bootstrap ## run the long crash tests (PACKAGE=SQLite for one package)
	@MODE=soak Scripts/test $(PACKAGE)

bench: bootstrap ## run the benchmarks in release mode (BENCH=lock for some)
	@Scripts/bench $(BENCH)

conformance: bootstrap ## run the suites in VESTA_CONFORMANCE_DIR (SUITE=firestore-spec for one)
	@Scripts/conformance $(SUITE)

coverage-api: bootstrap ## measure the public API against the catalogue in VESTA_API_DIR (PRODUCT=auth for one)
	@Scripts/coverage-api $(PRODUCT)

run: bootstrap ## take the guided tour, Tests/Consumers/Tour
	@Scripts/run-tour

run-server: bootstrap ## start `vesta serve` (ARGUMENTS="--memory --project demo")
	@Scripts/run-server $(ARGUMENTS)

check: bootstrap ## prove the laws, the formatting and zero warnings (STEP=laws for one step)
	@Scripts/check

format: ## format every Swift file in place
	@Scripts/format

docs: bootstrap ## write one site of all modules and guides to .build/docs/site (PACKAGE=Auth for some)
	@Scripts/docs $(PACKAGE)

release-check: bootstrap ## prove in a clone of its own that the last commit can be released
	@Scripts/release-check

clean: ## delete everything that was built
	rm -rf .build Packages/*/.build Interop/*/.build Scripts/*/.build Tests/*/.build Tests/Consumers/*/.build
