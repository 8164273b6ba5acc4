# The commands for developers and users. `make` alone lists them.

SWIFT ?= swift
BLETOOL := .build/debug/bletool

help: ## lists these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## installs the two C headers that the build needs, if they are missing
	@Scripts/setup

build: setup ## builds everything, with the tests, in debug mode
	$(SWIFT) build --build-tests

demo: setup ## runs the main job on virtual adapters: advertise, scan, serve, read, write, receive notifications
	$(SWIFT) build --product bletool
	@Scripts/demo $(BLETOOL)

test: build ## runs all tests that need no other program
	SWIFT="$(SWIFT)" Scripts/test

verify: ## runs the suites that `make test` does not include, from a clean clone; SUITES="lab peers" runs only these
	@Scripts/verify $(SUITES)

plain: setup ## builds without pairing, and checks that no cryptography is linked
	@Scripts/without-crypto

release: export BLETOOL_LOCKED = 1
release: setup ## builds what `make install` copies: the optimized bletool, as one file that needs no Swift library, and its manual
	@echo 'Builds bletool, then the manual. This takes about ten minutes on two cores, most of them without output.'
	@SWIFT="$(SWIFT)" Scripts/small release
	$(SWIFT) package --allow-writing-to-package-directory generate-manual --configuration debug

install: ## installs what `make release` has built, with completions and service, below PREFIX (/usr/local); builds nothing
	Scripts/install

outside: setup ## builds the examples and the samples of the documents in a package that uses only the public API
	@Tests/Outside/run

installed: setup ## tests make install in a temporary folder, with systemd, man and the shells
	Tests/Install/run

small: export BLETOOL_LOCKED = 1
small: setup ## builds binaries for small systems, with the Swift libraries inside (bletool, a gateway), checks their sizes and lists the size of each module
	@Scripts/small

size: small ## same as small

lab: setup ## tests bletool and the examples on a real Linux kernel, in a virtual machine with simulated radios
	$(SWIFT) build -c release
	Tests/Lab/run

peers: setup ## tests bletool and the examples against Bumble, over H4
	$(SWIFT) build -c release
	Tests/Peers/run

dissectors: setup ## compares decode with tshark, field by field, and with btmon
	$(SWIFT) build --product bletool
	BLETOOL=$(BLETOOL) Tests/Dissectors/run

speed: setup ## compares the speed of decode with tshark, on 100 MB
	$(SWIFT) build -c release --product bletool
	Tests/Dissectors/speed

bench: setup ## measures speed and allocations
	Benchmarks/run

fuzz: setup ## runs every parser and machine under libFuzzer, for 20 s each, or SECONDS_EACH
	Tests/Fuzz/run

pace: build ## runs the tests of two hosts with four packets at each connection event
	BLETOOL_CONNECTION_EVENTS=4 $(SWIFT) test --skip-build --filter '^BLETests\.'

model: build ## runs random operations of users on three hosts, each of which must take effect or be refused
	BLETOOL_MODEL_RUNS=16 BLETOOL_MODEL_SEED=0 $(SWIFT) test --skip-build --filter HostModelTests
	BLETOOL_MODEL_RUNS=100 BLETOOL_MODEL_SEED=$$(date +%j) $(SWIFT) test --skip-build --filter HostModelTests

memory: build ## measures the memory for thousands of connections, and with a client that is stopped
	BLETOOL_MEASURE_MEMORY=1 $(SWIFT) test --skip-build --filter 'CycleTests|StoppedClientTests'

suites: setup ## builds the packages that `make test` does not build: fuzz targets, races, benchmarks, samples of the documents
	cd Tests/Fuzz && $(SWIFT) build -c release --scratch-path ../../.build-fuzz
	cd Tests/Races && $(SWIFT) build --sanitize thread --scratch-path ../../.build-races
	cd Benchmarks && $(SWIFT) build -c release --scratch-path ../.build-bench
	Tests/Outside/run

swift62: setup ## runs the tests of `make test` with Swift 6.2, in a Debian system of its own in .build-swift62; as root
	Tests/Swift62/run

races: setup ## runs the libraries on many threads under ThreadSanitizer
	Tests/Races/run

docs: setup ## builds the documentation as a site in .build/docs, and checks every link
	Scripts/docs

check: ## checks format, lint rules, forbidden constructs and links
	Scripts/check

.PHONY: help release install installed small size setup build demo test verify plain outside swift62 pace model memory lab peers dissectors speed bench fuzz suites races docs check
