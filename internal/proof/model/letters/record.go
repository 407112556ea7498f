package letters

// deliver is a transaction that passes one record, or two.
func (t *expansion) deliver(i int) {
	next := int(t.from.Workers[i].Next)
	for n := 1; n <= 2 && next+n <= records; n++ {
		t.commit([]string{"passes a record", "passes two records"}[n-1], i, func(a *State, w *Worker) {
			for r := next; r < next+n; r++ {
				t.pass(a, w, r)
			}
			a.Next = uint8(next + n)
			w.AfterNext = a.Next
		})
	}
}

// pass decides what becomes of a record, by the memory of the worker and by the keys.
func (t *expansion) pass(a *State, w *Worker, r int) {
	waits := w.AfterParked.Dead+w.AfterParked.Waiting > 0
	if t.Bug == OvertakesTheWaiting {
		waits = w.AfterParked.Dead > 0
	}
	switch {
	case parks(r) && waits:
		a.Letter[r] = Waiting
	case t.refused(a, r):
		a.Letter[r] = Dead
	default:
		a.apply(r)
		return
	}
	if t.Bug == LetterClaims && (r == first || r == copied) {
		a.Claimed = true
	}
	if parks(r) {
		w.AfterParked.count(a.Letter[r], 1)
	}
}

func (t *expansion) refused(a *State, r int) bool { return t.Poison[r] && !a.Mended }

// apply lets a record take effect, unless a copy did.
func (d *Database) apply(r int) {
	if r == first || r == copied {
		if d.Claimed {
			return
		}
		d.Claimed = true
	}
	d.Applied[r]++
}

// look is what a worker does between batches: it reads a request, or the record that may go on.
func (t *expansion) look(i int) {
	for r, l := range t.from.Letter {
		if t.from.Asked[r] != None && l == Dead {
			t.step("reads a request", i, func(a *State, w *Worker) {
				w.Phase, w.Letter, w.From, w.To = Settling, uint8(r), Dead, a.Asked[r]
			})
		}
	}
	if p := t.from.Workers[i].Parked; p.Dead > 0 || p.Waiting == 0 {
		return
	}
	next := -1
	for r, l := range t.from.Letter {
		if l == Waiting && (next < 0 || t.Bug == LastGoesOnFirst) {
			next = r
		}
	}
	if next >= 0 {
		t.step("reads the record that waits", i, func(_ *State, w *Worker) {
			w.Phase, w.Letter, w.From, w.To = Settling, uint8(next), Waiting, Replayed
		})
	}
}

// settle is the transaction that settles a letter, or the answer that it stays.
func (t *expansion) settle(i int) {
	w := &t.from.Workers[i]
	r, to := int(w.Letter), w.To
	if to == Replayed && t.refused(t.from, r) {
		if w.From == Dead || t.Bug == RefusedWaits {
			t.step("answers that the letter stays", i, func(a *State, w *Worker) {
				a.Asked[r] = None
				w.ready()
			})
			return
		}
		to = Dead
	}
	if t.from.Letter[r] != w.From && t.Bug != SettlesUnasserted {
		t.step("finds the letter settled", i, func(_ *State, w *Worker) { w.ready() })
		return
	}
	t.commit("settles a letter", i, func(a *State, w *Worker) {
		if a.Letter[r], a.Asked[r] = to, None; to == Replayed {
			a.apply(r)
		}
		if parks(r) && t.Bug != MemoryStaysBehind {
			w.AfterParked.count(w.From, -1)
			w.AfterParked.count(to, 1)
		}
	})
}

// people adds what people and the upkeep can do.
func (t *expansion) people() {
	if !t.from.Mended {
		t.step("the code is mended", 0, func(a *State, _ *Worker) { a.Mended = true })
		t.steps[len(t.steps)-1].Fault = true
	}
	for r, l := range t.from.Letter {
		if l == Dead && t.from.Asked[r] == None {
			t.fault(Request, "a person asks for a replay", 0, func(a *State, _ *Worker) { a.Asked[r] = Replayed })
			t.fault(Request, "a person asks for a discard", 0, func(a *State, _ *Worker) { a.Asked[r] = Discarded })
		}
		if l == Dead && (!parks(r) || t.Bug == UpkeepClosesParking) {
			t.fault(Close, "the upkeep closes a letter", 0, func(a *State, _ *Worker) { a.Letter[r], a.Asked[r] = Discarded, None })
		}
	}
}
