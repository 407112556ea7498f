package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// contender is a program that consumes a log into Postgres.
type contender struct {
	name   string
	log    string // what it consumes: one of logs
	binary binary
	args   []string
}

// binary is a program that several contenders may share, with other arguments.
type binary struct {
	name  string
	build func(ctx context.Context, dir, name string) (file string, err error)
}

// The binaries.
var (
	asItIs             = worker("worker", nothing)
	noLedger           = worker("no-ledger", withoutLedger)
	header             = worker("header", withKey(headerKey))
	samePartition      = worker("same-partition", withKey(headerKeySamePartition))
	onRedis            = worker("redis", withRedis)
	handled            = worker("handled", withHandler(headerKey))
	handledOffset      = worker("handled-offset", withHandler(offsetKeyUnique))
	franzOffset        = worker("franz", withFranz)
	franzHeader        = worker("franz-header", together(withFranz, withKey(headerKey)))
	franzSamePartition = worker("franz-same-partition", together(withFranz, withKey(headerKeySamePartition)))
	franzHandled       = worker("franz-handled", together(withFranz, withHandler(headerKey)))
	byHand             = binary{"peers", peers}
)

// contenders are all that rows compare. Those of one log must leave the same rows in its table.
var contenders = []contender{
	{"offset", "readings", asItIs, []string{"readings"}},
	{"franz", "readings", franzOffset, []string{"readings"}},
	{"franz-header", "readings", franzHeader, []string{"readings"}},
	{"franz-same-partition", "readings", franzSamePartition, []string{"readings"}},
	{"no-ledger", "readings", noLedger, []string{"readings"}},
	{"header", "readings", header, []string{"readings"}},
	{"same-partition", "readings", samePartition, []string{"readings"}},
	{"unchecked", "readings", byHand, []string{"unchecked"}},
	{"checked", "readings", byHand, []string{"checked"}},
	{"payments-offset", "payments", asItIs, []string{"payments"}},
	{"payments-franz", "payments", franzOffset, []string{"payments"}},
	{"payments-franz-header", "payments", franzHeader, []string{"payments"}},
	{"payments-franz-same-partition", "payments", franzSamePartition, []string{"payments"}},
	{"payments-franz-handler-queued", "payments", franzHandled, []string{"payments"}},
	{"payments-header", "payments", header, []string{"payments"}},
	{"payments-same-partition", "payments", samePartition, []string{"payments"}},
	{"payments-unchecked", "payments", byHand, []string{"payments-unchecked"}},
	{"payments-checked", "payments", byHand, []string{"payments-checked"}},
	{"payments-handler-queued", "payments", handled, []string{"payments"}},
	{"payments-handler-offset", "payments", handledOffset, []string{"payments"}},
	{"payments-loop-queued", "payments", byHand, []string{"payments-loop-queued"}},
	{"payments-loop-checked-queued", "payments", byHand, []string{"payments-loop-checked-queued"}},
	{"handler", "devices", asItIs, []string{"devices"}},
	{"handler-queued", "devices", asItIs, []string{"devices-queued"}},
	{"franz-handler", "devices", franzOffset, []string{"devices"}},
	{"franz-handler-queued", "devices", franzOffset, []string{"devices-queued"}},
	{"loop", "devices", byHand, []string{"loop"}},
	{"loop-checked", "devices", byHand, []string{"loop-checked"}},
	{"loop-queued", "devices", byHand, []string{"loop-queued"}},
	{"loop-checked-queued", "devices", byHand, []string{"loop-checked-queued"}},
	{"hot", "bookings", asItIs, []string{"accounts"}},
	{"adds", "bookings", byHand, []string{"adds"}},
	{"adds-checked", "bookings", byHand, []string{"adds-checked"}},
	{"adds-summed", "bookings", byHand, []string{"adds-summed"}},
	{"effect", "notices", asItIs, []string{"notices"}},
	{"effect-redis", "notices", onRedis, []string{"notices"}},
	{"notices", "notices", byHand, []string{"notices"}},
	{"notices-redis", "notices", byHand, []string{"notices-redis"}},
}

// inRedis reports whether it has its leases in Redis.
func (c contender) inRedis() bool { return strings.HasSuffix(c.name, "-redis") }

// stripped leaves out what only a debugger reads, which takes long to link. Profiles do not need
// it.
const stripped = "-ldflags=-s -w"

// overlay makes files in a folder, and says which files of the repository they replace.
type overlay func(ctx context.Context, dir string) (map[string]string, error)

// worker builds bench/worker with an overlay.
func worker(name string, overlay overlay) binary {
	return binary{name, func(ctx context.Context, dir, name string) (string, error) {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return "", err
		}
		replaced, err := overlay(ctx, folder)
		if err != nil {
			return "", err
		}
		list := filepath.Join(folder, "overlay.json")
		if err := writeOverlay(list, replaced); err != nil {
			return "", err
		}
		file := filepath.Join(folder, "worker")
		return file, command(ctx, "go", "build", stripped, "-overlay="+list, "-o", file, "./bench/worker")
	}}
}

// peers builds the programs by hand, which are a module of their own.
func peers(ctx context.Context, dir, _ string) (string, error) {
	file := filepath.Join(dir, "peers")
	return file, command(ctx, "go", "build", "-C", "bench/peers", stripped, "-o", file, ".")
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// measurement is what one run of a contender took. The contender itself says how many records
// came after its first batches, and in what time.
type measurement struct {
	Records int64
	Seconds float64

	Applied    int64 // records in all; not of the programs by hand
	Goroutines int   // the most that were seen; not of the programs by hand

	PeakMiB     float64       `json:"-"` // resident memory of the process
	Consumed    int64         `json:"-"` // records that took the CPU times, those of the first batches included
	CPU         time.Duration `json:"-"` // of the process
	DatabaseCPU time.Duration `json:"-"` // of the database's processes
}

// speed is records per second.
func (m measurement) speed() float64 { return float64(m.Records) / m.Seconds }

func (m measurement) cost() cost {
	records := float64(m.Consumed) / 100_000
	return cost{m.CPU.Seconds() / records, m.DatabaseCPU.Seconds() / records}
}

// cpu is the CPU time of process and database together, for as many records.
func (m measurement) cpu() float64 { return m.cost().Process + m.cost().Postgres }
