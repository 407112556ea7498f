package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	topic      = "telemetry.v1"
	partitions = 4
	example    = "examples/telemetry"
)

// rival is one of the builds that consume the same records.
type rival struct {
	bin        string
	migrations string
	runs       []measurement
}

// seconds are what the runs took.
func (r *rival) seconds() (out []float64) {
	for _, m := range r.runs {
		out = append(out, m.Seconds)
	}
	return out
}

// peak is the largest memory of a run, in MiB.
func (r *rival) peak() (most float64) {
	for _, m := range r.runs {
		most = max(most, m.PeakMiB)
	}
	return most
}

// rivals are the builds of the telemetry example: as it is, its keys being offsets; with keys
// from a header, which are stored; and as it is with the ledger compiled out.
type rivals struct{ offsets, headers, bare *rival }

// endToEnd consumes the same records from a broker into Postgres by each rival in turn.
func endToEnd(ctx context.Context, rounds, records int) (*rivals, error) {
	dir, err := os.MkdirTemp("", "idemgen-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r, err := buildRivals(ctx, dir)
	if err != nil {
		return nil, err
	}
	all := []*rival{r.offsets, r.headers, r.bare}
	for round := range rounds {
		for i := range all { // another one is the first of each round
			one := all[(round+i)%len(all)]
			m, err := one.consume(ctx, records)
			if err != nil {
				return nil, err
			}
			one.runs = append(one.runs, m)
		}
	}
	return r, nil
}

func buildRivals(ctx context.Context, dir string) (*rivals, error) {
	own := filepath.Join(example, "migrations")
	r := &rivals{
		offsets: &rival{bin: filepath.Join(dir, "offsets"), migrations: own},
		headers: &rival{bin: filepath.Join(dir, "headers"), migrations: filepath.Join(dir, "spec", "migrations")},
		bare:    &rival{bin: filepath.Join(dir, "bare"), migrations: own},
	}
	bare, err := withoutLedger(dir)
	if err != nil {
		return nil, err
	}
	headers, err := withHeaderKeys(ctx, dir)
	if err != nil {
		return nil, err
	}
	return r, errors.Join(
		buildWorker(ctx, r.offsets.bin),
		buildWorker(ctx, r.headers.bin, "-overlay="+headers),
		buildWorker(ctx, r.bare.bin, "-overlay="+bare),
	)
}

func buildWorker(ctx context.Context, out string, flags ...string) error {
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./bench/worker")...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// withoutLedger writes an overlay in which a batch is sent without its ledger row: the same
// pipeline without any duplicate check.
func withoutLedger(dir string) (string, error) {
	const head = "head := []statement{o.appendStatement(a.row)}"
	file, err := filepath.Abs("runtime/send.go")
	if err != nil {
		return "", err
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if strings.Count(string(src), head) != 1 {
		return "", fmt.Errorf("%s does not hold the line that adds the ledger row", file)
	}
	changed := filepath.Join(dir, "send.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(src), head, "head := []statement{}", 1)), 0o644); err != nil {
		return "", err
	}
	return writeOverlay(filepath.Join(dir, "bare.json"), map[string]string{file: changed})
}

func writeOverlay(file string, replace map[string]string) (string, error) {
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, b, 0o644)
}

// measurement is what a worker prints.
type measurement struct{ Seconds, PeakMiB float64 }

// consume runs a rival against a fresh broker and a fresh server.
func (r *rival) consume(ctx context.Context, records int) (measurement, error) {
	var m measurement
	pg, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{})
	if err != nil {
		return m, err
	}
	defer pg.Close()
	if err := pg.Migrate(ctx, r.migrations); err != nil {
		return m, err
	}
	broker, err := idemtest.StartBroker(map[string]int32{topic: partitions})
	if err != nil {
		return m, err
	}
	defer broker.Close()
	if err := produce(ctx, broker, records); err != nil {
		return m, err
	}
	cmd := exec.CommandContext(ctx, r.bin)
	cmd.Env = append(os.Environ(), "KAFKA_BROKERS="+broker.Addr(), "DATABASE_URL="+pg.URL(), fmt.Sprintf("RECORDS=%d", records))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return m, fmt.Errorf("worker: %w", err)
	}
	return m, json.Unmarshal(out, &m)
}

func produce(ctx context.Context, broker *idemtest.Broker, records int) error {
	const chunk, devices = 5000, 20_000
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for from := 0; from < records; from += chunk {
		var batch []*wire.Message
		for i := from; i < min(from+chunk, records); i++ {
			device := i * 7919 % devices
			batch = append(batch, &wire.Message{
				Topic: topic, Partition: int32(device % partitions), Key: fmt.Appendf(nil, "d-%06d", device), Time: at,
				Headers: []wire.Header{{Name: keyHeader, Value: fmt.Appendf(nil, "reading-%012d", i)}},
				Value: fmt.Appendf(nil, `{"device_id":"d-%06d","seq":%d,"ts":%d,"values":{"temperature":%d.5,"humidity":61.25,"battery":%d},"firmware":"2.14.1"}`,
					device, i, at.UnixMilli()+int64(i), 15+i%20, i%100),
			})
		}
		if err := broker.Produce(ctx, batch...); err != nil {
			return err
		}
	}
	return nil
}
