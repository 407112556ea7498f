package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/halt"
)

// The numbers above all else say how many partitions, letters, records and processes there are,
// and how bad that is. What could not be read is a question mark.
func TestTiles(t *testing.T) {
	at := func(severity operate.Severity, lag int64) partition {
		p := partition{Severity: severity}
		if lag >= 0 {
			p.Reported = reported("READY", "", lag, 0)
		}
		return p
	}
	live, silent := operate.Process{Name: "a"}, operate.Process{Name: "b", Silent: true}
	relay := operate.Process{Name: "a", Relay: new(process.Relay)}
	fine, none := at(operate.Fine, 1000), at(operate.NotKnown, -1)
	for _, c := range []struct {
		what string
		s    snapshot
		want string
	}{
		{"nothing", snapshot{State: &operate.State{}}, "fine Ready 0 of 0 | fine Dead letters 0 | fine Lag 0 | fine Processes 0 of 0"},
		{"all is well", snapshot{State: &operate.State{Processes: []operate.Process{live, relay}}, all: []partition{fine, fine}},
			"fine Ready 2 of 2 | fine Dead letters 0 | fine Lag 2 000 | fine Processes 1 of 1"},
		{"another owns its partitions", snapshot{State: &operate.State{Processes: []operate.Process{live, silent}}, all: []partition{fine}},
			"fine Ready 1 of 1 | fine Dead letters 0 | fine Lag 1 000 | fine Processes 1 of 1"},
		{"a process is silent", snapshot{State: &operate.State{Processes: []operate.Process{live, silent}}, all: []partition{fine, none}},
			"unknown Ready 1 of 2 | fine Dead letters 0 | unknown Lag at least 1 000 | unknown Processes 1 of 2"},
		{"all are silent", snapshot{State: &operate.State{Processes: []operate.Process{silent}}, all: []partition{none}},
			"unknown Ready 0 of 1 | fine Dead letters 0 | unknown Lag not known | urgent Processes 0 of 1"},
		{"no process", snapshot{State: &operate.State{}, all: []partition{none}},
			"unknown Ready 0 of 1 | fine Dead letters 0 | unknown Lag not known | urgent Processes 0 of 0"},
		{"halted", snapshot{State: &operate.State{Processes: []operate.Process{live}}, all: []partition{fine, at(operate.Urgent, 5), at(operate.Urgent, 0), at(operate.Passing, 0)}},
			"urgent Halted 2 of 4 | fine Dead letters 0 | fine Lag 1 005 | fine Processes 1 of 1"},
		{"letters", snapshot{State: &operate.State{Problems: []operate.Problem{{Subject: operate.OfLetters, Severity: operate.Urgent}, {Subject: operate.OfLetters, Severity: operate.Notice}}}, Dead: dead{Count: 1007, Asked: 2}},
			"fine Ready 0 of 0 | urgent Dead letters 1 005 | fine Lag 0 | fine Processes 0 of 0"},
		{"letters, all asked about", snapshot{State: &operate.State{}, Dead: dead{Count: 2, Asked: 2, Groups: operate.Groups{Older: new(operate.Mark)}}},
			"fine Ready 0 of 0 | fine Dead letters 0+ | fine Lag 0 | fine Processes 0 of 0"},
		{"an outbox", snapshot{State: &operate.State{Outbox: &operate.Outbox{Waiting: 3}, Problems: []operate.Problem{{Subject: operate.OfLetters, Severity: operate.Notice}, {Subject: operate.OfRelay, Severity: operate.Passing}}}},
			"fine Ready 0 of 0 | notice Dead letters 0 | fine Lag 0 | fine Processes 0 of 0 | passing Outbox 3"},
		{"a full outbox", snapshot{State: &operate.State{Outbox: &operate.Outbox{Waiting: 100001}}},
			"fine Ready 0 of 0 | fine Dead letters 0 | fine Lag 0 | fine Processes 0 of 0 | fine Outbox 100 000+"},
		{"unread", snapshot{State: &operate.State{Unread: []operate.Unread{{Part: "streams"}, {Part: "processes"}, {Part: "dead letters"}, {Part: "outbox"}}}},
			"unknown Ready ? | unknown Dead letters ? | unknown Lag ? | unknown Processes ? | unknown Outbox ?"},
		{"an unread outbox", snapshot{State: &operate.State{Outbox: &operate.Outbox{Waiting: 3}, Unread: []operate.Unread{{Part: "outbox"}, {Part: "effects"}}}},
			"fine Ready 0 of 0 | fine Dead letters 0 | fine Lag 0 | fine Processes 0 of 0 | unknown Outbox ?"},
	} {
		var got []string
		for _, tile := range c.s.Tiles() {
			got = append(got, fmt.Sprint(tile.Severity, " ", tile.Name, " ", tile.Value))
		}
		if is := strings.ReplaceAll(strings.Join(got, " | "), "\u202f", " "); is != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, is, c.want)
		}
	}
	var pages []string
	for _, tile := range (&snapshot{State: &operate.State{Outbox: &operate.Outbox{}}}).Tiles() {
		pages = append(pages, string(tile.Page))
	}
	if got := strings.Join(pages, " "); got != "#topics dead #topics #processes outbox" {
		t.Errorf("the numbers lead to %s", got)
	}
}

// A process is shown with the relay in it, the living first, with the codes of the problems of
// both.
func TestProcessesAreShownWithTheirRelays(t *testing.T) {
	problem := func(codes ...string) (all []process.Problem) {
		for _, code := range codes {
			all = append(all, process.Problem{Code: code})
		}
		return all
	}
	s := &snapshot{State: &operate.State{Processes: []operate.Process{
		{Name: "r", Relay: &process.Relay{Leads: true}, Problems: problem("broker")},
		{Name: "silent", Silent: true, Problems: problem("database")},
		{Name: "a", Problems: problem("broker", "database")}, {Name: "a", Problems: problem("tls")}, {Name: "c"},
		{Name: "a", Relay: &process.Relay{Leads: true}, Problems: problem("leader", "refused", "broker")}, {Name: "a", Relay: &process.Relay{}, Problems: problem("leader")},
		{Name: "silent", Relay: &process.Relay{Leads: true}}, {Name: "c", Silent: true, Relay: &process.Relay{Leads: true}, Problems: problem("x")},
	}}}
	const leads, has = "with the relay that sends the outbox", "with a relay of the outbox"
	want := []string{
		"a: " + leads + " [broker database refused]", "a: " + has + " [tls]", "c:  []", "r: " + leads + " [broker]", "silent: " + leads + " []",
		"silent:  []", "c: " + has + " []",
	}
	var got []string
	for _, r := range s.ByLife() {
		got = append(got, fmt.Sprintf("%s: %s %v", r.Name, r.Sends(), r.Codes()))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// An act is shown as one that the owner may not have seen for 20 seconds, where a partition is
// halted, or still paused.
func TestAnActThatTheOwnerMayNotHaveSeen(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	paused := operate.Status{Reported: reported("PAUSED", string(halt.Paused), 0, 0)}
	ready := operate.Status{Reported: reported("READY", "", 0, 0)}
	for _, c := range []struct {
		severity operate.Severity
		status   operate.Status
		what     string
		ago      time.Duration
		want     bool
	}{
		{operate.Urgent, ready, "release", 19 * time.Second, true}, {operate.Urgent, ready, "release", 20 * time.Second, false}, {operate.Urgent, ready, "pause", 0, true},
		{operate.Passing, ready, "release", 0, false}, {operate.Passing, paused, "release", 0, true}, {operate.Passing, paused, "pause", 0, false},
	} {
		first := operate.Act{At: now.Add(-c.ago), What: c.what}
		h := &halted{partition: partition{Severity: c.severity, Status: c.status}, Acts: []operate.Act{first, {At: now}}}
		if got := h.Soon(now); (got != nil) != c.want || got != nil && *got != first {
			t.Errorf("%+v: %+v", c, got)
		}
		if h.Acts = nil; h.Soon(now) != nil {
			t.Error("an act without any")
		}
	}
	for n, want := range map[int]int{0: 0, 1: 0, 3: 2} {
		if got := (&halted{Same: make([]operate.Status, n)}).Others(); got != want {
			t.Errorf("of %d, %d are others", n, got)
		}
	}
}

// Letters become those of a former topic where a partition begins to read a topic that was made
// again.
func TestLettersOfATopicThatWasMadeAgain(t *testing.T) {
	h := &halted{partition: partition{Status: operate.Status{OpenDeadLetters: 3}}, Same: []operate.Status{{OpenDeadLetters: 3}, {OpenDeadLetters: 4}}}
	for _, c := range []struct {
		code halt.Code
		all  bool
		want int64
	}{{halt.TopicRecreated, false, 3}, {halt.TopicRecreated, true, 7}, {halt.LedgerMissing, true, 0}, {halt.LedgerMissing, false, 0}} {
		if got := (&confirmation{halted: h, Way: halt.Way{Code: c.code}, All: c.all}).Former(); got != c.want {
			t.Errorf("%s, all %v: %d, want %d", c.code, c.all, got, c.want)
		}
	}
}
