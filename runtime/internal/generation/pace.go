package generation

// Pace decides whether the open generation is read before keys are claimed in it. Reading
// costs a round trip per batch; not reading it costs a whole batch per lost race. So it is
// not read while races stay below one batch in ten, and after that until 100 batches in a
// row would have been clean without it.
type Pace struct {
	heat  int // rises with races, falls with clean batches; even at one race in ten batches
	clean int // batches that are still to be clean before reading ends; 0 = it is not read
}

const (
	raceHeat    = 9
	mostHeat    = 2 * raceHeat
	cleanStreak = 100
)

// Reads reports whether the open generation is to be read first.
func (p *Pace) Reads() bool { return p.clean > 0 }

// Raced says that a key of a batch was found claimed in the open generation.
func (p *Pace) Raced() {
	p.heat += raceHeat
	if p.Reads() || p.heat >= mostHeat {
		p.heat, p.clean = 0, cleanStreak
	}
}

// Clean says that a batch met no key that was claimed in the open generation.
func (p *Pace) Clean() {
	p.heat = max(0, p.heat-1)
	p.clean = max(0, p.clean-1)
}
