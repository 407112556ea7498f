package main

import (
	"context"
	"encoding/json"
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

// endToEnd consumes the same records by the telemetry example from a broker into Postgres,
// with the ledger and with it compiled out, in turns. It returns seconds, and the peak
// memory of the runs with the ledger in MiB.
func endToEnd(ctx context.Context, rounds, records int) (with, without, rss []float64, err error) {
	dir, err := os.MkdirTemp("", "idemgen-bench-")
	if err != nil {
		return nil, nil, nil, err
	}
	defer os.RemoveAll(dir)
	normal, bare := filepath.Join(dir, "normal"), filepath.Join(dir, "bare")
	if err := buildWorker(ctx, normal); err != nil {
		return nil, nil, nil, err
	}
	overlay, err := withoutLedger(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := buildWorker(ctx, bare, "-overlay="+overlay); err != nil {
		return nil, nil, nil, err
	}
	for i := range 2 * rounds {
		worker := []string{normal, bare}[(i+i/2)%2] // the first of a pair alternates
		m, err := consume(ctx, worker, records)
		if err != nil {
			return nil, nil, nil, err
		}
		if worker == normal {
			with, rss = append(with, m.Seconds), append(rss, m.PeakMiB)
		} else {
			without = append(without, m.Seconds)
		}
	}
	return with, without, rss, nil
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
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o644)
}

// measurement is what a worker prints.
type measurement struct{ Seconds, PeakMiB float64 }

// consume runs one worker against a fresh broker and a fresh server.
func consume(ctx context.Context, worker string, records int) (measurement, error) {
	var m measurement
	pg, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{})
	if err != nil {
		return m, err
	}
	defer pg.Close()
	if err := pg.Migrate(ctx, filepath.Join(example, "migrations")); err != nil {
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
	cmd := exec.CommandContext(ctx, worker)
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
