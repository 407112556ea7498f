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

// reported is a partition as a process reports it.
func reported(state, code string, lag int64, seconds float64) *operate.Reported {
	return &operate.Reported{Assigned: process.Assigned{State: state, Code: code, Lag: lag, LagSeconds: seconds}}
}

// A topic counts its partitions, adds up the lags that are known, and is as bad as its worst
// partition. A lag that is not known of some is a lower bound.
func TestATopicIsTheSumOfItsPartitions(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	halted := reported("HALTED", "record-refused", 1000, 7)
	halted.Since = began.Add(time.Hour)
	waits := reported("BACKOFF", "backoff", 30, 90)
	waits.Since = began
	fine := reported("READY", "", 2, 1)
	fine.Since = began.Add(-time.Hour) // nothing is wrong since then
	silent := reported("READY", "", 5000, 999)
	silent.Silent = true
	for _, c := range []struct {
		partitions []*operate.Reported
		want       string // partitions, of them ready, worst, lag, not known, seconds, behind, broke
	}{
		{[]*operate.Reported{fine}, "1 1 fine 2 0 1 2 0001-01-01"},
		{[]*operate.Reported{fine, halted, waits}, "3 1 urgent 1032 0 90 1 032 2026-01-02 03:04"},
		{[]*operate.Reported{halted, waits}, "2 0 urgent 1030 0 90 1 030 2026-01-02 03:04"},
		{[]*operate.Reported{waits, fine}, "2 1 passing 32 0 90 32 2026-01-02 03:04"},
		{[]*operate.Reported{fine, nil}, "2 1 unknown 2 1 1 at least 2 0001-01-01"},
		{[]*operate.Reported{fine, silent}, "2 1 unknown 2 1 1 at least 2 0001-01-01"},
		{[]*operate.Reported{fine, reported("READY", "", -1, 0)}, "2 2 fine 2 1 1 at least 2 0001-01-01"},
		{[]*operate.Reported{fine, reported("READY", "", 0, 0)}, "2 2 fine 2 0 1 2 0001-01-01"},
		{[]*operate.Reported{nil}, "1 0 unknown 0 1 0 not known 0001-01-01"},
	} {
		of := topic{Worst: operate.Fine}
		for _, r := range c.partitions {
			p := partition{Status: operate.Status{Reported: r}}
			p.Severity, p.State, p.Detail = p.Status.Now()
			of.add(&p)
		}
		got := fmt.Sprintf("%d %d %s %d %d %g %s %s", of.Partitions, of.Ready, of.Worst, of.Lag, of.Unknown, of.LagSeconds, of.Behind(),
			strings.TrimSuffix(of.broke.Format("2006-01-02 15:04"), " 00:00"))
		if got := strings.ReplaceAll(got, "\u202f", " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// Partitions of one topic are together, those of a former topic of its name are left out, and two
// consumers have two.
func TestTopicsHaveTheirPartitions(t *testing.T) {
	name := func(consumer, topic string, partition int32) operate.Name {
		return operate.Name{Consumer: consumer, Topic: topic, Partition: partition}
	}
	s := &snapshot{State: &operate.State{Streams: []operate.Status{
		{Name: name("a", "x", 0)}, {Name: name("a", "x", 1)}, {Name: name("a", "x", 1), Former: true}, {Name: name("a", "y", 0)}, {Name: name("b", "y", 0)},
	}}}
	s.topics(&samples{})
	got := ""
	for _, t := range s.Topics {
		got += fmt.Sprintf("%s %s %d, ", t.Consumer, t.Topic, t.Partitions)
	}
	if got != "a x 2, a y 1, b y 1, " || len(s.all) != 4 {
		t.Errorf("%s%d partitions", got, len(s.all))
	}
	if is := fmt.Sprint(s.summarize().Consumers); is != "[a b]" {
		t.Errorf("consumers: %s", is)
	}
}

// The summary is as bad as the worst problem, which comes first, and its title has the word to act
// on. What is paused on purpose is not called a retry.
func TestSummary(t *testing.T) {
	of := func(subject operate.Subject, severity operate.Severity, state string, partitions int) operate.Problem {
		return operate.Problem{Subject: subject, Severity: severity, State: state, Title: fmt.Sprint(subject, " ", state), Partitions: make([]operate.Status, partitions)}
	}
	halted, paused := of(operate.OfPartitions, operate.Urgent, "HALTED", 2), of(operate.OfPartitions, operate.Passing, "PAUSED", 3)
	waits, letters := of(operate.OfPartitions, operate.Passing, "BACKOFF", 1), of(operate.OfLetters, operate.Notice, "", 0)
	outbox, lost := of(operate.OfOutbox, operate.Urgent, "", 0), of(operate.OfPartitions, operate.NotKnown, "NOT KNOWN", 1)
	for _, c := range []struct {
		problems []operate.Problem
		want     string // title, how bad, parts, how bad the outbox is
	}{
		{nil, "OK fine 0 fine"},
		{[]operate.Problem{letters}, "OK notice 1 fine"},
		{[]operate.Problem{halted, paused, letters}, "HALTED 2 urgent 3 fine"},
		{[]operate.Problem{halted, halted}, "HALTED 4 urgent 1 fine"}, // two causes with one title
		{[]operate.Problem{outbox, waits}, "ACT urgent 2 urgent"},
		{[]operate.Problem{of(operate.OfRelay, operate.Passing, "", 0)}, "RETRYING passing 1 passing"},
		{[]operate.Problem{lost, paused}, "NOT KNOWN unknown 2 fine"},
		{[]operate.Problem{paused}, "PAUSED 3 passing 1 fine"},
		{[]operate.Problem{paused, waits}, "RETRYING passing 2 fine"},
		{[]operate.Problem{waits}, "RETRYING passing 1 fine"},
	} {
		s := &snapshot{State: &operate.State{Problems: c.problems}, Topics: []topic{{Consumer: "a"}}}
		is := s.summarize()
		if got := fmt.Sprint(is.Title, " ", is.Worst, " ", len(is.Parts), " ", s.worst(isSending)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	is := (&snapshot{State: &operate.State{}}).summarize()
	if got := fmt.Sprint(is.Title, " ", is.Worst, " ", is.Parts); got != "NOT KNOWN unknown [{unknown no consumer has read a record yet }]" {
		t.Errorf("without a topic: %s", got)
	}
}

// The head of a page has the versions of the consumers' processes that are alive, each once, and
// says whether there may be calls to look at.
func TestSummaryOfProcessesAndCalls(t *testing.T) {
	live := func(version string) operate.Process { return operate.Process{Version: version} }
	silent, relay := live("v0"), live("v9")
	silent.Silent, relay.Relay = true, new(process.Relay)
	s := &snapshot{State: &operate.State{Processes: []operate.Process{live("v1"), live("v2"), live("v1"), live(""), silent, relay}}}
	if is := s.summarize(); is.Versions != "v1, v2" || is.Calls {
		t.Errorf("versions %s, calls %v", is.Versions, is.Calls)
	}
	s.Calls.Here = true
	here := s.summarize().Calls
	s.Calls.Here, s.Dead.Interrupted = false, 1
	if !here || !s.summarize().Calls {
		t.Error("calls are not shown")
	}
}

// A problem leads to the page that says more about it, and its card to what can be done there.
func TestCards(t *testing.T) {
	at := operate.Status{Name: operate.Name{Consumer: "c", Topic: "t", Partition: 3}}
	const page = "partition?consumer=c&partition=3&topic=t"
	exit := func(way halt.Way) []operate.Exit { return []operate.Exit{{Command: "psql"}, {Way: &way}} }
	for _, c := range []struct {
		problem operate.Problem
		want    string
	}{
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at}, Code: "not-reported"}, page + " false"},
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at, at}, Code: "not-reported"}, "#problems false"},
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at, at}, Ways: exit(halt.Way{Code: halt.RecordRefused})}, page + " true Release"},
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at}, Ways: exit(halt.Way{Code: halt.Paused})}, page + " true Resume"},
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at}, Ways: exit(halt.Way{Move: &halt.Move{To: 7}})}, page + " true Read from offset 7"},
		{operate.Problem{Subject: operate.OfPartitions, Partitions: []operate.Status{at}, Ways: []operate.Exit{{Command: "psql"}}}, page + " false"},
		{operate.Problem{Subject: operate.OfLetters}, "dead true Look at them"},
		{operate.Problem{Subject: operate.OfLetters, Code: "interrupted"}, "dead?class=interrupted&list=1 true Look at them"},
		{operate.Problem{Subject: operate.OfEffects}, "effects false"},
		{operate.Problem{Subject: operate.OfRelay}, "outbox false"},
		{operate.Problem{Subject: operate.OfOutbox}, "outbox false"},
		{operate.Problem{Subject: operate.OfProcess}, "#processes false"},
	} {
		s := &snapshot{State: &operate.State{Problems: []operate.Problem{c.problem}}}
		is := s.Cards()[0]
		got := fmt.Sprint(is.Page, " ", is.Acts())
		if is.Acts() {
			got += " " + is.Verb()
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for n, want := range map[int]string{1: "1 0", mostNamed: "12 0", mostNamed + 1: "12 1", 30: "12 18"} {
		is := card{Problem: &operate.Problem{Partitions: make([]operate.Status, n)}}
		if got := fmt.Sprint(len(is.Shown()), " ", is.More()); got != want {
			t.Errorf("of %d partitions, %s are named and not", n, got)
		}
	}
}

// A part of the state that could not be read is not shown as empty: its problem is.
func TestWhatWasNotRead(t *testing.T) {
	s := &snapshot{State: &operate.State{
		Unread:   []operate.Unread{{Part: "outbox"}, {Part: "effects"}},
		Problems: []operate.Problem{{Code: "locked", Title: "lock"}, {Part: "outbox", Title: "the outbox"}},
	}}
	for part, want := range map[string]string{"outbox": "the outbox", "effects": "lock", "streams": ""} {
		got := ""
		if p := s.notRead(part); p != nil {
			got = p.Title
		}
		if got != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}
	}
	s.Problems = s.Problems[1:]
	if p := s.notRead("effects"); p != nil {
		t.Errorf("effects have %q", p.Title)
	}
}

// Cells of the file are numbers, or nothing where an act has none.
func TestCells(t *testing.T) {
	for n, want := range map[int64]string{-1: "", 0: "0", 7: "7"} {
		if got := blank(n); got != want {
			t.Errorf("blank(%d) = %q", n, got)
		}
	}
	for text, want := range map[string]string{"1 234": "1234", "1,234 letters": "1234", "0/9": "09", "": ""} {
		if got := digits(text); got != want {
			t.Errorf("digits(%q) = %q", text, got)
		}
	}
}
