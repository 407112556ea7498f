package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

var benchLine = regexp.MustCompile(`(?m)^BenchmarkDecode/(\w+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`)

// benchmark runs an example's BenchmarkDecode in interleaved rounds and returns the times of each
// style: json, borrowed, owned.
func benchmark(ctx context.Context, pkg string) (map[string][]float64, error) {
	took := map[string][]float64{}
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
			took[f[1]] = append(took[f[1]], ns)
		}
	}
	return took, nil
}
