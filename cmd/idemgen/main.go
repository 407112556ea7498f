// Command idemgen turns a spec of Kafka events into Go, SQL and tests that apply every
// event to Postgres exactly once. This package only wires: one file per verb, the work is
// in package generator, the only package of this module that it may import.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
