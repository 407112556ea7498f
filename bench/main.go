// Command bench measures speed and memory as ratios of interleaved runs on this machine.
// Absolute times depend on the machine and are not printed as results. What is slower than
// its goal is printed like everything else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
)

func main() {
	rounds := flag.Int("rounds", 5, "interleaved rounds of the end-to-end runs")
	records := flag.Int("records", 150_000, "records of an end-to-end run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, *rounds, *records); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds, records int) error {
	r, err := endToEnd(ctx, rounds, records)
	if err != nil {
		return err
	}
	bare := r.bare.seconds()
	fmt.Printf("%-28s %5.2f   speed, median of %d interleaved pairs of %d records, fsync off; goal >= 0.95\n",
		"P1 offset keys/no check", median(ratios(bare, r.offsets.seconds())), rounds, records)
	fmt.Printf("%-28s %5.2f   the same with keys from a header, which are stored; no goal\n",
		"P1b header keys/no check", median(ratios(bare, r.headers.seconds())))
	ratios7, err := decoders(ctx)
	if err != nil {
		return err
	}
	for _, d := range ratios7 {
		fmt.Printf("%-28s %5.2f   speed, %s; goal >= 5\n", "P7 decoder/encoding-json", d.ratio, d.what)
	}
	for _, k := range []struct {
		name string
		*rival
	}{{"P10 peak RSS, offset keys", r.offsets}, {"P10b peak RSS, header keys", r.headers}} {
		p8, err := generate(rounds)
		if err != nil {
			return err
		}
		fmt.Printf("%-28s %5.2f   wall clock of 50 topics of 10 events; goal <= 0.3\n", "P8 generator 50x10 seconds", p8.seconds)
		fmt.Printf("%-28s %5.1f   times as long as 50 events; goal <= 10, which is linear\n", "P8 500 events in one topic", p8.growth)
		fmt.Printf("%-28s %5.1f   MiB, the largest of %d runs at 4 partitions; goal <= 64\n", k.name, k.peak(), rounds)
	}
	return nil
}

// ratios divides pairwise.
func ratios(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return out
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
