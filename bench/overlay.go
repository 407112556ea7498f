package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// nothing replaces nothing.
func nothing(context.Context, string) (map[string]string, error) { return nil, nil }

// withoutLedger sends a batch without its ledger row: the same pipeline without any duplicate
// check.
func withoutLedger(_ context.Context, dir string) (map[string]string, error) {
	const head = "append([]pipeline.Statement{"
	return changed(dir, "runtime/internal/engine/transaction.go", head+"t.o.chain.Append(a.Row)}", head+"}")
}

// The keys that a spec can have: the record's offset, which the specs have, and others.
const (
	offsetKey              = "    idempotency_key: {source: {record: offset}}\n"
	offsetKeyUnique        = "    assume: [unique]\n" + offsetKey // a handler needs the promise
	headerKey              = "    idempotency_key: {source: {header: " + keyHeader + "}, window: 1h}\n"
	headerKeySamePartition = "    record_key: {" + recordKey + ": string}\n" +
		"    assume: [ordered, copies_keep_record_key]\n" +
		"    idempotency_key: {source: {header: " + keyHeader + "}, window: 1h, copies: same_partition}\n"
)

// recordKey stands for the field that a workload's record key holds.
const recordKey = "RECORD_KEY"

// keyed are the workloads that exist with several keys, and the field of their record key.
var keyed = map[string]string{"bench/readings": "device_id", "bench/payments": "account_id"}

// withKey replaces the code of every keyed workload by code that is generated for another key.
func withKey(key string) overlay {
	return func(ctx context.Context, dir string) (map[string]string, error) {
		replaced := map[string]string{}
		for folder, field := range keyed {
			files, err := regenerated(ctx, dir, folder, offsetKey, strings.ReplaceAll(key, recordKey, field))
			if err != nil {
				return nil, err
			}
			maps.Copy(replaced, files)
		}
		return replaced, nil
	}
}

// withHandler replaces the step of bench/payments by its handler, and the key by another one.
func withHandler(key string) overlay {
	return func(ctx context.Context, dir string) (map[string]string, error) {
		const step = "        write:\n          - insert: payments\n"
		replaced, err := regenerated(ctx, dir, "bench/payments", offsetKey, key, step, "        handle: true\n")
		if err != nil {
			return nil, err
		}
		service, err := changed(dir, "bench/payments/service.go", "NewConsumer(db, opts...)", "NewConsumer(db, Queueing{}, opts...)")
		maps.Copy(replaced, service)
		return replaced, err
	}
}

// withRedis gives bench/notices a store of leases in Redis.
func withRedis(_ context.Context, dir string) (map[string]string, error) {
	return changed(dir, "bench/notices/service.go", "Service{}, opts...", "Service{}, append(opts, idem.WithLeases(Redis()))...")
}

// withFranz has the worker read Kafka by the client without cgo.
func withFranz(_ context.Context, dir string) (map[string]string, error) {
	return changed(dir, "bench/worker/main.go", "runtime/confluent", "runtime/franz")
}

// together is what several overlays replace. No two of them may replace one file.
func together(overlays ...overlay) overlay {
	return func(ctx context.Context, dir string) (map[string]string, error) {
		replaced := map[string]string{}
		for _, o := range overlays {
			files, err := o(ctx, dir)
			if err != nil {
				return nil, err
			}
			maps.Copy(replaced, files)
		}
		return replaced, nil
	}
}

// changed replaces a file by itself with other texts in it: pairs of an old and a new one.
func changed(dir, file string, texts ...string) (map[string]string, error) {
	src, err := replaceOnce(file, texts...)
	if err != nil {
		return nil, err
	}
	own, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	replaced := map[string]string{own: filepath.Join(dir, filepath.Base(file))}
	return replaced, os.WriteFile(replaced[own], []byte(src), 0o644)
}

// regenerated replaces a folder's generated code by what its spec gives with other texts in it:
// pairs of an old and a new one.
func regenerated(ctx context.Context, dir, folder string, texts ...string) (map[string]string, error) {
	const spec = "idemgen.yaml"
	src, err := replaceOnce(filepath.Join(folder, spec), texts...)
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, filepath.Base(folder))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, spec), []byte(src), 0o644); err != nil {
		return nil, err
	}
	if err := command(ctx, "go", "run", "./cmd/idemgen", "generate", dir); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil {
		return nil, err
	}
	replaced := map[string]string{}
	for _, file := range files {
		own, err := filepath.Abs(filepath.Join(folder, filepath.Base(file)))
		if err != nil {
			return nil, err
		}
		replaced[own] = file
	}
	return replaced, nil
}

// replaceOnce is a file's content with new texts in place of old ones, which it must hold once
// each.
func replaceOnce(file string, texts ...string) (string, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := string(src)
	for i := 0; i < len(texts); i += 2 {
		if n := strings.Count(text, texts[i]); n != 1 {
			return "", fmt.Errorf("%s holds %d times, not once, the text %q", file, n, texts[i])
		}
		text = strings.Replace(text, texts[i], texts[i+1], 1)
	}
	return text, nil
}

// writeOverlay writes the list of replaced files for go build -overlay.
func writeOverlay(file string, replaced map[string]string) error {
	b, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
