# These commands do all their own set-up on a machine with Go: make demo, test, compare, faults,
# soak, fuzz, and e2e, which needs Java or Python, too. Without a C compiler demo, test, faults and
# soak do without cgo; compare never needs one, and the others do.

GOLDEN    := ./testdata/golden/accepted/...
# The golden cases that are played in short by make test, one for each kind of behaviour, and the
# services that model systems in use; of the others it holds the text, and make matrix plays all.
PLAYED    := $(addprefix ./testdata/golden/accepted/, all_types avro_orders bank_transfers cloudevents_orders \
	debezium_customers devices effects_on_redis encoded_payloads event_store external_tables gdpr_erasure header_keys \
	iot_telemetry kitchen_sink locks maps offset_ledger order_evolution orders_minimal parked_records patches protobuf_orders record_keys \
	rows_of_other_topics stripe_payments sums welcome_mail)
BRIEFLY   := ./examples/bank ./examples/catalog/... ./examples/mirror ./examples/recipes ./examples/split/... ./examples/takeover ./examples/telemetry ./examples/textbook ./examples/users/directory ./examples/welcome-mail ./bench/accounts ./bench/devices ./bench/keys ./bench/notices ./bench/payments ./bench/readings $(PLAYED)
# The packages whose tests take longest, which begin first.
LONGEST   := $(addprefix ./runtime/internal/, engine handler effect) ./cmd/idemgen $(addprefix ./cmd/idemgen/internal/, spec/services spec/handlers operators spec here)
# The packages that start goroutines; the Kafka clients are in make matrix only.
CONCURRENT := ./runtime/idem ./runtime/redislease ./runtime/outbox $(addprefix ./runtime/internal/, catalog effect engine engine/deadletter engine/keys \
	generation handler intake lag maintain notify outage pglease pool recent session watchdog)
# Most tests wait for a server: more of them run side by side than there are processors. make check
# vets the code. Compiling is half of the work, so libraries are compiled without inlining, and
# nothing is written for debuggers; the go commands of tests and checks share what was compiled.
FASTER    := GOFLAGS="'-ldflags=-s -w' '-gcflags=all=-dwarf=false' '-gcflags=github.com/...=-l -dwarf=false' '-gcflags=github.com/idemgen/idemgen/...=-dwarf=false'"
GOTEST    := go test -vet=off -p 4 -parallel 8 -timeout 15m
BEHAVIOUR := ./testdata/golden/behaviour/...
# The modules of go.work, without testdata: the product, and what only proves it.
MODULES   := ./... ./scripts/... ./bench/... ./bench/peers/...
SPECS     := ./examples/... ./bench/... $(GOLDEN) $(BEHAVIOUR)

.PHONY: release-check demo compare faults soak e2e fuzz schedules test tested quick matrix alerts model check race generate mutants bench cc

## demo: the whole product at work: a screen in a terminal, else a text, and an audit (DEMO=plain: text;
## KAFKA=real: on Apache Kafka, which it fetches)
demo:
	@./scripts/cc.sh go run ./scripts/demo

## faults: every fault that a service meets, one line each, with an audit after each
faults:
	@./scripts/cc.sh go run ./scripts/faults

## compare: other ways beside idemgen under the same faults; fails if docs/compare.md has another table
compare:
	@go run ./bench/compare -check

## soak: faults in a random mix, for MINUTES=m; SEED=n repeats one
MINUTES ?= 5
SEED ?= 0
soak:
	@./scripts/cc.sh go run ./scripts/faults -soak $(MINUTES) -seed $(SEED)

## e2e: services, relay and Debezium on a real Kafka, Connect, registry, Postgres and Redis, which it
## fetches, and the console in Chromium; SHORT=1 leaves Connect and registry out, and what takes long; CHECK=regexp chooses checks
SHORT ?=
CHECK ?=
e2e: cc
	@go run ./scripts/e2e -only '$(CHECK)' $(if $(filter-out 0,$(SHORT)),-short)
	@$(if $(CHECK),,./scripts/browser/run.sh)

## fuzz: looks for bugs at random for TIME: the fuzz tests, then whole services of specs that are drawn
TIME ?= 10m
fuzz: cc
	@go run ./scripts/fuzz -for $(TIME)

## schedules: orders of the statements of two owners, of cuts and of crashes, at random for TIME; SEED=n is the first
schedules: cc
	@go test -vet=off ./runtime/internal/engine -run '^TestSchedules$$' -v -timeout 0 -parallel 8 -schedules $(TIME) -seed $(SEED)

## test: what a change must pass; it starts Postgres and a broker itself, and installs a C compiler if
## it may. Without one it leaves out what needs cgo, and says at the end what that was
test:
	@INSTALL=1 ./scripts/cc.sh $(MAKE) --no-print-directory tested

tested:
	@$(FASTER) go list -export -f '' $$(./scripts/tested.sh ./...) >/dev/null # compiles once what go commands of tests need, too
	$(FASTER) $(GOTEST) $(LONGEST) $$(./scripts/tested.sh ./... ./bench/... ./bench/peers/... | grep -v -F -x "$$(go list $(BRIEFLY))")
	$(FASTER) $(GOTEST) -count=1 $$(./scripts/tested.sh ./scripts/...) # they read files of other modules, which the cache does not see
	$(FASTER) $(GOTEST) -short $$(./scripts/tested.sh $(BRIEFLY))
	@./scripts/tested.sh

## quick: what one runs after each change
quick: cc
	$(FASTER) $(GOTEST) -short $(MODULES)

## matrix: what test leaves out: long tests, all golden cases, each Postgres, all of the runtime with -race, franz without
## cgo, a real Kafka
MAJORS ?= 14 15 16 17 18
matrix: cc
	IDEMGEN_LONG=1 $(GOTEST) -timeout 40m $(MODULES) $(GOLDEN)
	set -e; for major in $(MAJORS); do echo "Postgres $$major"; IDEMTEST_POSTGRES_MAJOR=$$major $(GOTEST) -timeout 40m \
		./runtime/... ./examples/... ./internal/gen/sqlcode ./scripts/generated $(PLAYED); done
	$(GOTEST) -timeout 40m -race ./runtime/...
	CGO_ENABLED=0 $(GOTEST) ./runtime/franz/... ./runtime/internal/member
	go run ./scripts/e2e -short
	$(MAKE) --no-print-directory alerts

## alerts: plays breakages against deploy/alerts.yaml with promtool, which it builds
alerts:
	@cd scripts/alerts && GOWORK=off go tool promtool test rules ../../deploy/alerts_test.yaml

## model: explores the protocol's state machine within its full bounds; needs a few minutes and 4 GB
model:
	@go run ./scripts/model

## check: what a reviewer would ask for before reading
check: cc
	@unformatted=$$(gofmt -l cmd generator schema templates runtime internal examples scripts bench testdata); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	$(FASTER) go vet $(MODULES) $(GOLDEN) $(BEHAVIOUR)
	$(FASTER) go tool staticcheck $(MODULES) $(GOLDEN) $(BEHAVIOUR)
	$(FASTER) go run ./cmd/idemgen check $(SPECS)

## race: the packages that start goroutines but the Kafka clients, in short, with the race detector
race: cc
	$(FASTER) $(GOTEST) -p 2 -parallel 4 -race -short $(CONCURRENT)

## generate: the generated files of the examples, the bench and the golden cases
generate:
	go run ./cmd/idemgen generate $(SPECS)
	go run ./scripts/keys

## mutants: plants bugs one at a time; each must be caught by a test. It plays those that are new
## or changed since scripts/mutants/caught.txt recorded them as caught, so a run that was stopped
## goes on. SHARD=2/4 plays the second of four parts. ALL=1 plays all: it first removes them
## from the record, so start it once, and go on without it. DRAW=200 SEED=n draws bugs at random instead
SHARD ?=
ALL ?=
DRAW ?=
mutants: cc
	go run ./scripts/mutants $(if $(DRAW),-draw $(DRAW) -seed $(SEED),-shard '$(SHARD)'$(if $(ALL), -all))

## release-check: plays what a tag of this commit would publish, from a folder as the proxy: README's quick
## start alone, in a workspace, vendored and both, and an upgrade; FROM=revision is the version before, else the last tag. CHECK=regexp chooses of these
FROM ?=
release-check: cc
	@go run ./scripts/release -from '$(FROM)' -only '$(CHECK)'

## bench: speed and memory beside programs by hand; ONLY=P1b,P12 chooses rows, docs/benchmarks.md says more
ONLY ?=
bench: cc
	@go run ./bench -only '$(ONLY)'

cc:
	@./scripts/cc.sh
