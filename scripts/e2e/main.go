// Command e2e runs the product with the real things on this machine: Apache Kafka, Kafka Connect
// with Debezium, Apicurio's registry of schemas, Postgres and Redis. It starts them itself, prints
// a line for each check, and exits 1 if one failed.
//
// With -short it leaves Connect and the registry out, and what takes long.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	short := flag.Bool("short", false, "without Kafka Connect and the registry, and shorter")
	only := flag.String("only", "", "run the checks whose name matches this regular expression")
	list := flag.Bool("list", false, "name the checks and end")
	logs := flag.Bool("logs", false, "print the servers' logs when a check fails")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("%q is no flag; -only chooses checks by their names", flag.Arg(0))
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what clients in this process say of brokers that are killed
	if err == nil {
		err = run(ctx, choose(pattern, *short), options{*short, *list, *logs})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

type options struct{ short, list, logs bool }

// check is one thing that must hold.
type check struct {
	name    string
	connect bool // with Kafka Connect and Debezium
	long    bool // not in the short form
	beside  bool // waits more than it works: it runs beside those before it
	do      func(ctx context.Context, k *kit) (did string, err error)
}

// all are the checks. Those with the Connect of the kit come late: it starts meanwhile.
var all = slices.Concat(serviceChecks, topicChecks, formatChecks, relayChecks, mirrorChecks, debeziumChecks, chainChecks)

func choose(only *regexp.Regexp, short bool) (chosen []check) {
	for _, c := range all {
		if only.MatchString(c.name) && !(short && (c.connect || c.long)) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// limit is how long one check may take.
const limit = 4 * time.Minute

func run(ctx context.Context, chosen []check, o options) (err error) {
	if o.list {
		for _, c := range chosen {
			fmt.Println(c.name)
		}
		return nil
	}
	if len(chosen) == 0 {
		return errors.New("no check has such a name; -list names them")
	}
	k, err := open(ctx, o, chosen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	plays := make([]func() (outcome, error), len(chosen))
	for i, c := range chosen {
		if c.beside {
			plays[i] = begin(func() (outcome, error) { return play(ctx, k, c), nil })
		}
	}
	passed := 0
	for i, c := range chosen {
		if plays[i] == nil {
			plays[i] = func() (outcome, error) { return play(ctx, k, c), nil }
		}
		o, _ := plays[i]() // it has none
		if k.print(c, o) {
			passed++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Printf("e2e: %d checks, %d passed\n", len(chosen), passed)
	if passed < len(chosen) {
		return errors.New("not every check passed")
	}
	return nil
}

// outcome is what became of a check.
type outcome struct {
	did  string
	err  error
	took time.Duration
}

func play(ctx context.Context, k *kit, c check) outcome {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	did, err := c.do(ctx, k)
	return outcome{did, err, time.Since(start)}
}

// print prints the line of a check, and reports whether it passed.
func (k *kit) print(c check, o outcome) bool {
	if o.err == nil {
		fmt.Printf("passed  %s: %s (%.1f s)\n", c.name, o.did, o.took.Seconds())
		return true
	}
	fmt.Printf("FAILED  %s (%.1f s)\n        %s\n", c.name, o.took.Seconds(), strings.ReplaceAll(o.err.Error(), "\n", "\n        "))
	if k.logs {
		fmt.Println(k.serverLogs())
	}
	return false
}
