// Command demo plays both services of this example on one machine, with a sender that dies on the
// way, and holds what the directory has against what accounts has. By default a relay sends the
// events; with -debezium it is Debezium, on a real Kafka.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"time"
)

// patience is how long the demo waits for what must happen.
const patience = 90 * time.Second

func main() {
	debezium := flag.Bool("debezium", false, "send by Debezium, on a real Kafka, instead of a relay")
	verbose := flag.Bool("v", false, "show what the services log")
	flag.Parse()
	if !*verbose {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *debezium)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, debezium bool) (err error) {
	w := &world{debezium: debezium}
	defer func() {
		if closing := w.close(); err == nil {
			err = closing
		}
	}()
	if err := w.open(ctx); err != nil {
		return err
	}
	made, err := w.play(ctx, 0, half)
	if err != nil {
		return err
	}
	crash, err := w.sender.crash(ctx)
	if err != nil {
		return err
	}
	fmt.Println("  sender     " + crash)
	again, err := w.play(ctx, half, 2*half)
	if err != nil {
		return err
	}
	made.add(again)
	fmt.Printf("  accounts   %d users created, %d renamed, %d deleted: %d events, each in the transaction of its change\n",
		made.created, made.renamed, made.deleted, made.events())
	return w.audit(ctx, made)
}
