// Command faults runs processes of the orders example against a real Postgres that keeps
// what it commits and a broker in this process that speaks Kafka's protocol, does to them
// what happens in production, and audits the outcome: every row, the order of effects on
// each order, dead letters, keys and the ledger, against a replay of the log that shares
// no code with the service. It exits 1 if a fault was not survived.
//
// With -soak it mixes faults at random, from a seed that it prints, for so many minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	only := flag.String("only", "", "run the faults whose name matches this regular expression")
	lanes := flag.Int("lanes", 3, "faults that run at the same time")
	list := flag.Bool("list", false, "name the faults and end")
	logs := flag.String("logs", "", "keep what the processes log in this folder")
	soak := flag.Float64("soak", 0, "minutes of faults in a random mix, in place of one after the other")
	seed := flag.Uint64("seed", 0, "repeats a soak; 0 draws one")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = refuse(flag.CommandLine, *soak)
	}
	if err == nil {
		err = run(ctx, options{pattern, *lanes, *list, *logs, *soak, *seed})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// refuse returns an error for arguments that would be ignored.
func refuse(f *flag.FlagSet, soak float64) (err error) {
	if f.NArg() > 0 {
		return fmt.Errorf("%q is no flag; -only chooses faults by their names", f.Arg(0))
	}
	f.Visit(func(given *flag.Flag) {
		if given.Name == "soak" && !(soak >= 1) {
			err = fmt.Errorf("-soak %g: a soak takes at least a minute", soak)
		}
	})
	return err
}

type options struct {
	only  *regexp.Regexp
	lanes int
	list  bool
	logs  string
	soak  float64
	seed  uint64
}

// example is the service that suffers.
const example = "examples/orders"

// programs are those of the service: the kit's own and, where there is cgo, the example's, whose
// Kafka client needs it.
var programs = []string{"scripts/faults/service"}

// libraries are the Kafka clients that processes have.
var libraries = []string{"franz"}

func run(ctx context.Context, o options) (err error) {
	chosen := choose(o.only)
	if o.list {
		for _, f := range chosen {
			fmt.Println(f.name)
		}
		return nil
	}
	if len(chosen) == 0 {
		return errors.New("no fault has such a name; -list names them")
	}
	k := &kit{logs: o.logs}
	if k.dir, err = os.MkdirTemp("", "idemgen-faults-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(k.dir)) }()
	if err := stage.Build(ctx, k.dir, append(programs, "cmd/idemgen", "scripts/faults/pinger", "scripts/faults/sender")...); err != nil {
		return err
	}
	if k.service, err = audit.ReadSpec(example); err != nil {
		return err
	}
	if o.soak > 0 {
		return k.soak(ctx, o.soak, o.seed)
	}
	return k.runAll(ctx, chosen, o.lanes)
}

// program is the path of a program that was built.
func (k *kit) program(name string) string { return filepath.Join(k.dir, name) }
