# make          everything a change must pass
# make demo     from a clone to a served catalog, with three calls
# make test     the tests, as CI runs them
# Development is described in docs/development.md.
SHELL := /bin/bash
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all check demo test setup build ui e2e slow types gen gen-check golden layout out out-check smoke pack conformance clients opa schemathesis python postgres live live-secrets promtool otelcol bench-postgres bench profile counts sample clean

QUICKSTART := specs/examples/quickstart/tools.yaml
UI := dist/runtime/trace-ui/static
# Suites with targets of their own, left out of `make test`.
BROWSER := trace/ui/browser trace/ui/views trace/ui/serve trace/ui/docs auth/oauth/login-page
# Bounds processor time, so nothing runs beside it.
TIMED := fuzz/limits
SLOW := trace/serve trace/emit trace/api-changes drafts/killed trace/faults trace/crash trace/sink trace/export mcp/watch secrets/canary e2e/fence e2e/drafts e2e/catalog-life auth/oauth/process auth/oauth/clients isolation/ dev/dev twin/build cli/build-unchanged cli/build-large cli/build-python cli/skill emit/projects http/limits observe/pipeline
GENERATORS := $(sort $(wildcard generator/*/gen-*.ts))

all: gen-check test
check: all

setup:
	@.ci/setup

# One program checks the types of everything and writes dist/; a compiled file whose source is gone goes with it.
build: setup ui
	@node_modules/.bin/tsc -p .
	@find dist -name '*.js' ! -path '$(UI)/*' | while read -r file; do source=$${file#dist/}; \
	  [ -e "$${source%.js}.ts" ] || rm -f "$$file" "$$file.map" "$${file%.js}.d.ts"; done

types: build

# The pages of the trace service, checked and bundled anew when one of their files has changed.
ui: $(UI)/index.html

$(UI)/index.html: $(shell find runtime/trace-ui -type f) runtime/trace/api.types.gen.ts package-lock.json tsconfig.json | setup
	@node_modules/.bin/tsc -p runtime/trace-ui
	@node_modules/.bin/vite build --config runtime/trace-ui/vite.config.ts --logLevel warn

# The pages in Debian's Chromium; skipped, with the reason, where there is none.
e2e: build
	@node dist/test/lib/run.js $(BROWSER)

# Tests that take long: hostile catalogs in a small heap, disks that fill up, many whole builds, servers and probes.
slow: build
	@node dist/test/lib/run.js $(TIMED)
	@node dist/test/lib/run.js $(SLOW)

# The trace store in a private PostgreSQL, started for it, and the services of tests over it; skipped, with the reason,
# where there is none.
postgres: build
	@.ci/postgres node dist/test/lib/run.js trace/postgres adapters/pgvector-postgres secrets/postgres-rotation
	@TOOLSRV_TEST_STORE=postgres .ci/postgres node dist/test/lib/run.js trace/run-filters trace/previews trace/api.test trace/api-changes trace/feed trace/otlp trace/redact trace/emitters

# Credentials from moto, which stands in for AWS Secrets Manager; skipped, with the reason, without Python.
live-secrets: build
	@.ci/live-secrets node dist/test/lib/run.js secrets/aws-moto

# The alert rules that are shipped, and a scrape, by Prometheus' own tool; skipped, with the reason, without it and Go.
promtool: build
	@mkdir -p .cache && node dist/test/observe/scrape-file.js .cache/scrape.txt
	@.ci/promtool .cache/scrape.txt

# Spans and audit records in OpenTelemetry's own collector; skipped, with the reason, without it and Go.
otelcol: build
	@.ci/otelcol

# The Python package of a build, by pytest and mypy, with the frameworks that it has tools for; skipped, with the reason,
# without Python.
python: out-check
	@.ci/python $(TESTS)

# Types and references made from specs/ and from tables in the code.
gen: setup
	@set -e; for script in $(GENERATORS); do node --import tsx $$script; done

gen-check: setup
	@set -e; for script in $(GENERATORS); do node --import tsx $$script --check; done

# The rules of who may import whom.
layout: build
	@node dist/test/lib/run.js layout

# The committed output is what the compiler makes; only then is JavaScript put beside it. What an earlier revision
# left there is not committed, so it is no drift.
out-check: build
	@rm -f out/*.js out/*.js.map
	@bin/toolsrv build $(QUICKSTART) --check
	@bin/toolsrv build $(QUICKSTART) >/dev/null

test: out-check
	@node dist/test/lib/run.js $(addprefix ^,$(BROWSER) $(TIMED) $(SLOW))

# The trace service against its OpenAPI document, by a stranger's fuzzer; skipped, with the reason, without Python.
schemathesis: build
	@.ci/schemathesis

# Writes what golden cases expect anew: read the diff before it is committed.
golden: build
	@UPDATE=1 node dist/test/lib/run.js golden emit/migrate emit/projects mcp/wire layout

demo: build
	@node dist/bench/demo/main.js

# Writes the committed output anew, after a change of the catalog or a template.
out: build
	@bin/toolsrv build $(QUICKSTART)

# The smoke part on the other supported Nodes, taken from npm.
smoke: out-check
	@.ci/smoke 22
	@.ci/smoke 24

# The tarball of npm pack, installed in an empty folder, through the README's steps; skipped, with the reason, where npm
# cannot fetch the dependencies.
pack: build
	@.ci/pack

# The Rego tests against the real opa, compiled by Go where it is; skipped, with the reason, elsewhere.
opa: build
	@.ci/opa

# The official MCP conformance suites against the runtime; skipped, with the reason, where npm cannot be had.
conformance: build
	@node dist/test/conformance/run.js

# Sessions of clients we did not write with the committed server; skipped, with the reason, where they can't be had.
clients: out-check
	@node dist/test/lib/run.js e2e/clients
	@node dist/test/clients/run.js

# Ratios against peers in the same run, written to docs/benchmarks.md; CASES="tools-call" runs some and replaces their
# rows. wrk makes the load where it is installed.
bench: out-check
	@node dist/bench/run.js $(CASES)

# The adapters on real stores, started for it: BACKENDS="qdrant" asks some. Skipped, with the reason, where a store can't be
# had. FILTERS=2000 UPDATE=1 and then `make gen` write docs/reference/backends.md anew.
live: build
	@.ci/live $(BACKENDS)

# Records the runs of `toolsrv trace demo` and of "Load a sample" anew: an agent of LangChain.js over the quickstart.
sample: build out-check
	@node dist/test/trace/sample/record.js

# How fast the trace service takes events into PostgreSQL, beside the embedded store in the same run; printed.
bench-postgres: build
	@.ci/postgres node dist/bench/postgres.js

# Where the time of one case goes: make profile CASE=search
profile: out-check
	@node dist/bench/profile.js $(CASE)

# What a request costs in instructions, cache misses and mispredicted branches, for us and the bare handler, and in
# which functions: make counts REQUEST=tools-list. Skipped, with the reason, without valgrind.
counts: build
	@node dist/bench/counts.js $(REQUEST)

clean:
	rm -rf dist coverage .cache out/*.js out/*.js.map
