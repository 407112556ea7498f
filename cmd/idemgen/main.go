// Command idemgen turns a spec of Kafka events into Go, SQL and tests that apply every
// event to Postgres exactly once, and helps to operate it. This package joins the commands of
// packages spec, operators and here, which are below internal.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

func main() {
	if os.Getenv("GOGC") == "" { // a run is short: to collect less often saves a tenth of its time
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(command.Run(ctx, os.Args[1:], os.Stdout, os.Stderr, commands(os.Args[1:])...))
}
