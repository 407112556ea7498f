package state

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// next is the state of a service after one more version, which change makes of the first.
func next(old *State, change func(e *model.Event, s *model.Service)) *State {
	s := service()
	change(s.Topics[0].Events[0], s)
	return Next(old, s)
}

// knows reports whether a version goes on behind an identity.
func knows(s *State, identity uint32) bool {
	return slices.Contains(s.Knows, identity)
}

func same(*model.Event, *model.Service) {}

// moves is a change of the source.
func moves(header string) func(e *model.Event, s *model.Service) {
	return func(e *model.Event, _ *model.Service) {
		e.Key.Parts = []model.KeySource{{Header: header}}
	}
}

// Only a change after which an older version does not recognize events halts it: content and
// new events do not, and what has another identity does.
func TestWhatHaltsAnOlderVersion(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(e *model.Event, s *model.Service)
		halts  bool
	}{
		{"nothing", same, false},
		{"new event", func(e *model.Event, _ *model.Service) {
			added := *e
			added.Name, added.Types = "Other", []string{"other"}
			e.Topic.Events = append(e.Topic.Events, &added)
		}, false},
		{"removed event", func(e *model.Event, _ *model.Service) { e.Topic.Events = e.Topic.Events[1:] }, false},
		{"new field", func(e *model.Event, _ *model.Service) { e.Fields = append(e.Fields, field("x", model.Bool)) }, false},
		{"type of a field", func(e *model.Event, _ *model.Service) { e.Fields[0].Type.Kind = model.String }, false},
		{"window", func(e *model.Event, _ *model.Service) { e.Key.Window = 1 }, false},
		{"source", moves("Id"), true},
		{"space", func(e *model.Event, _ *model.Service) { e.Key.Space[3]++ }, true},
		{"copies", func(e *model.Event, _ *model.Service) { e.Key.SamePartition = true }, true},
		{"to an offset key", func(e *model.Event, _ *model.Service) { e.Key = &model.IdempotencyKey{Offset: true} }, true},
		{"renamed", func(e *model.Event, _ *model.Service) { e.Name, e.Key.Space = "Other", [16]byte{9} }, true},
		{"renamed, with other fields", func(e *model.Event, _ *model.Service) { e.Name, e.Key.Space, e.Fields = "Other", [16]byte{9}, nil }, true},
		{"a type goes to another event", func(e *model.Event, _ *model.Service) {
			other, key := *e, *e.Key
			key.Space = [16]byte{9}
			other.Name, other.Key, other.Types, e.Types = "Other", &key, e.Types[1:], e.Types[:1]
			e.Topic.Events = append(e.Topic.Events, &other)
		}, true},
		{"topic renamed", func(e *model.Event, _ *model.Service) { e.Topic.Name, e.Key.Space = "orders.v2", [16]byte{9} }, true},
	} {
		old := first(service())
		now := next(old, tc.change)
		if halts := !knows(old, now.Identity); halts != tc.halts {
			t.Errorf("%s: halts is %v", tc.name, halts)
		}
		if !knows(now, old.Identity) || !knows(now, now.Identity) {
			t.Errorf("%s: the new version does not go on behind the old one, or itself", tc.name)
		}
		if back := next(now, tc.change); back.Identity != now.Identity || !slices.Equal(back.Knows, now.Knows) {
			t.Errorf("%s: another run changes something", tc.name)
		}
	}
}

// A change that is taken back is a change: the version in between does not recognize what is
// applied after it.
func TestChangeTakenBack(t *testing.T) {
	old := next(nil, moves("A"))
	moved := next(old, moves("B"))
	back := next(moved, moves("A"))
	if knows(moved, back.Identity) {
		t.Error("the version in between goes on")
	}
}

// Two branches that each change the identity once are two, unless they make one change.
func TestBranches(t *testing.T) {
	old := first(service())
	a, b, again := next(old, moves("A")), next(old, moves("B")), next(old, moves("A"))
	if knows(a, b.Identity) || knows(b, a.Identity) {
		t.Error("a branch goes on behind the other")
	}
	if again.Identity != a.Identity {
		t.Error("the same change has two identities")
	}
}

// An event that is gone for a while and comes back with another source has another identity,
// and the versions that had it before halt.
func TestEventThatComesBack(t *testing.T) {
	old := next(nil, moves("A"))
	gone := next(old, func(e *model.Event, _ *model.Service) { e.Topic.Events = e.Topic.Events[1:] })
	data, err := Read(File, gone.Render())
	if err != nil {
		t.Fatal(err)
	}
	if back := next(data, moves("A")); back.Identity != old.Identity || back.Keys[0].Gone {
		t.Errorf("it came back as it was: %+v", back.Keys[0])
	}
	s := service()
	moves("B")(s.Topics[0].Events[0], s)
	if ids := Identities(data, s); len(ids) != 1 {
		t.Errorf("%+v", ids)
	}
	if knows(old, Next(data, s).Identity) {
		t.Error("a version that knows another source goes on")
	}
}

// Whatever versions follow one another, with sources that move, go or come back: one that goes on
// behind a later one recognizes every event that it applied.
func TestVersionThatGoesOnRecognizesWhatLaterOnesApplied(t *testing.T) {
	type version struct {
		state *State
		keys  map[string]string // event -> its source
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	goes, halts := 0, 0
	for range 2000 {
		var all []version
		var old *State
		events := map[string]string{"X": "A", "Y": "A"}
		for range 6 {
			s := service()
			template := s.Topics[0].Events[0]
			s.Topics[0].Events = nil
			for _, name := range slices.Sorted(maps.Keys(events)) {
				e, key := *template, *template.Key
				e.Name, e.Types, e.Key, key.Space = name, []string{name}, &key, [16]byte{name[0]}
				key.Parts = []model.KeySource{{Header: events[name]}}
				s.Topics[0].Events = append(s.Topics[0].Events, &e)
			}
			old = Next(old, s)
			all = append(all, version{old, maps.Clone(events)})
			for _, name := range []string{"X", "Y"} {
				switch rnd.IntN(8) {
				case 0:
					delete(events, name)
				case 1:
					events[name] = string(rune('A' + rnd.IntN(3)))
				}
			}
		}
		for i, v := range all {
			for _, later := range all[i+1:] {
				if !knows(v.state, later.state.Identity) {
					halts++
					continue
				}
				goes++
				for name, source := range v.keys {
					if applied, there := later.keys[name]; there && applied != source {
						t.Fatalf("%s: %s goes on behind %s", name, source, applied)
					}
				}
			}
		}
	}
	if goes < 1000 || halts < 1000 {
		t.Errorf("%d go on, %d halt", goes, halts)
	}
}
