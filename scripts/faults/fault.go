package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// kit is what all faults share.
type kit struct {
	dir     string // of the programs
	logs    string
	service *model.Service
}

// fault is one way in which things go wrong.
type fault struct {
	name string
	// do makes it happen, under load, and says what was done and how often. Its error means
	// that the service did not survive.
	do func(ctx context.Context, t *theatre) (did string, err error)
	// alone is do for a fault of another service than the example, on a stage of its own.
	alone func(ctx context.Context, k *kit) (*outcome, error)
	// cannot says why the fault cannot be made here; "" if it can.
	cannot   func() string
	users    *usersService // that suffers in place of the orders example
	postgres idemtest.PostgresOptions
	disk     string        // size of a file system of the server's own, such as "96m"; "" is none
	clock    bool          // the server's clock can be moved
	timed    bool          // a time is judged: no other fault runs beside it
	proxied  bool          // processes reach Postgres through a proxy
	protocol string        // in which the group shares its partitions out; "" is the classic one
	kept     bool          // the broker keeps its log for when it comes back
	paid     audit.Handler // what the handler must do, if not what the example's does
}

// all are the faults, by family.
func all() []fault {
	return slices.Concat(processFaults, stopFaults, handlerFaults, postgresFaults, failoverFaults, kafkaFaults, topicFaults, dataFaults, clockFaults, restoreFaults, windowFaults, redisFaults, takeoverFaults)
}

func choose(only *regexp.Regexp) []fault {
	return slices.DeleteFunc(all(), func(f fault) bool { return !only.MatchString(f.name) })
}

// outcome is what became of a fault.
type outcome struct {
	name     string
	reason   string // why it was not run
	did      string
	records  int
	stall    time.Duration
	findings []audit.Finding
	err      error
}

func (o *outcome) survived() bool { return o.err == nil && len(o.findings) == 0 }

// limit is how long one fault may take.
const limit = 7 * time.Minute

// runAll runs faults in lanes, the timed ones before, and prints a line for each, in their order.
func (k *kit) runAll(ctx context.Context, faults []fault, lanes int) error {
	done := make([]chan *outcome, len(faults))
	next := make(chan int)
	var running sync.WaitGroup
	for i := range done {
		done[i] = make(chan *outcome, 1)
	}
	for range lanes {
		running.Go(func() {
			for i := range next {
				done[i] <- k.run(ctx, faults[i])
			}
		})
	}
	go func() {
		for i, f := range faults {
			if f.timed {
				done[i] <- k.run(ctx, f)
			}
		}
		for i, f := range faults {
			if !f.timed {
				next <- i
			}
		}
		close(next)
	}()
	ran, survived := 0, 0
	for i := range done {
		o := <-done[i]
		o.print()
		if o.reason == "" {
			ran++
			if o.survived() {
				survived++
			}
		}
	}
	running.Wait()
	fmt.Printf("faults: %d run, %d survived\n", ran, survived)
	if survived < ran {
		return errors.New("not every fault was survived")
	}
	return ctx.Err()
}

// run makes one fault on a stage of its own, waits until the service has caught up, ends
// it and audits.
func (k *kit) run(ctx context.Context, f fault) (o *outcome) {
	o = &outcome{name: f.name}
	if f.cannot != nil {
		if o.reason = f.cannot(); o.reason != "" {
			return o
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if f.alone != nil {
		made, err := f.alone(ctx, k)
		if made == nil {
			made = &outcome{}
		}
		made.name, made.err = f.name, err
		return made
	}
	t, err := k.open(ctx, f)
	if err != nil {
		o.err = err
		return o
	}
	defer func() {
		o.err = errors.Join(o.err, t.close(), k.keep(f.name, t))
	}()
	if o.did, o.err = f.do(ctx, t); o.err == nil {
		o.err = t.spoken(ctx)
	}
	if o.err == nil {
		o.findings = t.settle(ctx)
	}
	o.stall = t.monitor.end()
	if o.err == nil {
		o.err = t.stopAll()
	}
	found, err := t.audit(ctx)
	o.findings = append(o.findings, found...)
	o.err = errors.Join(o.err, err)
	o.records = len(t.messages())
	return o
}

// keep writes down what the processes logged.
func (k *kit) keep(name string, t *theatre) error {
	if k.logs == "" {
		return nil
	}
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	for i, p := range t.started {
		if err := os.WriteFile(filepath.Join(k.logs, fmt.Sprintf("%s.%02d.log", base, i)), p.Log.All(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shownFindings is how many findings of one fault are printed.
const shownFindings = 5

func (o *outcome) print() {
	if o.reason != "" {
		fmt.Printf("not run   %s: %s\n", o.name, o.reason)
		return
	}
	verdict := "survived"
	if !o.survived() {
		verdict = "FAILED  "
	}
	fmt.Printf("%s  %s: %s; %d records, %d lost, %d doubled", verdict, o.name, o.did, o.records,
		audit.Count(o.findings, audit.Lost), audit.Count(o.findings, audit.Doubled))
	for _, k := range []audit.Kind{audit.Reordered, audit.Altered, audit.Broken, audit.Stuck} {
		if n := audit.Count(o.findings, k); n > 0 {
			fmt.Printf(", %d %s", n, k)
		}
	}
	fmt.Printf(", longest stall %.1f s\n", o.stall.Seconds())
	for i, f := range o.findings {
		if i == shownFindings {
			fmt.Printf("          and %d more\n", len(o.findings)-i)
			break
		}
		fmt.Printf("          %v\n", f)
	}
	if o.err != nil {
		fmt.Printf("          %v\n", strings.ReplaceAll(o.err.Error(), "\n", "\n          "))
	}
}
