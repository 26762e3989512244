# all: both binaries. The README's two commands are `make demo` and `make test`.
#
# There are three rings of tests: `make check` while you work, `make test` for all that needs only Debian's programs,
# and `make clients` for the rest: real agents and SDKs from npm, terminals under X, a browser,
# tests that need minutes, and a minute in which the serving gateway is killed again and again
# (SOAK=SESSIONS,AGENTS,KILLS, as SOAK=200,50,100). `make bench` measures.

GOLANGCI = v2.15.0
GOFUMPT  = v0.12.0
NFPM     = v2.45.0
GOTESTSUM = v1.13.0
TOOLS    = .ci/bin
FUZZTIME = 30s

# Static binaries: they run on any machine of the kind, also in a container without a C library.
export CGO_ENABLED ?= 0
# Functions begin at multiples of 16 bytes, as those of C compilers do, and not of 32, the default for amd64: that is
# 1 % of a program. Nothing is inlined in crypto/tls (-l), which is another 1 %: nearly all its code runs once for a
# connection.
COMPILE = -trimpath -gcflags=crypto/tls=-l
BUILD   = go build $(COMPILE) -ldflags "-s -w -funcalign=16"

# An older Go answers only that it cannot read go.mod, so the Go in PATH is looked at before anything that needs it.
ifneq ($(filter-out install uninstall clean peers,$(or $(MAKECMDGOALS),all)),)
GO_PROBLEM := $(shell .ci/check-go)
ifneq ($(GO_PROBLEM),)
$(error $(GO_PROBLEM))
endif
endif

.PHONY: all build install uninstall dist demo cluster cluster-demo cluster-soak picture check test test-units test-built test-page clients clients-units clients-built clients-newest test-as-root test-slow-looks mutants lint lint-go lint-page fmt fuzz peers bench bench-write score tools nfpm clean

all: build

# proxy speaks no HTTP/2: it serves no TLS, and WebSockets are HTTP/1.1. Without the tag it works, and is larger.
PROXY_TAGS = -tags nethttpomithttp2

build:
	$(BUILD) $(PROXY_TAGS) -o bin/proxy ./cmd/proxy
	$(BUILD) -o bin/gateway ./cmd/gateway

# Where make install puts the files: below DESTDIR and PREFIX. BIN has the programs, and RUNS a gateway that runs
# on this machine, which is another one when BIN holds programs for another processor.
PREFIX  = /usr/local
DESTDIR =
BIN     = bin
RUNS    = $(BIN)

# Neither needs Go, which root often lacks: make && sudo make install. The script gets the values in its environment,
# where a blank or a quote is an ordinary character.
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export BIN := $(BIN)
install uninstall: export RUNS := $(RUNS)
install:
	@.ci/install $@

uninstall:
	@.ci/install $@

# Packages for others, the same bytes from the same commit: archives, .deb and .rpm, checksums and an SBOM.
TARGETS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
DIST    = dist

dist: $(TOOLS)/nfpm-$(NFPM)
	PATH="$$PWD/$(TOOLS):$$PATH" .ci/dist "$(DIST)" $(TARGETS)

# The flags are those of build, so that nothing is compiled twice.
DEMO = go run $(COMPILE) -ldflags "-s -w" ./cmd/internal/dev/demo

demo:
	@echo "Building proxy, gateway and the demo: a minute or two the first time, seconds after that."
	@$(MAKE) --silent build
	@$(DEMO) bin

# Three NATS servers and three gateways on this machine: what crosses, what happens when parts of it die, what it takes. nats-server is
# built from the module contrib/cluster, which nothing else of ours links.
cluster: build
	@cd contrib/cluster && $(BUILD) -o ../../bin/nats-server github.com/nats-io/nats-server/v2

cluster-demo:
	@echo "Building proxy, gateway and nats-server: some minutes the first time, seconds after that."
	@$(MAKE) --silent cluster
	@cd contrib/cluster && go run -trimpath ./demo ../../bin

ROUNDS = 100
cluster-soak: cluster
	cd contrib/cluster && CLIENTS=1 CLUSTER_SOAK=$(ROUNDS) go test -count=1 -v -timeout 60m .

# The moving picture of the README, from a recording of the demo.
picture: build
	@rm -f bin/demo.cast bin/demo.cast.audit.jsonl
	$(DEMO) -record bin/demo.cast bin
	bin/gateway render --svg docs/demo.svg --animate bin/demo.cast

# Packages in whose tests nothing runs beside anything else: the race detector finds nothing there, and costs ten times their time. What
# of cmd/internal/dev/browser runs in several goroutines needs a browser, and make clients has it tested with the race detector. All others
# that use them are tested with it, and go test -race ./... takes them, too. A test in cmd looks after the list.
ALONE = ./cmd/internal/dev/browser ./gateway/text ./proxy/terminal/filter ./proxy/terminal/keys ./proxy/record/replay ./proxy/terminal/screen ./proxy/terminal/screen/render

# Tests that drive the built programs: the race detector would watch the tests' own code, and not those.
E2E = ./cmd/internal/e2e/agents ./cmd/internal/e2e/chat ./cmd/internal/e2e/consent ./cmd/internal/e2e/gateways ./cmd/internal/e2e/session
BUILT = $(E2E) ./cmd/internal/dev/bench/built

# gotestsum prints a line for each package, then what was skipped, and why, and last what failed. With AGAIN=1 one failed test
# runs again, and is listed as flaky if it passes then; a second failure fails the run.
AGAIN = 0
SUM   = $(TOOLS)/gotestsum-$(GOTESTSUM)
RUN   = $(SUM) --format=pkgname --format-hide-empty-pkg $(if $(filter-out 0,$(AGAIN)),--rerun-fails=1 --rerun-fails-max-failures=$(AGAIN) --rerun-fails-report=bin/flaky.$@)
FLAKY = @if [ -s bin/flaky.$@ ]; then echo "flaky, passed when it ran again:"; cat bin/flaky.$@; fi

# A name ends with what a test needs besides Debian's programs: make clients and make test-as-root run those.
NEEDS_CLIENT = _(Root)?Client$$
NEEDS_ROOT   = _Root(Client)?$$

# The end-to-end tests wait more than they compute, so the others run beside them. What runs without the race
# detector is built with the flags of build, so that nothing is compiled twice.
# A program with the race detector waits a second before it exits, in case its goroutines go on. The tests wait for theirs.
test-units clients-units: export GORACE := atexit_sleep_ms=0

test: $(SUM)
	@command -v tmux >/dev/null || { echo "test: tmux is missing, and most tests need it: install it first" >&2; exit 1; }
	@CGO_ENABLED=1 go env CC | xargs -n 1 sh -c 'command -v "$$0"' >/dev/null || { echo "test: the race detector needs a C compiler: install gcc and libc6-dev first" >&2; exit 1; }
	@echo "test: all packages, nearly all with the race detector, and beside them the built programs end to end in tmux; a few minutes"
	@rm -f bin/flaky.* && mkdir -p bin && $(MAKE) --no-print-directory -j 2 test-units test-built

test-units: $(SUM)
	@CGO_ENABLED=1 $(RUN) --packages "$$(go list ./... | grep -vxF "$$(go list $(ALONE) $(BUILT))" | tr '\n' ' ')" -- -race -shuffle=on -timeout=15m '-skip=$(NEEDS_CLIENT)'
	@$(RUN) --packages "$(ALONE)" -- $(COMPILE) -shuffle=on -timeout=15m '-skip=$(NEEDS_CLIENT)'
	$(FLAKY)

test-built: $(SUM)
	@$(RUN) --packages "$(BUILT)" -- $(COMPILE) -shuffle=on -timeout=30m '-skip=$(NEEDS_CLIENT)'
	$(FLAKY)

check: $(SUM)
	@echo "check: go vet, the tests of all packages but the end-to-end tests, and those of the page's scripts; about a minute"
	go vet ./...
	@$(RUN) --packages "$$(go list ./... | grep -v -e /internal/e2e -e /internal/dev/bench | tr '\n' ' ')" -- -vet=off '-skip=$(NEEDS_CLIENT)'
	@$(MAKE) --silent test-page

# The unit tests of the page's scripts.
test-page:
	@if command -v node >/dev/null; then node --test gateway/doors/page/static-tests/*.test.js; \
		else echo "test-page: node is not installed: the unit tests of the page's scripts are skipped"; fi

CLIENTS_IN = ./cmd/gateway ./cmd/internal/dev/browser ./cmd/internal/e2e/agents ./cmd/internal/e2e/chat ./cmd/internal/e2e/consent ./cmd/internal/e2e/gateways ./cmd/internal/e2e/session ./proxy ./proxy/terminal/screen

# Those that make test runs without the race detector run without it here, too, and are compiled once. Of the others and of these,
# one package at a time runs.
CLIENTS_PLAIN = $(E2E) ./proxy/terminal/screen

clients: build $(SUM) $(TOOLS)/nfpm-$(NFPM)
	@echo "clients: the tests with real agents, SDKs, terminals and a browser, of $(CLIENTS_IN)"
	@rm -f bin/soak.txt bin/flaky.*
	@$(MAKE) --no-print-directory -j 2 clients-units clients-built
	@cat bin/soak.txt
	cd contrib/cluster && CGO_ENABLED=1 go test -race -timeout 10m ./joined

clients-units: $(SUM)
	@CLIENTS=1 PICTURES="$$PWD/bin/pages" CGO_ENABLED=1 $(RUN) --packages "$(filter-out $(CLIENTS_PLAIN),$(CLIENTS_IN))" -- -race -p=1 -timeout=60m '-run=$(NEEDS_CLIENT)'
	$(FLAKY)

clients-built: $(SUM)
	@CLIENTS=1 SOAK_FIGURES="$$PWD/bin/soak.txt" $(RUN) --packages "$(CLIENTS_PLAIN)" -- $(COMPILE) -p=1 -timeout=60m '-run=$(NEEDS_CLIENT)'
	$(FLAKY)

# The same agents in the newest versions that npm has: run it before each release.
NEWEST = .ci/newest
AGENTS = @agentclientprotocol/claude-agent-acp @agentclientprotocol/codex-acp @anthropic-ai/claude-code @github/copilot @google/gemini-cli @openai/codex opencode-ai

clients-newest:
	@mkdir -p $(NEWEST)
	npm --prefix $(NEWEST) install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error $(addsuffix @latest,$(AGENTS))
	npm --prefix $(NEWEST) rebuild --loglevel=error @anthropic-ai/claude-code opencode-ai
	CLIENTS_BIN="$$PWD/$(NEWEST)/node_modules/.bin" $(MAKE) clients

# What only root can set up: another user, another sudoers, what a closed process has open. The clients among them, too.
ROOT_IN = ./cmd/internal/commands/serve ./cmd/internal/e2e/agents ./cmd/internal/e2e/consent ./cmd/internal/e2e/session ./gateway/local ./gateway/userdirs

test-as-root: $(SUM) $(TOOLS)/nfpm-$(NFPM)
	@CLIENTS=1 $(RUN) --packages "$(ROOT_IN)" -- $(COMPILE) -timeout=15m '-run=$(NEEDS_ROOT)'
	$(FLAKY)

# A test of the tests: each look at a window is 1.2 s late. Those that wait for what soon goes must wait for what was shown.
test-slow-looks: $(SUM)
	@SLOW_LOOKS=1.2 $(RUN) --packages "$(E2E)" -- $(COMPILE) -timeout=60m -parallel=16 '-skip=$(NEEDS_CLIENT)'

# Patches that break a promise each, and whether the tests of their package notice.
mutants:
	go run ./cmd/internal/dev/mutants

lint: lint-go lint-page

lint-go: tools
	$(TOOLS)/golangci-lint run ./...
	go vet ./...
	GOOS=darwin go vet ./cmd/... ./proxy/... ./gateway/... ./protocol/...

# The types of the page's scripts, and ESLint, in the versions that .ci/package.json pins.
NPM_INSTALL = npm --prefix .ci install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error
NODE_BIN    = .ci/node_modules/.bin

lint-page:
	@npm --prefix .ci ls --depth=0 typescript eslint @eslint/js globals >/dev/null 2>&1 || { \
		echo "lint: the page's scripts are not checked: typescript or eslint of .ci/package.json is not installed." >&2; \
		echo "lint: install Node.js with npm, and then run: $(NPM_INSTALL)" >&2; exit 1; }
	$(NODE_BIN)/tsc --noEmit --project .ci/tsconfig.json
	$(NODE_BIN)/eslint --config .ci/eslint.config.mjs --max-warnings 0 gateway/doors/page/static gateway/doors/page/static-tests

fmt: tools
	$(TOOLS)/gofumpt -w cmd proxy gateway protocol

fuzz:
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
		done; \
	done

# Another MCP server for terminals, of an exact version: the benchmark of tasks does the same with it. It needs npm and a compiler.
peers:
	npm --prefix .ci/peers install --no-audit --no-fund --no-package-lock --loglevel=error

# Measures one table of what is promised about speed, in some minutes. bench-write also writes it into docs/performance.md. All
# benchmarks: go test -run '^$$' -bench . -benchmem ./...
bench:
	@go run ./cmd/internal/dev/bench -raw bin/bench.txt

bench-write:
	@go run ./cmd/internal/dev/bench -raw bin/bench.txt -write

# The terminal model against the screens of other terminals, where the corpora and their scorer are at hand.
SHARED = ../shared
score: build
	@test -d $(SHARED)/testdata/screen || { echo "score: $(SHARED)/testdata/screen is not here"; exit 1; }
	top=$$PWD && cd $(SHARED)/kit/vtscore && go build -o "$$top/bin/vtscore" .
	bin/vtscore score -cmd 'bin/gateway render --json' -caps resize,replies $(SHARED)/testdata/screen/*.jsonl

tools: $(TOOLS)/golangci-lint-$(GOLANGCI) $(TOOLS)/gofumpt-$(GOFUMPT) $(SUM)

nfpm: $(TOOLS)/nfpm-$(NFPM)

$(TOOLS)/golangci-lint-$(GOLANGCI):
	GOBIN="$$PWD/$(TOOLS)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	touch $@

$(TOOLS)/gofumpt-$(GOFUMPT):
	GOBIN="$$PWD/$(TOOLS)" go install mvdan.cc/gofumpt@$(GOFUMPT)
	touch $@

$(TOOLS)/nfpm-$(NFPM):
	GOBIN="$$PWD/$(TOOLS)" go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	touch $@

$(SUM):
	@mkdir -p "$(TOOLS)"
	@GOBIN="$$PWD/$(TOOLS)" CGO_ENABLED=0 go install gotest.tools/gotestsum@$(GOTESTSUM)
	@mv "$(TOOLS)/gotestsum" "$@"

clean:
	rm -rf bin dist
