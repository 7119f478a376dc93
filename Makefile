# make          everything a change must pass, then the committed output against the compiler's
# make demo     from a clone to a served catalog, with three calls
# make test     the tests, as CI runs them
# Development is described in docs/development.md.
SHELL := /bin/bash
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all demo test setup build types layout out out-check smoke clean

QUICKSTART := specs/examples/quickstart/tools.yaml

all: out-check test

setup:
	@.ci/setup

# One program checks the types of everything and writes dist/; a compiled file whose source is gone goes with it.
build: setup
	@node_modules/.bin/tsc -p .
	@find dist -name '*.js' | while read -r file; do source=$${file#dist/}; \
	  [ -e "$${source%.js}.ts" ] || rm -f "$$file" "$$file.map" "$${file%.js}.d.ts"; done

types: build

# The rules of who may import whom.
layout: build
	@node dist/test/lib/run.js layout

test: build
	@node dist/test/lib/run.js

demo: build
	@node dist/bench/demo/main.js

out: build
	@bin/toolsrv build $(QUICKSTART)

out-check: build
	@bin/toolsrv build $(QUICKSTART) --check

# The smoke part on the other supported Nodes, taken from npm.
smoke: build
	@.ci/smoke 22
	@.ci/smoke 24

clean:
	rm -rf dist coverage .cache out/*.js out/*.js.map
