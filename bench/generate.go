package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator"
)

// generated is what runs of the generator took, in seconds.
type generated struct {
	wide         []float64 // fifty topics of ten events each
	small, large []float64 // one topic of 50 events, and of 500
}

func wideSeconds(g *generated) figure {
	return figure{value: median(g.wide), least: slices.Min(g.wide), most: slices.Max(g.wide)}
}

func eventsGrowth(g *generated) figure { return pairwise(g.large, g.small) }

func generate(rounds int) (*generated, error) {
	var out generated
	for range rounds {
		for _, run := range []struct {
			topics, events int
			took           *[]float64
		}{{50, 10, &out.wide}, {1, 50, &out.small}, {1, 500, &out.large}} {
			seconds, err := generateOnce(upserts(run.topics, run.events))
			if err != nil {
				return nil, err
			}
			*run.took = append(*run.took, seconds)
		}
	}
	return &out, nil
}

// generateOnce generates a spec into an empty folder.
func generateOnce(spec string) (seconds float64, err error) {
	dir, err := os.MkdirTemp("", "idemgen-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench\n"), 0o600); err != nil {
		return 0, err
	}
	start := time.Now()
	result, err := generator.Generate([]generator.Spec{{Path: filepath.ToSlash(filepath.Join(dir, generator.SpecFile)), Content: []byte(spec)}})
	if err != nil {
		return 0, err
	}
	seconds = time.Since(start).Seconds()
	if result.Refused {
		err = errors.New(result.Problems)
	}
	return seconds, errors.Join(err, result.Close())
}

// upserts is a spec in which every topic has a table, and every event writes a row of it.
func upserts(topics, events int) string {
	var b strings.Builder
	b.WriteString("version: 1\nconsumer: bench\npackage: bench\ntables:\n")
	for i := range topics {
		fmt.Fprintf(&b, "  t%d: {primary_key: [id], columns: {id: text, seq: bigint, a: text, b: text, c: numeric, d: timestamptz}}\n", i)
	}
	b.WriteString("topics:\n")
	for i := range topics {
		fmt.Fprintf(&b, "  topic%d:\n    idempotency_key: {source: {header: key}, window: 8d}\n    event_type: {header: type}\n    events:\n", i)
		for j := range events {
			fmt.Fprintf(&b, "      E%dx%d:\n        type: e%d\n        fields: {id: string, seq: int64, a: string, b: string, c: decimal, d: timestamp}\n", i, j, j)
			fmt.Fprintf(&b, "        write: [{upsert: t%d, if_newer: seq}]\n", i)
		}
	}
	return b.String()
}
