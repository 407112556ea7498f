package operate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/halt"
)

// noon is when the states of these tests were read.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// member is a process with the partitions that it reports as "partition state code".
func member(name string, partitions ...string) operate.Process {
	p := operate.Process{Consumer: "projector", Name: name, SeenAt: noon}
	for _, text := range partitions {
		var r operate.Reported
		_, _ = fmt.Sscan(text, &r.Partition, &r.State, &r.Code) // a code is optional
		r.Process, r.Topic, r.Since, r.Lag = name, "orders.v1", noon.Add(-time.Hour), -1
		if r.Code != "" {
			r.Reason, r.Do = "the cause "+strings.Repeat("x", int(r.Partition)/10), "wait"
		}
		if r.State == "HALTED" {
			r.Ways = []halt.Way{{Code: halt.Code(r.Code), Consumer: "projector", Topic: "orders.v1", Partition: r.Partition}}
		}
		p.Partitions = append(p.Partitions, r)
	}
	return p
}

// sick is a process with a problem as a whole.
func sick(name, code string, relay *process.Relay) operate.Process {
	p := member(name)
	p.Problems, p.Relay = []process.Problem{{Code: code, Since: noon.Add(-time.Minute), Reason: "no broker responds", Do: "see whether the brokers run"}}, relay
	if relay != nil {
		p.Consumer = ""
	}
	return p
}

func silent(p operate.Process) operate.Process {
	p.Silent, p.AgeSeconds, p.SeenAt = true, 60, noon.Add(-time.Minute)
	p.Partitions = slices.Clone(p.Partitions)
	for i := range p.Partitions {
		p.Partitions[i].Silent, p.Partitions[i].AgeSeconds = true, 60
	}
	return p
}

// streams are the streams of partitions 0 to n-1 with what processes report of them.
func streams(n int32, processes ...operate.Process) *operate.State {
	s := &operate.State{At: noon, Role: "console", Processes: processes}
	for i := range n {
		t := operate.Status{
			Stream: i + 1, Name: operate.Name{Consumer: "projector", Topic: "orders.v1", Partition: i},
			Tail: &operate.Tail{RowHead: operate.RowHead{Kind: "batch", WrittenAt: noon.Add(-time.Hour)}, Position: 10},
		}
		for _, p := range processes {
			for j := range p.Partitions {
				if r := &p.Partitions[j]; r.Partition == i {
					t.Reported = r
				}
			}
		}
		s.Streams = append(s.Streams, t)
	}
	return s
}

// Each problem that there is has its words, once, the worst first, whoever shows them.
func TestWhatIsWrongIsJudgedOnce(t *testing.T) {
	leads, follows := &process.Relay{Leads: true}, &process.Relay{}
	healthy := member("a", "0 READY", "1 READY")
	for name, tc := range map[string]struct {
		state *operate.State
		edit  func(s *operate.State)
		want  string // "severity code title: where", a line for each
	}{
		"nothing":          {state: streams(2, healthy)},
		"halted, a group":  {state: streams(3, member("a", "0 HALTED record-refused", "1 HALTED record-refused", "2 READY")), want: "urgent record-refused 2 partitions halted: orders.v1/0-1"},
		"halted, by cause": {state: streams(2, member("a", "0 HALTED record-refused", "1 HALTED database")), want: "urgent record-refused 1 partition halted: orders.v1/0\nurgent database 1 partition halted: orders.v1/1"},
		"retries":          {state: streams(2, member("a", "0 BACKOFF backoff", "1 READY")), want: "passing backoff 1 partition retries by itself: orders.v1/0"},
		"stands still":     {state: streams(2, member("a", "0 BACKOFF backoff", "1 BACKOFF backoff")), want: "urgent backoff 2 partitions retry by themselves: orders.v1/0-1"},
		"stands still for a moment": {state: streams(1, member("a", "0 BACKOFF backoff")), edit: func(s *operate.State) { s.Streams[0].Reported.Since = noon.Add(-10 * time.Second) },
			want: "passing backoff 1 partition retries by itself: orders.v1/0"},
		"a topic is missing": {state: streams(2, sick("a", "topic-missing", nil), member("b", "0 READY", "1 READY")), want: "urgent topic-missing projector: no broker responds"},
		"of one record each": {state: streams(2, member("a", "0 BACKOFF backoff", "1 BACKOFF backoff")), edit: func(s *operate.State) {
			s.Streams[0].Reported.Reason = "event OrderPlaced, offset 8: " + s.Streams[0].Reported.Reason
		}, want: "urgent backoff 2 partitions retry by themselves: orders.v1/0-1"},
		"not reported": {state: streams(3, healthy), want: "unknown not-reported 1 partition not known: orders.v1/2"},
		"silent": {state: streams(3, healthy, silent(member("b", "2 READY"))), want: "unknown not-reported 1 partition not known: orders.v1/2\n" +
			"notice fell-silent 1 process fell silent within the last hour"},
		"nobody is left":        {state: streams(2), want: "urgent no-process no process of projector is left: orders.v1/0-1"},
		"killed":                {state: streams(2, silent(healthy)), want: "urgent no-process no process of projector is left: orders.v1/0-1"},
		"retired":               {state: streams(1), edit: func(s *operate.State) { s.At = s.At.Add(40 * 24 * time.Hour) }, want: "notice no-process no process of projector has run for a month: orders.v1/0"},
		"the broker is away":    {state: streams(2, sick("a", "unavailable", nil), sick("b", "unavailable", nil)), want: "urgent unavailable projector: no broker responds, in 2 processes"},
		"an event is refused":   {state: streams(2, healthy, sick("r", "refused", leads), sick("q", "leader", follows)), want: "urgent refused the broker rejects events of the outbox"},
		"a standby that waits":  {state: streams(2, healthy, sick("q", "leader", follows), operate.Process{Name: "r", Relay: leads}), want: ""},
		"the leader is unknown": {state: streams(2, healthy, sick("q", "leader", follows)), want: "passing leader the relay of the outbox does not keep up"},
		"no relay": {state: streams(2, healthy), edit: func(s *operate.State) { s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Hour} },
			want: "urgent no-relay no relay sends the outbox"},
		"a relay hangs": {state: streams(2, healthy), edit: func(s *operate.State) { s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Hour, Leader: "pid 1"} },
			want: "urgent outbox-held events wait in the outbox"},
		"events just written": {state: streams(2, healthy), edit: func(s *operate.State) { s.Outbox = &operate.Outbox{Waiting: 1, Oldest: time.Second} }},
		"paused": {state: streams(2, healthy), edit: func(s *operate.State) { s.Streams[0].Tail.Kind, s.Streams[0].Tail.Info = "pause", "ann: repair" },
			want: "passing paused 1 partition paused: orders.v1/0"},
		"letters": {state: streams(2, healthy), edit: func(s *operate.State) {
			s.Letters.Groups = []operate.Group{
				{Cause: operate.Cause{Class: "handler"}, Count: 5, Asked: 2, Waiting: 7}, {Cause: operate.Cause{Class: "interrupted"}, Count: 1},
			}
		}, want: "urgent interrupted 1 call needs a decision\nurgent dead-letters 3 dead letters\npassing requests 2 requests about dead letters pending"},
		"letters of a former topic": {state: streams(2, healthy), edit: func(s *operate.State) {
			s.Letters.Groups = []operate.Group{{Cause: operate.Cause{Class: "handler"}, Count: 5, Waiting: 7, Former: true}}
		}, want: "notice former-letters 5 dead letters of a former topic"},
		"calls": {state: streams(2, healthy), edit: func(s *operate.State) { s.Calls.Failing = 1001 }, want: "passing calls-failing 1000+ calls keep failing"},
		"a restore": {state: streams(2, healthy), edit: func(s *operate.State) { s.Streams[1].Lost = &operate.Lost{FoundAt: noon, From: 3, To: 7} },
			want: "notice lost-commits the database lost commits of 1 partition: orders.v1/1"},
		"an old restore": {state: streams(2, healthy), edit: func(s *operate.State) {
			s.Streams[1].Lost = &operate.Lost{FoundAt: noon.Add(-8 * 24 * time.Hour), From: 3, To: 7}
		}},
		"a restore just now": {state: streams(2, member("a", "0 READY", "1 READY lost-commits")), edit: func(s *operate.State) { s.Streams[1].Lost = &operate.Lost{FoundAt: noon} },
			want: "notice lost-commits 1 partition applies records again: orders.v1/1"},
		"one applies records again while another is retried": {state: streams(2, member("a", "0 READY lost-commits", "1 RETRYING retrying")),
			want: "passing retrying 1 partition retries by itself: orders.v1/1\nnotice lost-commits 1 partition applies records again: orders.v1/0"},
		"a right is missing": {state: streams(2, healthy), edit: func(s *operate.State) {
			s.Unread = []operate.Unread{{Part: "outbox", Table: "idem_outbox", Err: &pgconn.PgError{Code: "42501"}}}
		}, want: "unknown no-right outbox not known"},
		"something cannot be read": {state: streams(2, healthy), edit: func(s *operate.State) {
			s.Unread = []operate.Unread{{Part: "effects", Table: "idem_lease", Err: errors.New("a page is broken")}}
		}, want: "unknown unread effects not known"},
		"a lock": {state: streams(2, member("a", "0 BACKOFF backoff", "1 READY")), edit: func(s *operate.State) {
			s.Streams[0].Reported.Reason = "a lock was not acquired in time: SQLSTATE 55P03"
			s.Locks = []operate.Lock{{On: "table orders", Sessions: []operate.Session{{PID: 4711, Application: "a migration", User: "ann"}}}}
		}, want: "urgent locked a lock holds up 1 partition: orders.v1/0"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.edit != nil {
				tc.edit(tc.state)
			}
			var lines []string
			for _, p := range tc.state.Judge() {
				line := strings.TrimSuffix(fmt.Sprintf("%s %s %s: %s", p.Severity, p.Code, p.Title, p.Where()), ": ")
				lines = append(lines, line)
				if p.Subject == "" || p.State == "" || p.Cause == "" || p.Costs == "" || p.Mended == "" || len(p.Advice()) == 0 {
					t.Errorf("%s says too little: %+v", line, p)
				}
			}
			want(t, "problems", strings.Join(lines, "\n"), tc.want)
		})
	}
}

// A process that was killed is not blamed for what another one, which ended in order, left behind.
// One is counted once, although its relay reports itself, too.
func TestWhoEndedLast(t *testing.T) {
	dead := silent(member("a", "0 READY"))
	dead.SeenAt = noon.Add(-2 * time.Hour)
	s := streams(1, dead)
	says(t, s.Judge()[0].Cause, "the last one ended in order")
	s.Streams[0].Tail.Kind = "pause" // by an operator
	says(t, s.Judge()[0].Cause, "the last one to report, a, did not end in order")
	if cause := streams(1).Judge()[0].Cause; !strings.Contains(cause, "ended in order") {
		t.Errorf("an hour after its last row: %s", cause)
	}
	late := streams(1)
	if late.At = late.At.Add(25 * time.Hour); strings.Contains(late.Judge()[0].Cause, "ended in order") {
		t.Error("after a day, the report of a process that was killed is gone as well")
	}
	s.Streams[0].Tail.Kind, s.Streams[0].Tail.WrittenAt = "batch", dead.SeenAt
	says(t, s.Judge()[0].Cause, "the last one to report, a, did not end in order")
	relay := silent(sick("a", "leader", &process.Relay{}))
	want(t, "title", streams(1, member("b", "0 READY"), silent(member("a")), relay).Judge()[0].Title, "1 process fell silent within the last hour")
}

// A lock that keeps everybody from reading a table is a problem with a way out, and no error.
func TestALockOnATableOfTheRuntime(t *testing.T) {
	s := &operate.State{
		At: noon, Unread: []operate.Unread{{Part: "streams", Table: "idem_ledger", Err: &pgconn.PgError{Code: "55P03"}}},
		Locks: []operate.Lock{{On: "table idem_ledger", Sessions: []operate.Session{{PID: 4711, Application: "a migration"}}}},
	}
	p := s.Judge()[0]
	want(t, "problem", fmt.Sprint(p.Severity, " ", p.State, " ", p.Cause, " ", s.Err()), "urgent LOCKED table idem_ledger: held by pid 4711, a migration <nil>")
	want(t, "way", p.Ways[0].Command, "SELECT pg_terminate_backend(4711); -- as a superuser, or a member of pg_signal_backend or of the session's role")
	s.Locks = nil
	if s.Err() == nil {
		t.Error("streams that cannot be read without a known lock are no error")
	}
}

// An event that the broker rejects has the remedy of its cause, and the statement that gives it up
// where that helps. What is not the name of a topic or the id of an event is not passed on.
func TestARejectedEventIsExplained(t *testing.T) {
	const id, deletes = "0bae690c-1111-4222-8333-444455556666", "DELETE FROM idem_outbox WHERE id = '0bae690c-1111-4222-8333-444455556666'; -- as the service's role"
	const gone, left = "the event is given up: no consumer receives it, and the later events of its aggregate follow within a minute",
		"the dead letter is not sent to its topic: it stays in the database, and the later ones of its key follow within a minute"
	for _, tc := range []struct {
		code          string
		event         *process.Event
		title, advice string
	}{
		{process.TopicMissing, &process.Event{ID: id, Topic: "orders.v1"}, "topic orders.v1 of the outbox is missing", "do"},
		{process.TooLarge, &process.Event{ID: id, Topic: "orders.v1", Bytes: 7}, "an event of the outbox is too large for topic orders.v1", "do\nor, where " + gone + ":\n" + deletes},
		{process.Refused, &process.Event{ID: id}, "the broker rejects events of the outbox", "do\nor, where " + gone + ":\n" + deletes},
		{process.Refused, &process.Event{ID: id, Topic: "dead.v1", Letter: true}, "the broker rejects events of the outbox", "do\nor, where " + left + ":\n" + deletes},
		{process.TooLarge, &process.Event{ID: "' OR true; --", Topic: "a topic; DROP TABLE x"}, "the broker rejects events of the outbox", "do"},
		{process.Refused, nil, "the broker rejects events of the outbox", "do"},
	} {
		relay := sick("r", tc.code, &process.Relay{Leads: true})
		relay.Problems[0].Do, relay.Problems[0].Event = "do", tc.event
		p := streams(0, relay).Judge()[0]
		want(t, "title", p.Title, tc.title)
		want(t, "severity", string(p.Severity), "urgent")
		want(t, "advice", strings.Join(p.Advice(), "\n"), tc.advice)
	}
}

// A lock is explained by who holds it, and how to end that.
func TestALockIsExplained(t *testing.T) {
	s := streams(1, member("a", "0 BACKOFF backoff"))
	s.Streams[0].Reported.Reason = "a lock was not acquired in time: SQLSTATE 55P03"
	s.Locks = []operate.Lock{{On: "table orders", Sessions: []operate.Session{{PID: 4711, Application: "a migration", User: "ann", Since: noon}}}}
	whole := streams(1, sick("a", "unavailable", nil))
	whole.Processes[0].Problems[0].Reason, whole.Locks = s.Streams[0].Reported.Reason, s.Locks
	for _, s := range []*operate.State{s, whole} {
		p := s.Judge()[0]
		want(t, "cause", p.Cause, "table orders: held by pid 4711, a migration, ann, since 2026-01-02T12:00:00Z")
		want(t, "advice", strings.Join(p.Advice(), "\n"), "wait until that transaction ends, or end its session\nSELECT pg_terminate_backend(4711); -- as a superuser, or a member of pg_signal_backend or of the session's role")
	}
}

// One lock is one problem, whatever waits for it, and who holds it is the first to end.
func TestALockIsOneProblem(t *testing.T) {
	s := streams(2, member("a", "0 BACKOFF backoff", "1 BACKOFF backoff"), sick("b", "unavailable", nil))
	for _, r := range []*string{&s.Streams[0].Reported.Reason, &s.Streams[1].Reported.Reason, &s.Processes[1].Problems[0].Reason} {
		*r = "a lock was not acquired in time: SQLSTATE 55P03"
	}
	s.Unread = []operate.Unread{{Part: "dead letters", Table: "idem_dead_letter", Err: &pgconn.PgError{Code: "55P03"}}}
	s.Locks = []operate.Lock{{On: "table idem_dead_letter", Sessions: []operate.Session{{PID: 1, Application: "report"}, {PID: 2, Application: "a migration", Waits: true}}}}
	all := s.Judge()
	if len(all) != 1 {
		t.Fatalf("%d problems: %+v", len(all), all)
	}
	want(t, "title", all[0].Title, "a lock holds up 1 process, 2 partitions, whoever looks at the service")
	want(t, "cause", all[0].Cause, "table idem_dead_letter: held by pid 1, report; pid 2, a migration waits for it before others")
	relay := sick("r", "delete", &process.Relay{Leads: true})
	relay.Problems[0].Reason = "timeout: context deadline exceeded"
	blind := &operate.State{At: noon, Processes: []operate.Process{s.Processes[0], relay}, Locks: []operate.Lock{{On: "table idem_outbox", Sessions: s.Locks[0].Sessions}},
		Unread: []operate.Unread{{Part: "streams", Table: "idem_ledger", Err: &pgconn.PgError{Code: "55P03"}}}}
	want(t, "title where streams cannot be read", blind.Judge()[0].Title, "a lock holds up 1 relay, 2 partitions, whoever looks at the service")
	relay.Problems[0].Code = process.Refused // the lock is not its cause
	blind.Processes[1] = relay
	want(t, "a rejected event beside a lock", blind.Judge()[0].Code, process.Refused)
	want(t, "other ways", fmt.Sprint(all[0].Ways[0].Other, all[0].Ways[1].Other, len(all[0].Ways)), "false true 2")
}

// A missing right of a role that reads is a problem with the statement that mends it, and the rest
// is shown.
func TestAMissingRightIsNamed(t *testing.T) {
	s := &operate.State{At: noon, Role: `CORP\reader`, Unread: []operate.Unread{{Part: "streams", Table: "idem_stream", Err: &pgconn.PgError{Code: "42501", Message: "permission denied for table idem_ledger"}}}}
	p := s.Judge()[0]
	want(t, "problem", fmt.Sprint(p.Code, ": ", p.Cause, " ", s.Err()), "no-right: role CORP\\reader has no right to read idem_ledger <nil>")
	want(t, "way", p.Ways[0].Command, `GRANT SELECT ON idem_ledger TO "CORP\reader"; -- as the owner of the table`)
}

// Where the service's role lacks a right, the statement that grants all it may need comes first,
// and no record is skipped for it.
func TestAMissingRightOfTheServiceIsGranted(t *testing.T) {
	s := streams(2, member("a", "0 HALTED database", "1 HALTED database"))
	for i := range s.Streams {
		r := s.Streams[i].Reported
		r.Reason = `role shop lacks a right on table orders: GRANT SELECT, INSERT ON orders TO "shop": SQLSTATE 42501`
		r.Ways = append(r.Ways, r.Ways[0].Pass(7))
	}
	p := s.Judge()[0]
	want(t, "advice", strings.Join(p.Advice(), "\n"), `grant the right, then release
GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO "shop"; -- as the owner
idemgen stream release --consumer projector --topic orders.v1 --partition 0 --reason database
idemgen stream release --consumer projector --topic orders.v1 --partition 1 --reason database`)
}

// Where the table of the outbox is missing, the command that prints it is named.
func TestAMissingOutboxIsExplained(t *testing.T) {
	s := streams(1, member("a", "0 HALTED database"))
	s.Streams[0].Reported.Reason = `ERROR: relation "idem_outbox" does not exist (SQLSTATE 42P01)`
	p := s.Judge()[0]
	if advice := p.Advice(); !slices.Contains(advice, "idemgen outbox migration") {
		t.Errorf("advice: %q", advice)
	}
}

// The commands of all partitions of a problem are listed, and the second choices after them with
// what they cost.
func TestAdviceListsTheCommandsOfAllPartitions(t *testing.T) {
	s := streams(2, member("a", "0 HALTED record-refused", "1 HALTED record-refused"))
	for i := range s.Streams {
		r := s.Streams[i].Reported
		r.Ways = append(r.Ways, r.Ways[0].Pass(10))
	}
	const release, set = "idemgen stream release --consumer projector --topic orders.v1 --partition ", "idemgen stream set --consumer projector --topic orders.v1 --partition "
	want(t, "advice", strings.Join(s.Judge()[0].Advice(), "\n"), release+"0 --reason record-refused\n"+release+"1 --reason record-refused\n"+
		"or, where records before offset 11 that were not applied are lost: they never take effect, and no data of theirs is kept:\n"+
		set+"0 --to 11 --reason record-refused\n"+set+"1 --to 11 --reason record-refused")
}

// Reasons of one cause are one, and those with another status, SQLSTATE or type are not.
func TestCommonKeepsWhatTellsCausesApart(t *testing.T) {
	for reason, common := range map[string]string{
		`order 9b2c7e4a-0d3f-4a51-8f7e-2f1c3b9a7d10 of "ann" has 12 items at 10:15`: "order # of # has # items at #",
		"POST 10.0.0.1: status 422 Unprocessable Entity":                            "POST #: status 422 Unprocessable Entity",
		"total has 11 digits, more than numeric(12,2) has room for: SQLSTATE 22003": "total has # digits, more than numeric(12,2) has room for: SQLSTATE 22003",
		`it's 'quoted', "open and 7, a1b2 xstatus 500 status 5000 9`:                `it#quoted', "open and #, a#b# xstatus # status # #`,
		"numeric(1,2)3 deadbeef-1-9b2c7e4a-0d3f-4a51-8f7e-2f1c3b":                   "numeric(1,2)# deadbeef-#b#c#e#a-#d#f-#a#f#e-#f#c#b",
		"of aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaa-b":                                  "of #b",
		"x9b2c7e4a-0d3f-4a51-8f7e-2f1c3b9a7d10 -1.5:3- SQLSTATE 2200":               "x#b#c#e#a-#d#f-#a#f#e-#f#c#b#a#d# -#- SQLSTATE #",
	} {
		want(t, "common", operate.Common(reason), common)
	}
}
