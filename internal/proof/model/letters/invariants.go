package letters

// violated says which promise a step breaks; "" is none.
func violated(before, after *State) string {
	if after.Applied[first]+after.Applied[copied] > 1 || after.Applied[byOffset] > 1 || after.Applied[apart] > 1 {
		return "an event took effect twice"
	}
	for r := range after.Letter {
		was, is := before.Letter[r], after.Letter[r]
		if (was == Replayed || was == Discarded) && is != was || is == Discarded && after.Applied[r] > before.Applied[r] {
			return "a settled letter was settled again"
		}
		if after.Applied[r] > before.Applied[r] && parks(r) && overtakes(after, r) {
			return "a record overtook one of its record key"
		}
		if lost(&after.Database, r) {
			return "a record was lost"
		}
	}
	for i := range after.Workers {
		w := &after.Workers[i]
		if w.Phase == Ready && w.Seq == after.Seq && (w.Parked != after.parked() || w.Next != after.Next) {
			return "a memory is not what the chain says"
		}
	}
	return ""
}

// overtakes reports whether a record of the same record key stands before a record and is open.
func overtakes(s *State, record int) bool {
	for r := range record {
		if l := s.Letter[r]; l == Dead || l == Waiting || r >= int(s.Next) {
			return true
		}
	}
	return false
}

// lost reports whether a record was passed, or its letter replayed, and nothing came of it.
func lost(d *Database, r int) bool {
	if r >= int(d.Next) || d.Letter[r] != None && d.Letter[r] != Replayed {
		return false
	}
	if r == first || r == copied {
		return d.Applied[first]+d.Applied[copied] == 0
	}
	return d.Applied[r] == 0
}
