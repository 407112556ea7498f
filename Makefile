# Two commands do all their own set-up on a machine with Go: make demo, make test.

EXAMPLES := ./examples/orders ./examples/telemetry
GOLDEN   := ./testdata/golden/accepted/...

.PHONY: demo test check generate mutants bench cc

## demo: the whole product at work, with duplicates, two crashes and an audit
demo: cc
	@go run ./scripts/demo

## test: every test of the repository; it starts Postgres and a broker itself
test: cc
	go test -timeout 20m ./... $(GOLDEN)

## check: what a reviewer would ask for before reading
check: cc
	@unformatted=$$(gofmt -l cmd generator schema templates runtime examples scripts bench testdata); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./... $(GOLDEN)
	go run ./cmd/idemgen check ./examples/... ./testdata/golden/accepted/...
	go test -race -timeout 20m ./runtime/...

## generate: the examples' and the golden cases' generated files
generate:
	go run ./cmd/idemgen generate ./examples/... ./testdata/golden/accepted/...

## mutants: plants bugs one at a time; each must be caught by a test
mutants: cc
	go run ./scripts/mutants

## bench: speed and memory as ratios of interleaved runs
bench: cc
	go run ./bench

cc:
	@./scripts/cc.sh
