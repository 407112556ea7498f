package retry

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

var update = flag.Bool("update", false, "write testdata/reactions.txt")

var faults = map[verdict.Fault]string{
	verdict.Nobodys: "nobody's", verdict.Time: "time", verdict.Function: "function", verdict.Plans: "plans",
	verdict.Settings: "settings", verdict.Record: "record", verdict.Unexplained: "unexplained",
	verdict.Connection: "connection", verdict.CallMissing: "call missing", verdict.CallCut: "call cut",
	verdict.CallLate: "call late", verdict.CallDisturbed: "call disturbed",
	verdict.CallUnexplained: "call unexplained", verdict.CallFailed: "call failed", verdict.CallRefused: "call refused",
}

// testdata/reactions.txt has, for every verdict, what follows when the same records fail seven
// times with it, and what the state then is. Failures that lead to the same are listed above it.
func TestEveryVerdictHasItsReactions(t *testing.T) {
	var out strings.Builder
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		lines := map[string][]string{}
		for _, records := range [][]wire.Message{nil, batch(0), batch(7, 8, 9)} {
			for _, at := range []int{0, 2} {
				for _, stop := range []bool{false, true} {
					for _, flags := range []string{"", "theirs", "letter"} {
						call := fault >= verdict.CallMissing
						if fault == verdict.Record && len(records) == 0 { // Judge does not return it
							continue
						}
						if at > 0 && (!call || len(records) < 3) || call && (len(records) == 0 || flags != "") ||
							flags == "letter" && fault != verdict.Record {
							continue
						}
						name := fmt.Sprintf("%d", len(records))
						if len(records) > 0 {
							name += fmt.Sprintf(" from %d", records[0].Offset)
						}
						if call {
							name += fmt.Sprintf(", the call of %d", records[at].Offset)
						}
						if flags != "" {
							name += ", " + flags
						}
						if stop {
							name += ", on_failure stops"
						}
						got := react(records, at, fault, flags, stop)
						lines[got] = append(lines[got], name)
					}
				}
			}
		}
		for _, got := range slices.SortedFunc(maps.Keys(lines), func(a, b string) int { return strings.Compare(lines[a][0], lines[b][0]) }) {
			fmt.Fprintf(&out, "%s: %s\n%s\n", faults[fault], strings.Join(lines[got], "; "), got)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/reactions.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/reactions.txt")
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")
	for i := range is {
		if i >= len(was) || was[i] != is[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, is[i], append(was, make([]string, len(is))...)[i])
		}
	}
}

// react tells what follows when the records fail seven times with a verdict. Records that are to
// be dead letters stay in the batch.
func react(records []wire.Message, at int, fault verdict.Fault, flags string, stop bool) string {
	s := New()
	p := &wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Second, Stop: stop}
	v := verdict.Verdict{Fault: fault, Event: protocol.Conflict, Err: refusal(), Theirs: flags == "theirs", Letter: flags == "letter"}
	about := About{Event: "Paid", Policy: p}
	if fault >= verdict.CallMissing {
		v.Call, v.Cause, about = &wire.Call{Event: "Paid", Message: &records[at], Policy: p}, errors.New("cause"), About{}
	}
	var told []string
	for range 7 {
		line := "    " + describe(s.Next(records, v, about)) + fmt.Sprintf("; %d next", s.Size(3))
		for _, offset := range slices.Sorted(maps.Keys(s.Refused())) {
			l := s.Refused()[offset]
			line += fmt.Sprintf("; letter %d of %s: %s", offset, l.Event, l.Reason)
		}
		for _, m := range records {
			if n := s.Attempt(m.Offset); n != 1 {
				line += fmt.Sprintf("; call %d of %d", n, m.Offset)
			}
		}
		told = append(told, line)
	}
	var out strings.Builder
	for i, n := 0, 0; i < len(told); i += n {
		for n = 0; i+n < len(told) && told[i+n] == told[i]; n++ {
		}
		fmt.Fprintf(&out, "%s (%d times)\n", told[i], n)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// refusal is an error that is about the statement.
func refusal() error { return &pgconn.PgError{Severity: "ERROR", Code: "P0001", Message: "no"} }

func describe(n Next) string {
	text := fmt.Sprint(n.Event)
	if l := n.Later; l != nil {
		text += ", later"
		if l.After > 0 {
			text += " after a pause"
		}
		text += ": " + l.Err.Error()
	}
	if h := n.Halt; h != nil {
		text += fmt.Sprintf(", halt %s at %d: %v", h.Code, h.Offset, h)
		if h.Pass {
			text += ", may be passed"
		}
	}
	if n.Search {
		text += ", search"
	}
	return text
}
