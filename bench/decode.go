package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

type decoderRatio struct {
	what  string
	ratio float64
}

// decoders compares the examples' generated decoders with encoding/json: how a batch
// decodes (borrowed values, nothing allocated), and how a handler gets its event (owned).
func decoders(ctx context.Context) ([]decoderRatio, error) {
	var out []decoderRatio
	for _, d := range []struct{ pkg, what string }{
		{"orders", "an order of 265 bytes with 2 items"}, {"telemetry", "a nested reading of 136 bytes"},
	} {
		least, err := benchmark(ctx, "./examples/"+d.pkg)
		if err != nil {
			return nil, err
		}
		for _, style := range []string{"borrowed", "owned"} {
			out = append(out, decoderRatio{d.what + ", " + style, least["json"] / least[style]})
		}
	}
	return out, nil
}

var benchLine = regexp.MustCompile(`(?m)^BenchmarkDecode/(\w+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`)

// benchmark runs BenchmarkDecode in interleaved rounds and returns the least time of each style.
func benchmark(ctx context.Context, pkg string) (map[string]float64, error) {
	least := map[string]float64{}
	for range 6 {
		out, err := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=^BenchmarkDecode$", "-benchtime=100ms", pkg).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("go test -bench %s: %w\n%s", pkg, err, out)
		}
		found := benchLine.FindAllStringSubmatch(string(out), -1)
		if len(found) != 3 {
			return nil, fmt.Errorf("%s: want 3 results, got %d:\n%s", pkg, len(found), out)
		}
		for _, f := range found {
			ns, err := strconv.ParseFloat(f[2], 64)
			if err != nil {
				return nil, err
			}
			least[f[1]] = min(ns, cmp.Or(least[f[1]], ns))
		}
	}
	return least, nil
}
