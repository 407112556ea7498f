package effects

// Bound says what an exploration covers.
type Bound struct {
	Name  string
	Rules Rules
	Left  Faults
}

// Bounds are what is explored: both choices of if_interrupted, in the ledger's own database and in
// another store; an event alone, with a copy, with dead letters of its result that are replayed,
// and of a topic that is made again. The short ones are for tests.
func Bounds(short bool) (all []Bound) {
	for _, external := range []bool{false, true} {
		for _, dead := range []bool{false, true} {
			r := Rules{DeadLetter: dead, External: external}
			of := name(external, "external", "postgres") + ", " + name(dead, "dead_letter", "retry") + ", "
			for _, b := range bounds(r, short) {
				b.Name = of + b.Name
				if dead {
					b.Left[Person] = 1
				}
				all = append(all, b)
			}
		}
	}
	return all
}

// bounds are those of one choice and one store.
func bounds(r Rules, short bool) []Bound {
	all := Faults{Crash: 1, Pause: 1, Move: 1, Loss: 1, Refusal: 1, Doubt: 1, Flush: 1}
	alone, copied, letters, topics := all, all, all, all
	letters[Misfit], letters[Replay], letters[Refusal], letters[Move] = 1, 1, 0, 0
	copiedLetters := letters
	topics[Topic], topics[Refusal], topics[Flush] = 1, 0, 0
	copies, again := r, r
	copies.Copies, again.Topics = true, true
	if short {
		copied[Move], copied[Loss], copied[Refusal] = 0, 0, 0
		copiedLetters[Pause], copiedLetters[Loss] = 0, 0
		topics[Loss], topics[Doubt] = 0, 0
	} else {
		alone[Crash], alone[Pause], alone[Move] = 2, 2, 2
		letters[Replay], letters[Move] = 2, 1
	}
	return []Bound{
		{"no copy", r, alone}, {"a copy", copies, copied},
		{"dead letters", r, letters}, {"dead letters, a copy", copies, copiedLetters},
		{"a topic made again", again, topics},
	}
}

func name(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
