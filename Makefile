# Everything a developer or user runs. `make` alone says what there is.

SWIFT ?= swift
BLETOOL := .build/debug/bletool

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## installs the two C headers that the build needs, if they are missing
	@Scripts/setup

build: setup ## builds all, with the tests, for debugging
	$(SWIFT) build --build-tests

demo: setup ## the main job on virtual adapters: advertise, scan, serve, read, write, be notified
	$(SWIFT) build --product bletool
	@Scripts/demo $(BLETOOL)

test: build ## all tests that need no other program
	SWIFT="$(SWIFT)" Scripts/test

verify: ## what `make test` cannot prove, from a clean clone; SUITES="lab peers" for these only
	@Scripts/verify $(SUITES)

plain: setup ## the build without pairing, which links no cryptography
	@Scripts/without-crypto

release: setup ## what `make install` copies: bletool without debugging, as one file that needs no Swift, and its manual
	@echo 'The manual first, then bletool: some ten minutes on two cores, most of them without output.'
	$(SWIFT) package --allow-writing-to-package-directory generate-manual
	$(SWIFT) build -c release --static-swift-stdlib --product bletool

install: ## what `make release` has built, with completions and service, below PREFIX (/usr/local); builds nothing
	Scripts/install

outside: setup ## the examples and the samples of the documents, in a package that has only what is public
	@Tests/Outside/run

installed: setup ## make install into a folder that goes again, and what systemd, man and the shells say of it
	Tests/Install/run

small: setup ## static binaries for small systems, whether they fit, and what each module adds: bletool, a gateway
	@Scripts/small

size: small ## the same

lab: setup ## the same tool, and the examples, on a real Linux kernel, in a virtual machine with simulated radios
	$(SWIFT) build -c release
	Tests/Lab/run

peers: setup ## the same tool, and the examples, against Bumble, over H4
	$(SWIFT) build -c release
	Tests/Peers/run

dissectors: setup ## decode against tshark, field by field, and btmon
	$(SWIFT) build --product bletool
	BLETOOL=$(BLETOOL) Tests/Dissectors/run

speed: setup ## decode of 100 MB against tshark
	$(SWIFT) build -c release --product bletool
	Tests/Dissectors/speed

bench: setup ## speed and allocations
	Benchmarks/run

fuzz: setup ## every parser and machine under libFuzzer, 20 s each, or SECONDS_EACH
	Tests/Fuzz/run

pace: build ## the tests of two hosts, with four packets at each connection event
	BLETOOL_CONNECTION_EVENTS=4 $(SWIFT) test --skip-build --filter '^BLETests\.'

model: build ## random users of three hosts, whose wishes must come true or be refused
	BLETOOL_MODEL_RUNS=100 BLETOOL_MODEL_SEED=$$(date +%j) $(SWIFT) test --skip-build --filter HostModelTests

memory: build ## thousands of connections, and a client that stands still: the memory that they take
	BLETOOL_MEASURE_MEMORY=1 $(SWIFT) test --skip-build --filter 'CycleTests|StoppedClientTests'

races: setup ## the libraries in use by many threads, under ThreadSanitizer
	Tests/Races/run

docs: setup ## the documentation as a site in .build/docs, every link checked
	Scripts/docs

check: ## format, lint, forbidden constructs, links
	Scripts/check

.PHONY: help release install installed small size setup build demo test verify plain outside pace model memory lab peers dissectors speed bench fuzz races docs check
