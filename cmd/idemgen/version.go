package main

import (
	"context"
	"fmt"
	"runtime/debug"
)

// version prints the module version that the binary was built from.
func version(_ context.Context, c *call) int {
	if rest, code, ok := c.parse("version", nil); !ok || len(rest) > 0 {
		if ok {
			code = c.fail(fmt.Errorf("version takes no arguments"))
		}
		return code
	}
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
	}
	fmt.Fprintf(c.stdout, "idemgen %s\n", v)
	return done
}
