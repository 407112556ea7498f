package effects

// Bound says what an exploration covers.
type Bound struct {
	Name  string
	Rules Rules
	Left  Faults
}

// Bounds are what is explored: both choices of if_interrupted, with and without a copy, in the
// ledger's own database and in another store. The short ones are for tests.
func Bounds(short bool) (all []Bound) {
	for _, external := range []bool{false, true} {
		for _, dead := range []bool{false, true} {
			for _, copies := range []bool{false, true} {
				b := Bound{Rules: Rules{DeadLetter: dead, External: external, Copies: copies}}
				b.Name = name(external, "external", "postgres") + ", " + name(dead, "dead_letter", "retry") + ", " + name(copies, "a copy", "no copy")
				b.Left = Faults{Crash: 1, Pause: 1, Move: 1, Loss: 1, Refusal: 1, Doubt: 1, Flush: 1}
				switch {
				case short && copies:
					b.Left[Move], b.Left[Loss], b.Left[Refusal] = 0, 0, 0
				case !short && !copies:
					b.Left[Crash], b.Left[Pause], b.Left[Move] = 2, 2, 2
				}
				if dead {
					b.Left[Person] = 1
				}
				all = append(all, b)
			}
		}
	}
	return all
}

func name(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
