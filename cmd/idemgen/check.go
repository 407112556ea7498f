package main

import (
	"context"
	"fmt"
)

// check prints what generate would change.
func check(ctx context.Context, c *call) int {
	result, code := c.load(ctx, "check")
	if result == nil {
		return code
	}
	defer result.Close()
	diff := result.Diff()
	if diff == "" {
		return done
	}
	fmt.Fprint(c.stdout, diff)
	fmt.Fprintln(c.stderr, "generated files differ from the spec: run idemgen generate")
	return different
}
