package main

import "slices"

// figure is what a row prints: a value, and the least and the most that were seen.
type figure struct {
	value, least, most float64

	cpu          float64 // for a ratio of speeds: what it would be by CPU time; else 0
	ours, theirs cost    // for a ratio of speeds, medians
}

// cost is CPU time in seconds per 100,000 records.
type cost struct {
	Process  float64 `json:"process"`
	Postgres float64 `json:"postgres"`
}

// beside compares the records per second of runs that stood in one round, and their CPU time.
func beside(ours, theirs []measurement) figure {
	f := pairwise(each(ours, measurement.speed), each(theirs, measurement.speed))
	f.cpu = pairwise(each(theirs, measurement.cpu), each(ours, measurement.cpu)).value // less is faster
	f.ours, f.theirs = medianCost(ours), medianCost(theirs)
	return f
}

func medianCost(runs []measurement) cost {
	return cost{
		Process:  median(each(runs, func(m measurement) float64 { return m.cost().Process })),
		Postgres: median(each(runs, func(m measurement) float64 { return m.cost().Postgres })),
	}
}

// each is one of the figures of each run.
func each(runs []measurement, of func(measurement) float64) (out []float64) {
	for _, m := range runs {
		out = append(out, of(m))
	}
	return out
}

// pairwise is the median of the ratios of runs that stood in one round: what changes from round
// to round, such as the load of the machine, is in both.
func pairwise(ours, theirs []float64) figure {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return figure{value: median(ratios), least: slices.Min(ratios), most: slices.Max(ratios)}
}

// largest is the figure of a row for which the worst run counts.
func largest(values []float64) figure {
	return figure{value: slices.Max(values), least: slices.Min(values), most: slices.Max(values)}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
