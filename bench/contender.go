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
	name    string
	log     string // what it consumes: one of logs
	program func(ctx context.Context, dir, name string) (file string, err error)
	args    []string
}

// contenders are all that rows compare. Those of one log must leave the same rows in its table.
var contenders = []contender{
	{"offset", "readings", worker(asItIs), []string{"readings"}},
	{"no-ledger", "readings", worker(withoutLedger), []string{"readings"}},
	{"header", "readings", worker(withKey(headerKey)), []string{"readings"}},
	{"same-partition", "readings", worker(withKey(headerKeySamePartition)), []string{"readings"}},
	{"unchecked", "readings", peers, []string{"unchecked"}},
	{"checked", "readings", peers, []string{"checked"}},
	{"handler", "devices", worker(asItIs), []string{"devices"}},
	{"loop", "devices", peers, []string{"loop"}},
	{"loop-checked", "devices", peers, []string{"loop-checked"}},
	{"loop-queued", "devices", peers, []string{"loop-queued"}},
	{"hot", "bookings", worker(asItIs), []string{"accounts"}},
	{"adds", "bookings", peers, []string{"adds"}},
	{"adds-checked", "bookings", peers, []string{"adds-checked"}},
	{"adds-summed", "bookings", peers, []string{"adds-summed"}},
	{"effect", "notices", worker(asItIs), []string{"notices"}},
	{"effect-redis", "notices", worker(withRedis), []string{"notices"}},
	{"notices", "notices", peers, []string{"notices"}},
	{"notices-redis", "notices", peers, []string{"notices-redis"}},
}

// inRedis reports whether it has its leases in Redis.
func (c contender) inRedis() bool { return strings.HasSuffix(c.name, "-redis") }

// worker builds bench/worker with an overlay: files of the repository that are replaced.
func worker(overlay func(ctx context.Context, dir string) (map[string]string, error)) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, dir, name string) (string, error) {
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
		return file, command(ctx, "go", "build", "-overlay="+list, "-o", file, "./bench/worker")
	}
}

// peers builds the programs by hand, which are a module of their own.
func peers(ctx context.Context, dir, _ string) (string, error) {
	file := filepath.Join(dir, "peers")
	return file, command(ctx, "go", "build", "-C", "bench/peers", "-o", file, ".")
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
	CPU         time.Duration `json:"-"` // of the process
	DatabaseCPU time.Duration `json:"-"` // of the database's processes
}

// speed is records per second.
func (m measurement) speed() float64 { return float64(m.Records) / m.Seconds }
