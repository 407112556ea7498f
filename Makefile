# Five commands do all their own set-up on a machine with Go: make demo, test, faults, soak, fuzz.

GOLDEN    := ./testdata/golden/accepted/...
BEHAVIOUR := ./testdata/golden/behaviour/...
SPECS     := ./examples/... ./bench/... $(GOLDEN) $(BEHAVIOUR)

.PHONY: demo faults soak fuzz test test-pg model check generate mutants bench cc

## demo: the whole product at work, with duplicates, two crashes and an audit
demo: cc
	@go run ./scripts/demo

## faults: every fault that a service meets, one line each, with an audit after each
faults: cc
	@go run ./scripts/faults

## soak: faults in a random mix, for MINUTES=m; SEED=n repeats one
MINUTES ?= 5
SEED ?= 0
soak: cc
	@go run ./scripts/faults -soak $(MINUTES) -seed $(SEED)

## fuzz: looks for bugs at random for TIME: the fuzz tests, then whole services of specs that are drawn
TIME ?= 10m
fuzz: cc
	@go run ./scripts/fuzz -for $(TIME)

## test: every test of the repository; it starts Postgres and a broker itself
test: cc
	go test -timeout 20m ./... $(GOLDEN)

## test-pg: the tests that talk to Postgres, on one major version: make test-pg PG=17
test-pg: cc
	@case "$(PG)" in 14|15|16|17|18) ;; *) echo "say which version, 14 to 18: make test-pg PG=17"; exit 2;; esac
	IDEMTEST_POSTGRES_MAJOR=$(PG) go test -timeout 20m ./runtime/... ./examples/... ./generator/sqlcode ./generator/gocode/generated $(GOLDEN)

## model: explores the protocol's state machine within its full bounds; needs a few minutes and 4 GB
model:
	@go run ./runtime/internal/protocol/modelcheck

## check: what a reviewer would ask for before reading
check: cc
	@unformatted=$$(gofmt -l cmd generator schema templates runtime examples scripts bench testdata); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./... $(GOLDEN) $(BEHAVIOUR)
	go vet -C bench/peers ./...
	go tool staticcheck ./... $(GOLDEN) $(BEHAVIOUR)
	cd bench/peers && "$$(go -C ../.. tool -n staticcheck)" ./...
	go run ./cmd/idemgen check $(SPECS)
	go test -race -timeout 20m ./runtime/...

## generate: the generated files of the examples, the bench and the golden cases
generate:
	go run ./cmd/idemgen generate $(SPECS)

## mutants: plants bugs one at a time; each must be caught by a test. It plays those that are new
## or changed since scripts/mutants/caught.txt recorded them as caught, so a run that was stopped
## goes on. SHARD=2/4 plays the second of four parts. ALL=1 plays all: it first removes them
## from the record, so start it once, and go on without it
SHARD ?=
ALL ?=
mutants: cc
	go run ./scripts/mutants -shard '$(SHARD)'$(if $(ALL), -all)

## bench: speed and memory beside programs by hand; ONLY=P1b,P12 chooses rows, docs/benchmarks.md says more
ONLY ?=
bench: cc
	@go run ./bench -only '$(ONLY)'

cc:
	@./scripts/cc.sh
