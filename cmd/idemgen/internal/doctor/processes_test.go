package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
)

// What is as it should be is said once; what could not be read, or has a problem of its own, is
// not called fine. Relays and processes that are silent are no processes of the service.
func TestWhatIsWellIsSaid(t *testing.T) {
	live, silent, relay, full := operate.Process{Group: "g"}, operate.Process{Group: "x", Silent: true}, operate.Process{Group: "y", Relay: new(process.Relay)}, operate.Process{More: 7}
	ready := operate.Status{Reported: &operate.Reported{Assigned: process.Assigned{State: "READY"}}}
	former := ready
	former.Former = true
	const (
		one     = "ok processes 1 process reports itself; partitions that make progress: %d"
		letters = "ok dead letters none waits for a replay or a discard"
		gone    = "warn processes no process reports itself: the service does not run, and the states of its partitions are not known"
	)
	of := func(subjects ...operate.Subject) (all []operate.Problem) {
		for _, s := range subjects {
			all = append(all, operate.Problem{Subject: s, Severity: operate.Passing})
		}
		return all
	}
	notice := []operate.Problem{{Subject: operate.OfService, Severity: operate.Notice}, {Subject: operate.OfLetters, Severity: operate.Notice}}
	processes := []operate.Process{live}
	for _, c := range []struct {
		what   string
		state  operate.State
		unread string
		lacks  bool
		want   []string
	}{
		{"one process", operate.State{Processes: processes, Streams: []operate.Status{ready, former, {}, ready}}, "", false, []string{fmt.Sprintf(one, 2), letters}},
		{"several", operate.State{Processes: []operate.Process{live, silent, relay, live}}, "", false, []string{"ok processes 2 processes report themselves; partitions that make progress: 0", letters}},
		{"none", operate.State{}, "", false, []string{gone, letters}},
		{"a relay alone", operate.State{Processes: []operate.Process{relay}}, "", false, []string{gone, letters}},
		{"a silent one", operate.State{Processes: []operate.Process{silent}}, "", false, []string{gone, letters}},
		{"many partitions", operate.State{Processes: []operate.Process{full, full}}, "", false,
			[]string{"warn processes 2 processes report themselves; partitions that make progress: 0, left out of the reports: 14", letters}},
		{"notices", operate.State{Processes: processes, Problems: notice}, "", false, []string{fmt.Sprintf(one, 0), letters}},
		{"a service", operate.State{Processes: processes, Problems: of(operate.OfService)}, "", false, []string{letters}},
		{"a process", operate.State{Processes: processes, Problems: of(operate.OfProcess)}, "", false, []string{letters}},
		{"partitions", operate.State{Problems: of(operate.OfPartitions)}, "", false, []string{letters}},
		{"letters", operate.State{Processes: processes, Problems: of(operate.OfLetters)}, "", false, []string{fmt.Sprintf(one, 0)}},
		{"unread letters", operate.State{Processes: processes}, "dead letters", false, []string{fmt.Sprintf(one, 0)}},
		{"unread processes", operate.State{Processes: processes}, "processes", false, []string{letters}},
		{"an outbox", operate.State{Processes: processes, Outbox: &operate.Outbox{}}, "", false, []string{fmt.Sprintf(one, 0), letters, "ok outbox all events are sent, and no relay leads"}},
		{"a leader", operate.State{Processes: processes, Outbox: &operate.Outbox{Waiting: 1, Leader: "pid 7"}}, "", false,
			[]string{fmt.Sprintf(one, 0), letters, "ok outbox unsent: 1 event, and a relay leads: pid 7"}},
		{"no leader", operate.State{Processes: processes, Outbox: &operate.Outbox{Waiting: 2, Oldest: time.Minute}}, "", false,
			[]string{fmt.Sprintf(one, 0), letters, "warn outbox unsent: 2 events, the first one for 1m0s, and no relay leads"}},
		{"no leader, and no right", operate.State{Processes: processes, Outbox: &operate.Outbox{Waiting: 2, Oldest: time.Minute}}, "", true,
			[]string{fmt.Sprintf(one, 0), letters, "warn outbox unsent: 2 events, the first one for 1m0s, and no relay leads"}},
		{"all sent, and no right", operate.State{Processes: processes, Outbox: &operate.Outbox{}}, "", true, []string{fmt.Sprintf(one, 0), letters}},
		{"a leader, and no right", operate.State{Processes: processes, Outbox: &operate.Outbox{Leader: "pid 7"}}, "", true, []string{fmt.Sprintf(one, 0), letters}},
		{"unread outbox", operate.State{Processes: processes, Outbox: &operate.Outbox{}}, "outbox", false, []string{fmt.Sprintf(one, 0), letters}},
		{"a problem of the outbox", operate.State{Processes: processes, Outbox: &operate.Outbox{}, Problems: of(operate.OfOutbox)}, "", false, []string{fmt.Sprintf(one, 0), letters}},
		{"a problem of the relay", operate.State{Processes: processes, Outbox: &operate.Outbox{}, Problems: of(operate.OfRelay)}, "", false, []string{fmt.Sprintf(one, 0), letters}},
	} {
		e := &examination{ledgers: map[string]map[int32]ledger{}}
		e.well(&c.state, map[string]bool{c.unread: true}, c.lacks)
		var got []string
		for _, check := range e.checks {
			got = append(got, fmt.Sprint(check.State, " ", check.About, " ", check.Found))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	e := &examination{ledgers: map[string]map[int32]ledger{}}
	e.well(&operate.State{Processes: []operate.Process{silent, relay, live}}, nil, false)
	if e.Group != "g" {
		t.Errorf("the group is %q", e.Group)
	}
	e = &examination{}
	if e.well(&operate.State{Processes: processes}, nil, false); e.checks[0].State != Skipped || e.checks[0].About != "processes" {
		t.Errorf("without ledgers: %v", e.checks)
	}
}

// A problem is a failure if it needs somebody, and a warning else. Only a failure explains why a
// partition makes no progress.
func TestProblemsAreFailuresOrWarnings(t *testing.T) {
	at := []operate.Status{{Name: operate.Name{Topic: "t", Partition: 3}}}
	for _, c := range []struct {
		problem operate.Problem
		want    State
		stopped bool
	}{
		{operate.Problem{Subject: operate.OfPartitions, Severity: operate.Urgent, State: "HALTED", Code: "x", Partitions: at}, Failure, true},
		{operate.Problem{Subject: operate.OfPartitions, Severity: operate.Passing, State: "PAUSED", Code: "x", Partitions: at}, Warning, false},
		{operate.Problem{Subject: operate.OfPartitions, Severity: operate.Notice, State: "READY", Code: "x", Partitions: at}, Warning, false},
		{operate.Problem{Subject: operate.OfLetters, Severity: operate.Urgent}, Warning, false},
		{operate.Problem{Subject: operate.OfRelay, Severity: operate.Urgent, Code: "no-relay", Processes: []string{"a"}}, Warning, false},
		{operate.Problem{Subject: operate.OfRelay, Severity: operate.Urgent, Code: "refused", Processes: []string{"a"}}, Failure, false},
		{operate.Problem{Subject: operate.OfService, Severity: operate.Urgent, Code: "no-process"}, Warning, false},
		{operate.Problem{Subject: operate.OfProcess, Severity: operate.Urgent, Code: "no-process", Processes: []string{"a"}}, Failure, false},
	} {
		e := &examination{stopped: map[place]string{}}
		e.problem(&c.problem)
		if got, _ := e.stopped[place{"t", 3}]; e.checks[0].State != c.want || got != map[bool]string{true: "x"}[c.stopped] {
			t.Errorf("%+v: %s, the partition is stopped by %q", c.problem, e.checks[0].State, got)
		}
	}
}
