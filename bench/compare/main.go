// Command compare runs ways of applying Kafka events to Postgres under the same faults, and prints
// the table of docs/compare.md: what each way lost and doubled. It needs Go only: Postgres and the
// broker are the kit's.
//
//	go run ./bench/compare          prints the table
//	go run ./bench/compare -check   also fails if docs/compare.md has another one
//	go run ./bench/compare -write   also writes it there
//
// A way is a process of this program that is killed, frozen and cut off from outside, so its file
// has the code that people write and nothing else. The faults strike at one event, not at a time,
// and the ways take one record at a time, so the numbers are the same in each run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const pageFile = "docs/compare.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := serveIfChild(ctx)
	if err == errNoChild {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	check := flag.Bool("check", false, "fail if "+pageFile+" has another table")
	write := flag.Bool("write", false, "write the table into "+pageFile)
	logs := flag.String("logs", "", "keep what the processes log in this folder")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", flag.Arg(0))
	}
	s, err := open(ctx, ".", *logs)
	if err != nil {
		return err
	}
	defer s.close()
	table, err := s.playAll(ctx)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if !*check && !*write {
		return nil
	}
	text, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	before, old, after, err := tableOf(string(text))
	switch {
	case err != nil || old == table:
		return err
	case *write:
		return os.WriteFile(pageFile, []byte(before+table+after), 0o644)
	}
	return errors.New(pageFile + " has another table: go run ./bench/compare -write")
}
