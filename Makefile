# Everything a developer or user runs. `make` alone says what there is.

SWIFT ?= swift
BLETOOL := .build/debug/bletool

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: ## installs the two C headers that the build needs, if they are missing
	@Scripts/setup

build: setup ## builds all, for debugging
	$(SWIFT) build

demo: build ## the main job on virtual adapters: advertise, scan, serve, read, write, be notified
	@Scripts/demo $(BLETOOL)

test: setup ## all tests that need no other program
	$(SWIFT) test

lab: setup ## the same tool on a real Linux kernel, in a virtual machine with simulated radios
	$(SWIFT) build -c release --product bletool
	Tests/Lab/run

peers: setup ## the same tool against Bumble, over H4
	$(SWIFT) build -c release --product bletool
	Tests/Peers/run

bench: setup ## speed and allocations
	Benchmarks/run

fuzz: setup ## every parser and machine under libFuzzer, 20 s each, or SECONDS_EACH
	Tests/Fuzz/run

check: ## format, lint, forbidden constructs, links, file sizes
	Scripts/check

.PHONY: help setup build demo test lab peers bench fuzz check
