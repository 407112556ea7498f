package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// chainChecks are the example of an outbox from end to end, as its README has it.
var chainChecks = []check{
	{name: "examples/users by relays", do: chainBy()},
	{name: "examples/users by Debezium", long: true, do: chainBy("-debezium")},
}

// chainBy runs the example, which judges itself.
func chainBy(flags ...string) func(context.Context, *kit) (string, error) {
	return func(ctx context.Context, k *kit) (string, error) {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, k.program("demo"), flags...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if last := lines[len(lines)-1]; err != nil || last != "every event took effect once" {
			return "", fmt.Errorf("%w:\n%s%s", err, out, &stderr)
		}
		return strings.Join(strings.Fields(lines[1]), " "), nil
	}
}
