package letters

// Bound says what an exploration covers.
type Bound struct {
	Name  string
	Rules Rules
	Left  Faults
}

// Bounds are what is explored: which records are refused, and what goes wrong meanwhile. The short
// ones are for tests.
func Bounds(short bool) (all []Bound) {
	for _, p := range []struct {
		name   string
		poison [records]bool
	}{
		{"the first is refused", [records]bool{byOffset: true}},
		{"two of a key are refused", [records]bool{byOffset: true, first: true}},
		{"all of a key are refused", [records]bool{byOffset: true, first: true, copied: true}},
		{"one without a park is refused", [records]bool{first: true, apart: true}},
	} {
		left := Faults{Crash: 1, Move: 2, Loss: 1, Request: 3, Close: 1}
		if short {
			left = Faults{Crash: 1, Move: 1, Loss: 1, Request: 1, Close: 1}
		}
		all = append(all, Bound{p.name, Rules{Poison: p.poison}, left})
	}
	return all
}
