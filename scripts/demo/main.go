// Command demo shows the orders example at work on this machine: a real Postgres, a broker
// in this process that speaks Kafka's protocol, and two processes of the generated service. With
// KAFKA=real the broker is Apache Kafka, which is fetched, and needs Java.
//
// In a terminal it is a screen: records come, and keys kill, freeze, cut, repeat and poison.
// Elsewhere, or with -plain, it is a text: one process is killed twice, with every kind of
// duplicate in the log. Both end with an audit against a replay of the log that shares no code
// with the runtime, and exit 1 if a record was lost or took effect twice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/idemgen/idemgen/scripts/internal/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	text := flag.Bool("plain", !screens(), "text, in place of the screen")
	file := flag.String("record", "", "play the screen by itself, and draw it in this `file.svg`")
	flag.Parse()
	play := playOnScreen
	switch {
	case *file != "":
		play = func(ctx context.Context) error { return film(ctx, *file) }
	case *text:
		play = playHalves
	}
	err := play(ctx)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

const (
	topic      = shop.Topic
	partitions = 4
)

// service is the orders example with a group that misses a process soon.
const service = "scripts/faults/service"

// playOnScreen shows what happens on this terminal.
func playOnScreen(ctx context.Context) error {
	return playShow(ctx, func(s *show) error {
		address, err := pages(ctx, s.postgres.URL())
		if err != nil {
			return err
		}
		s.board.change(func(s *state) { s.pages = address })
		return onTerminal(ctx, s.run)
	})
}

// playShow opens a show, and audits after it.
func playShow(ctx context.Context, play func(*show) error) (err error) {
	step("%s", servedBy())
	step("building idemgen and the orders example")
	built, err := build(ctx, service)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built.dir)) }()

	step("starting Postgres and the broker")
	s, err := openShow(ctx, built)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := play(s); err != nil {
		return err
	}
	step("audit: the log is replayed by an interpreter of the spec")
	return s.judge(ctx)
}

func step(format string, args ...any) { fmt.Printf("\n> "+format+"\n", args...) }
