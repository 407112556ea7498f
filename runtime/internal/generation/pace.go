package generation

// Pace decides whether the open generation is read before keys are claimed in it. Reading costs a
// round trip per batch; not reading costs a whole batch per lost race. So reading begins when
// races exceed one batch in ten, and ends after 100 consecutive batches that would have had no
// race.
type Pace struct {
	heat  int // rises with races, falls with clean batches; even at one race in ten batches
	clean int // batches that are still to be clean before reading ends; 0 = it is not read
}

const (
	raceHeat    = 9
	mostHeat    = 2 * raceHeat
	cleanStreak = 100
)

// Reads reports whether the open generation must be read first.
func (p *Pace) Reads() bool { return p.clean > 0 }

// Raced records that a key of a batch was already claimed in the open generation.
func (p *Pace) Raced() {
	p.heat += raceHeat
	if p.Reads() || p.heat >= mostHeat {
		p.heat, p.clean = 0, cleanStreak
	}
}

// Clean records that no key of a batch was already claimed in the open generation.
func (p *Pace) Clean() {
	p.heat = max(0, p.heat-1)
	p.clean = max(0, p.clean-1)
}
