// Command bench measures speed and memory, mostly as ratios of interleaved runs on this machine:
// docs/benchmarks.md says what each row is. Absolute times depend on the machine and are not
// results; each run's are on standard error, beside. What misses its goal is printed like
// everything else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// smallest is how many records a run must have to be a run.
const smallest = 10_000

// size says how much is measured.
type size struct {
	rounds   int    // interleaved runs of each contender
	readings int    // records that are inserted in a run
	handled  int    // records of a run of P12 and P13; a fifth of them are of P14
	copies   int    // records of a run that come twice
	profiles string // folder for CPU profiles; "" is none

	span time.Duration // how long P10c runs
}

// conditions are those that every row depends on.
func (s size) conditions() string {
	return fmt.Sprintf("%d cores; %d rounds of %d readings and payments, %d device readings and bookings, %d notices",
		runtime.NumCPU(), s.rounds, s.readings, s.handled, s.handled/5)
}

func main() {
	var s size
	var o output
	only := flag.String("only", "", "rows to measure, by the beginnings of their names: P1b,P12")
	windows := flag.String("sizes", "", "instead of rows: what tables, WAL and memory take, with so many keys in a window: 1000000,10000000; with -only same.v1, anywhere.v1 or anywhere.v1-ordered, windows of those keys")
	conf := flag.String("conf", "", "of -sizes: settings of the server: shared_buffers=128MB,debug_io_direct=data")
	flag.IntVar(&s.rounds, "rounds", 5, "interleaved rounds of the runs that are compared")
	flag.IntVar(&s.readings, "records", 500_000, "records of a run of P1 and P10, and of all rows of payments")
	flag.IntVar(&s.handled, "handled", 50_000, "records of a run of other rows of P12 and P13, and five times those of P14")
	flag.DurationVar(&s.span, "for", time.Minute, "how long P10c runs at full speed")
	claims := flag.Bool("claims", false, "instead of rows: what the database needs to insert a key, in tables of several shapes and sizes")
	flag.StringVar(&o.chart, "chart", "", "file for an SVG of the main rows that are measured; with a file of -out as argument, of its rows, and nothing is measured")
	flag.StringVar(&o.rows, "out", "", "file for the rows that are measured, as lines of JSON")
	flag.StringVar(&o.compare, "compare", "", "file of -out of another run, beside which the rows are printed; with a second file as argument, the rows of that file, and nothing is measured")
	flag.StringVar(&s.profiles, "cpuprofile", "", "folder for profiles of CPU time and allocations of each run; profiled figures are no results")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if *claims {
		if err := measureClaims(ctx, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, *only, *windows, *conf, o, s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only, windows, conf string, o output, s size) error {
	if windows != "" {
		n, err := numbers(windows)
		if err != nil {
			return err
		}
		own := map[string]string{}
		for setting := range strings.SplitSeq(conf, ",") {
			if name, value, ok := strings.Cut(setting, "="); ok {
				own[name] = value
			}
		}
		return measureSizes(ctx, os.Stdout, own, 20_000, n, only)
	}
	if flag.NArg() > 0 {
		return o.files(flag.Args())
	}
	if s.rounds < 1 || s.readings < smallest || s.handled < smallest {
		return fmt.Errorf("-rounds must be 1 or more, -records and -handled %d or more: the first batches of a run do not count", smallest)
	}
	wanted, err := selected(rows, only)
	if err != nil {
		return err
	}
	return o.write(ctx, wanted, s)
}

// numbers reads numbers with commas between them.
func numbers(list string) (all []int64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1000 {
			return nil, fmt.Errorf("-sizes: %q is no number of 1000 or more", text)
		}
		all = append(all, n)
	}
	return all, nil
}
