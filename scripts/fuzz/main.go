// Command fuzz looks for bugs at random, for as long as it is told. Half of the time goes to the
// fuzz tests of Go in this module, one after the other: parser, decoders, keys and what else takes
// bytes from strangers. The other half goes to whole services: specs over all verbs, made at
// random, are generated, compiled, and run through all scenarios of their generated tests: batches
// of every size, duplicates, crashes. Their records are drawn at random, too, and the oracle says
// what must become of them.
//
// A spec that fails is made smaller as long as it fails, and printed with its number.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/scripts/fuzz/randspec"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	long := flag.Duration("for", 10*time.Minute, "how long to look")
	seed := flag.Uint64("seed", 0, "the number of the first spec; 0 draws one")
	only := flag.String("only", "", "functions or services; empty for both")
	flag.Parse()
	share := *long / 2
	if *only != "" {
		share = *long
	}
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000_000)
	}
	switch *only {
	case "functions":
		return functions(ctx, share)
	case "services":
		return services(ctx, *seed, share)
	case "":
		return errors.Join(functions(ctx, share), services(ctx, *seed, share))
	}
	return fmt.Errorf("-only %s: it is functions or services", *only)
}

// services tries one spec after the other until the time is over, or one is broken.
func services(ctx context.Context, seed uint64, long time.Duration) error {
	fmt.Printf("whole services for %v, from number %d\n", long, seed)
	end := time.Now().Add(long)
	n := 0
	for ; time.Now().Before(end); n++ {
		spec := randspec.New(seed + uint64(n))
		err := try(ctx, spec.String(), seed+uint64(n))
		if errors.Is(err, errBroken) {
			return fmt.Errorf("spec %d is broken; to see it again: go run ./scripts/fuzz -only services -for 1s -seed %[1]d\n%w",
				seed+uint64(n), smallest(ctx, spec, seed+uint64(n), err))
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d services are whole\n", n)
	return nil
}

// draws is how many logs each service is run with, beside that of its generated tests.
const draws = 3

// try runs the service of a spec: with the records of its tests, then with such as are drawn.
func try(ctx context.Context, spec string, seed uint64) (err error) {
	s, err := build(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if err := s.test(ctx, 0); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range draws {
		if err := s.test(ctx, 1+r.Uint64N(1<<32)); err != nil {
			return err
		}
	}
	return nil
}

// smallest takes parts out of a broken spec as long as what is left is broken, for some minutes.
func smallest(ctx context.Context, spec *randspec.Spec, seed uint64, broken error) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		found := false
		for smaller := range spec.Smaller() {
			if time.Now().After(end) {
				break
			}
			if err := try(ctx, smaller.String(), seed); errors.Is(err, errBroken) {
				spec, broken, found = smaller, err, true
				break
			}
		}
		if !found {
			break
		}
	}
	return fmt.Errorf("%w\n%s", broken, spec)
}
