package operate_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/halt"
)

var update = flag.Bool("update", false, "write testdata/judged.txt and next.txt")

// allOf returns the fields of a problem that are not empty, one on each line.
func allOf(p *operate.Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s: %s\n", p.Severity, p.Subject, p.Code, p.State, p.Title)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, text)
		}
	}
	line("of", strings.Trim(p.Consumer+" "+p.Where()+" "+p.Part, " "))
	line("processes", strings.Join(p.Processes, "; "))
	if !p.Since.IsZero() {
		line("since", p.Since.Format("01-02 15:04:05"))
	}
	line("cause", p.Cause)
	line("happened", p.Happened)
	line("costs", p.Costs)
	line("check", p.Check)
	line("do", p.Do)
	for _, w := range p.Ways {
		line(map[bool]string{false: "way", true: "or"}[w.Other]+map[bool]string{false: "", true: " (the console's)"}[w.Way != nil], w.Command+" -- "+w.Costs)
	}
	line("mended", p.Mended)
	return b.String()
}

const lockWait = "a lock was not acquired in time: SQLSTATE 55P03"

// ago is so long before the states were read.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// judged are states with what each is about. Their problems are in testdata/judged.txt.
var judged = []struct {
	about string
	of    func() *operate.State
}{
	{"halts of one cause begin with the first, and name no event of one partition", func() *operate.State {
		s := streams(4, member("a", "0 HALTED record-refused", "1 HALTED record-refused", "2 HALTED record-refused", "3 HALTED topic-recreated"))
		for i := range s.Streams[:3] {
			r := s.Streams[i].Reported
			r.Reason, r.Since = fmt.Sprintf("event Paid, offset %d: value 7 too long", i+1), ago(time.Duration(i)*time.Minute)
			r.Ways = append(r.Ways, r.Ways[0].Pass(int64(i)))
		}
		return s
	}},
	{"partitions with one way out for all of them", func() *operate.State {
		s := streams(2, member("a", "0 HALTED partitions-changed", "1 HALTED partitions-changed"))
		for i := range s.Streams {
			s.Streams[i].Reported.Ways = []halt.Way{{Code: halt.PartitionsChanged, Consumer: "projector", Topic: "orders.v1", All: true, Partitions: 12}}
		}
		return s
	}},
	{"a halt without a way has words, and a partition in STANDBY waits", func() *operate.State {
		s := streams(3, member("a", "0 HALTED runtime", "1 STANDBY", "2 READY"))
		s.Streams[0].Reported.Ways = nil
		return s
	}},
	{"a missing right of the service, which does not lose the record", func() *operate.State {
		s := streams(2, member("a", "0 HALTED database", "1 BACKOFF database"))
		for i := range s.Streams {
			r := s.Streams[i].Reported
			r.Reason = `no right: GRANT SELECT ON SEQUENCE seq TO "shop": SQLSTATE 42501`
			if i == 0 {
				r.Ways = append(r.Ways, r.Ways[0].Pass(7))
			}
		}
		return s
	}},
	{"a missing right of a relay", func() *operate.State {
		p := sick("r", "database", &process.Relay{Leads: true})
		p.Problems[0].Reason = `no right: GRANT UPDATE ON idem_outbox TO "shop": SQLSTATE 42501`
		return streams(0, p)
	}},
	{"problems of several processes, the same one once", func() *operate.State {
		a, b, c, d := sick("a", "unavailable", nil), sick("b", "unavailable", nil), sick("c", "unavailable", nil), sick("d", "unavailable", nil)
		b.Problems[0].Since = ago(time.Hour)
		c.Problems[0].Reason = "another cause: of c"
		d.Consumer = "audit"
		d.Problems = append(d.Problems, process.Problem{Code: "tls", Reason: "no certificate", Do: "renew it", Since: ago(31 * time.Second)}, process.Problem{Code: operate.Unreadable, Reason: "no report", Do: "look", Since: noon})
		return streams(1, a, b, c, d, silent(sick("e", "unavailable", nil)))
	}},
	{"what lasts is urgent where nothing works, or only a person ends it", func() *operate.State {
		s := streams(2, sick("a", "credentials", nil), sick("b", "unavailable", nil), sick("c", "topic-missing", nil), member("d", "0 READY", "1 BACKOFF backoff"))
		s.Processes[0].Problems[0].Since, s.Processes[2].Problems[0].Since = ago(30*time.Second), ago(29*time.Second)
		return s
	}},
	{"a former partition that works is no progress", func() *operate.State {
		s := streams(2, member("a", "0 READY", "1 BACKOFF backoff"))
		s.Streams[0].Former = true
		return s
	}},
	{"a relay that waits for its leader, and what keeps another up", func() *operate.State {
		var all []operate.Process
		for i, code := range []string{"leader", "broker", "unanswered", "database", "slow", "too-large"} {
			p := sick(fmt.Sprint("r", i), code, &process.Relay{})
			p.Problems[0].Reason += " for " + strings.Repeat("x", i)
			all = append(all, p)
		}
		return streams(0, all...)
	}},
	{"consumers without a process", func() *operate.State {
		s := streams(3, silent(member("a", "0 READY")), silent(member("b", "1 READY")), sick("r", "leader", &process.Relay{}))
		s.Processes[1].SeenAt = ago(30 * time.Second)
		for i, consumer := range []string{"projector", "zebra", "audit"} {
			s.Streams[i].Consumer = consumer
		}
		s.Streams[0].Tail.WrittenAt, s.Streams[1].Tail.WrittenAt = ago(2*time.Minute), ago(24*time.Hour)
		s.Streams[2].Tail = nil
		return s
	}},
	{"consumers without a process for a month, and for a little longer", func() *operate.State {
		s := streams(3)
		for i, consumer := range []string{"a", "b", "b"} {
			s.Streams[i].Consumer = consumer
			s.Streams[i].Tail.WrittenAt = ago(30*24*time.Hour + time.Duration(i))
		}
		return s
	}},
	{"partitions that their processes left out of the report, or that have a problem as a whole", func() *operate.State {
		s := streams(3, member("a", "0 READY", "1 READY"))
		s.Processes[0].More = 3
		s.Streams[1].Reported.Whole, s.Streams[1].Reported.Code = true, "unavailable"
		return s
	}},
	{"a silent process whose partition nobody else has", func() *operate.State {
		return streams(3, member("a", "0 READY"), silent(member("b", "1 READY")))
	}},
	{"pauses of two partitions, one of which nobody reports", func() *operate.State {
		s := streams(3, member("a", "0 PAUSED paused", "2 READY"))
		for i := range 2 {
			s.Streams[i].Tail.RowHead = operate.RowHead{Kind: "pause", Info: "operator ann: repair", WrittenAt: ago(time.Hour)}
		}
		return s
	}},
	{"a pause of a former partition", func() *operate.State {
		s := streams(2, member("a", "1 READY"))
		s.Streams[0].Tail.Kind, s.Streams[0].Former = "pause", true
		return s
	}},
	{"dead letters of several causes", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Letters.Groups = []operate.Group{
			operate.AskedSince(operate.Group{Cause: operate.Cause{Class: "database"}, Count: 9, Asked: 9, Waiting: 1, First: ago(9 * time.Hour)}, ago(29*time.Second)),
			{Cause: operate.Cause{Class: "handler", Event: "Paid", Reason: "no #"}, Count: 5, Waiting: 7, First: ago(time.Hour), Version: "v1"}, {Cause: operate.Cause{Class: "decode"}, Count: 2, First: ago(2 * time.Hour)},
			{Cause: operate.Cause{Class: "interrupted"}, Count: 2, First: ago(3 * time.Hour)}, {Cause: operate.Cause{Class: "handler"}, Former: true, Count: 3, Waiting: 100, First: ago(4 * time.Hour)},
		}
		return s
	}},
	{"one of each, and there may be more", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Letters.Older = new(operate.Mark)
		s.Letters.Groups = []operate.Group{{Cause: operate.Cause{Class: "handler"}, Count: 1, Waiting: 1}, {Cause: operate.Cause{Class: "interrupted"}, Count: 1}}
		return s
	}},
	{"a request about an interrupted call, and one about a letter of a former topic", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Letters.Groups = []operate.Group{
			operate.AskedSince(operate.Group{Cause: operate.Cause{Class: "interrupted"}, Count: 1, Asked: 1}, ago(30*time.Second)),
			operate.AskedSince(operate.Group{Cause: operate.Cause{Class: "handler"}, Former: true, Count: 1, Asked: 1}, ago(20*time.Second)),
		}
		return s
	}},
	{"a request that is not answered", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Letters.Groups = []operate.Group{
			operate.AskedSince(operate.Group{Cause: operate.Cause{Class: "handler"}, Count: 1, Asked: 1}, ago(20*time.Second)),
			operate.AskedSince(operate.Group{Cause: operate.Cause{Class: "decode"}, Count: 1, Asked: 1}, ago(31*time.Second)),
		}
		return s
	}},
	{"calls that fail", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Calls.Failing = 1000
		for i, state := range []string{"failed", "failed", "processing"} {
			s.Calls.Oldest = append(s.Calls.Oldest, operate.OpenCall{Call: operate.Call{State: state, ChangedAt: ago(time.Duration(i+1) * time.Minute)}})
		}
		return s
	}},
	{"one call that fails", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Calls.Failing = 1
		return s
	}},
	{"more calls than are counted", func() *operate.State {
		s := streams(1, member("a", "0 READY"))
		s.Calls.Failing = 1001
		return s
	}},
	{"events that wait a minute", func() *operate.State {
		s := streams(0)
		s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Minute}
		return s
	}},
	{"events that wait longer, with a relay that is silent, and one that waits", func() *operate.State {
		s := streams(0, silent(sick("r", "broker", &process.Relay{})), sick("q", "leader", &process.Relay{}), sick("a", "unavailable", nil))
		s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Minute + time.Second}
		return s
	}},
	{"events that wait, of which a relay says why", func() *operate.State {
		s := streams(0, sick("q", "broker", &process.Relay{Leads: true}))
		s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Hour, Leader: "pid 7"}
		return s
	}},
	{"an outbox without events", func() *operate.State {
		s := streams(0)
		s.Outbox = &operate.Outbox{Oldest: time.Hour}
		return s
	}},
	{"parts that cannot be read", func() *operate.State {
		s := streams(0)
		s.Unread = []operate.Unread{
			{Part: "a", Table: "idem_a", Err: errors.New("a page is broken")}, {Part: "b", Table: "idem_b", Err: &pgconn.PgError{Code: "42501", Message: "no right"}},
			{Part: "c", Table: "idem_c", Err: &pgconn.PgError{Code: "42501", Message: "permission denied for table idem_stream"}},
		}
		return s
	}},
	{"processes that fell silent", func() *operate.State {
		s := streams(1, member("live", "0 READY"))
		for i := range 7 {
			p := silent(member(fmt.Sprint("p", i)))
			p.SeenAt, p.AgeSeconds = ago(time.Duration(i)*time.Minute), float64(i*60)
			s.Processes = append(s.Processes, p, p)
		}
		s.Processes[1].AgeSeconds, s.Processes[2].AgeSeconds = 3600, 3601
		return s
	}},
	{"a relay that fell silent with the last process of a consumer, and one alone", func() *operate.State {
		relay := silent(sick("a", "leader", &process.Relay{}))
		alone := silent(sick("r", "leader", &process.Relay{}))
		return streams(1, silent(member("a", "0 READY")), relay, alone)
	}},
	{"commits that were lost", func() *operate.State {
		s := streams(5, member("a", "0 READY", "1 READY", "2 READY lost-commits", "3 READY", "4 READY"))
		for i := range s.Streams {
			s.Streams[i].Lost = &operate.Lost{FoundAt: ago(time.Duration(i) * time.Hour), From: 3, To: 3 + int64(i)}
		}
		s.Streams[3].Lost.FoundAt, s.Streams[4].Lost.FoundAt = ago(7*24*time.Hour), ago(7*24*time.Hour+1)
		return s
	}},
	{"rows of a ledger that were lost, and records", func() *operate.State {
		s := streams(2, member("a", "0 READY"))
		s.Streams[0].Consumer = "audit"
		s.Streams[0].Lost, s.Streams[1].Lost = &operate.Lost{FoundAt: noon, From: 3, To: 4}, &operate.Lost{FoundAt: noon, From: 3, To: 3}
		s.Processes = append(s.Processes, operate.Process{Consumer: "audit", Name: "b"})
		return s
	}},
	{"a lock that holds up a page, a relay and partitions", func() *operate.State {
		relay := sick("r", "database", &process.Relay{Leads: true})
		s := streams(2, member("a", "0 BACKOFF backoff", "1 BACKOFF backoff"), relay)
		for i := range s.Streams {
			s.Streams[i].Reported.Reason, s.Streams[i].Reported.Since = lockWait, ago(time.Duration(i+5)*time.Second)
		}
		s.Locks = []operate.Lock{
			{On: "table idem_outbox", Sessions: []operate.Session{{PID: 1, Application: "report", State: "active"}, {PID: 2, Waits: true}}}, {On: "table orders", Sessions: []operate.Session{{PID: 1}}},
		}
		return s
	}},
	{"a lock that is not the cause", func() *operate.State {
		s := streams(1, member("a", "0 BACKOFF backoff"), sick("r", "database", &process.Relay{Leads: true}), sick("b", "database", nil))
		s.Locks = []operate.Lock{{On: "table orders", Sessions: []operate.Session{{PID: 1}}}}
		return s
	}},
	{"a lock without a session that is known", func() *operate.State {
		s := streams(1, member("a", "0 BACKOFF backoff"))
		s.Streams[0].Reported.Reason = lockWait
		s.Unread = []operate.Unread{{Part: "effects", Table: "idem_lease", Err: &pgconn.PgError{Code: "55P03"}}}
		return s
	}},
	{"streams that a lock hides, with partitions of a silent process", func() *operate.State {
		s := streams(0, member("a", "0 BACKOFF backoff", "1 READY", "2 BACKOFF backoff"), silent(member("b", "3 BACKOFF backoff")))
		for _, p := range s.Processes {
			for i := range p.Partitions {
				if p.Partitions[i].Code != "" {
					p.Partitions[i].Reason = lockWait
				}
			}
		}
		s.Unread = []operate.Unread{{Part: "streams", Table: "idem_ledger", Err: &pgconn.PgError{Code: "57014"}}}
		s.Locks = []operate.Lock{{On: "table idem_ledger", Sessions: []operate.Session{{PID: 1}}}}
		return s
	}},
}

// Each problem has all of its words, and nothing else is one: testdata/judged.txt has what comes
// of states of services, to be read as a whole.
func TestProblemsInFull(t *testing.T) {
	var b strings.Builder
	for _, c := range judged {
		fmt.Fprintf(&b, "# %s\n", c.about)
		all := c.of().Judge()
		for i := range all {
			if all[i].Names == nil || all[i].Ways == nil || all[i].Processes == nil {
				t.Errorf("%s: a list is null: %+v", c.about, all[i])
			}
			var names []operate.Name
			for _, p := range all[i].Partitions {
				names = append(names, p.Name)
			}
			if !reflect.DeepEqual(append([]operate.Name{}, names...), all[i].Names) {
				t.Errorf("%s: names %v of partitions %v", c.about, all[i].Names, names)
			}
			b.WriteString(allOf(&all[i]))
		}
		b.WriteString("\n")
	}
	path := filepath.Join("testdata", "judged.txt")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(b.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, has := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(has)) {
		if i >= len(got) || i >= len(has) || got[i] != has[i] {
			t.Fatalf("line %d of %s differs (-update writes it):\n%s\nwant\n%s", i+1, path, strings.Join(got[min(i, len(got)):min(i+5, len(got))], "\n"), strings.Join(has[min(i, len(has)):min(i+5, len(has))], "\n"))
		}
	}
}
