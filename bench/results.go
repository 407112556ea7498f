package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// results are what was measured for the rows that are wanted. What needs no contender is
// measured when its first row asks.
type results struct {
	size
	contest   string                   // the conditions of the runs
	runs      map[string][]measurement // by contender, one per round
	decoders  map[string]map[string][]float64
	generated *generated
	endured   *endured
	sent      *sent
	scaled    map[string]scaled // by what there was a number of
}

// measure runs every contender that the rows need.
func measure(ctx context.Context, wanted []row, s size) (*results, error) {
	r := &results{size: s, runs: map[string][]measurement{}, decoders: map[string]map[string][]float64{}, scaled: map[string]scaled{}}
	needed := map[string]bool{}
	for _, one := range wanted {
		for _, name := range one.runs {
			needed[name] = true
		}
	}
	taking := slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return !needed[c.name] })
	if len(taking) == 0 {
		return r, nil
	}
	c, err := newContest(ctx, s, taking)
	if err != nil {
		return nil, err
	}
	r.contest = c.conditions
	fmt.Println("# " + r.contest)
	r.runs, err = c.run(ctx)
	return r, errors.Join(err, c.close())
}

// conditions are those of a row: of the contest if it needs contenders.
func (r *results) conditions(of row) string {
	if len(of.runs) > 0 {
		return r.contest
	}
	return r.size.conditions()
}

// decoder is how much faster an example's generated decoder is than encoding/json.
func (r *results) decoder(ctx context.Context, example, style string) (figure, error) {
	if r.decoders[example] == nil {
		took, err := benchmark(ctx, "./examples/"+example)
		if err != nil {
			return figure{}, err
		}
		r.decoders[example] = took
	}
	took := r.decoders[example]
	f := pairwise(took["json"], took[style])
	f.value = slices.Min(took["json"]) / slices.Min(took[style]) // other work of the machine only adds
	return f, nil
}

// generator is one of the figures of the generator.
func (r *results) generator(which func(*generated) figure) (figure, error) {
	if r.generated == nil {
		g, err := generate(r.rounds)
		if err != nil {
			return figure{}, err
		}
		r.generated = g
	}
	return which(r.generated), nil
}

// endurance is one of the figures of a long run.
func (r *results) endurance(ctx context.Context, which func(*endured) figure) (figure, error) {
	if r.endured == nil {
		e, err := endure(ctx, r.span, ahead)
		if err != nil {
			return figure{}, err
		}
		r.endured = e
	}
	return which(r.endured), nil
}
