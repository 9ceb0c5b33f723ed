# Barnabas. `make` alone lists the targets.
SHELL    := /bin/bash
GO       ?= go
BIN      := bin/barnabas
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
FUZZTIME ?= 10s
FIDELITY ?= ../shared/fidelity
ARGS     ?=

export CGO_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help build run test race fuzz bench lint generate compat fidelity image clean setup

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the static binary bin/barnabas
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/barnabas

run: build ## Start a broker on 127.0.0.1:9092, data in ./data (ARGS are handed on)
	$(BIN) serve $(ARGS)

setup: ## Install what the tests need and the machine lacks (Debian, as root)
	@scripts/setup.sh

test: setup lint build ## Run every test, real clients against the binary too; say what was skipped
	@scripts/test.sh

race: ## Run the unit tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -short $$($(GO) list ./... | grep -v -e /compat-tests -e /bench)

fuzz: ## Run every fuzz target for FUZZTIME (10s)
	@scripts/fuzz.sh $(FUZZTIME)

bench: build ## Measure the scenarios of docs/performance.md (ARGS: -quick, -run S2,S7)
	$(GO) build -o bin/bench ./bench
	bin/bench -barnabas $(BIN) $(ARGS)

lint: ## Check format, vet and staticcheck
	@out=$$($(GO) tool gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not gofumpt-formatted:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

generate: ## Write the generated documentation and tables anew
	$(GO) generate ./...

compat: build ## Run only the tests with real clients (ARGS: -v, -run RE)
	BARNABAS=$(CURDIR)/$(BIN) $(GO) test -count=1 ./compat-tests/... $(ARGS)

fidelity: build ## Compare our answers with Apache Kafka's recorded ones (FIDELITY names the folder; ARGS: -quick, -run RE)
	@scripts/fidelity.sh "$(FIDELITY)" $(ARGS)

image: build ## Build the container image with docker, podman or buildah
	@scripts/image.sh barnabas:$(VERSION)

clean: ## Remove what was built
	rm -rf bin bench/out dist
