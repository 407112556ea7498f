package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// found are the checks of an examination, one line each.
func found(e *examination) string {
	var lines []string
	for _, c := range e.checks {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s %s: %s | %s", c.State, c.About, c.Found, c.Advice), " | "))
	}
	return strings.Join(lines, "\n")
}

// doctor reports a server that is too old, may lose commits, or has a clock that differs.
func TestServersAreJudged(t *testing.T) {
	const (
		fine   = "ok database: PostgreSQL 14.0 answers in 1.3ms"
		old    = "FAIL database: PostgreSQL 13.9 | the runtime needs Postgres 14 or later"
		lost   = "\nFAIL durability: a commit of this server may be lost: fsync or full_page_writes is off | turn both on: what is committed must survive a crash"
		others = "\nwarn durability: synchronous_commit is off by default: the service turns it on in its own sessions, " +
			"but a crash may undo what operators' commands and other programs have committed | turn it on for the database, and for roles that use these programs"
		ntp = "windows, leases and ages are by the database's clock; let NTP set both"
	)
	good := server{version: "14.0", number: 140000, durable: true, commit: "on", took: 1260 * time.Microsecond}
	with := func(change func(*server)) server {
		s := good
		change(&s)
		return s
	}
	for want, s := range map[string]server{
		fine:          good,
		old:           with(func(s *server) { s.version, s.number = "13.9", 139999 }),
		fine + lost:   with(func(s *server) { s.durable = false }),
		fine + others: with(func(s *server) { s.commit = "off" }),
		fine + "\nwarn clock: the clock of the database is 2.001s from that of this machine | " + ntp: with(func(s *server) { s.skew = 2001 * time.Millisecond }),
		fine + "\nwarn clock: the clock of the database is -1m0s from that of this machine | " + ntp:  with(func(s *server) { s.skew = -time.Minute }),
	} {
		e := &examination{}
		if e.judgeServer(s); found(e) != want {
			t.Errorf("%+v:\n%s\nwant\n%s", s, found(e), want)
		}
	}
	for _, s := range []server{with(func(s *server) { s.skew = 2 * time.Second }), with(func(s *server) { s.skew = -2 * time.Second }), with(func(s *server) { s.commit = "local" })} {
		e := &examination{}
		if e.judgeServer(s); found(e) != fine {
			t.Errorf("%+v:\n%s", s, found(e))
		}
	}
}

// An unused slot is a warning, and a failure once it is lost or may fill the disk.
func TestSlotsAreJudged(t *testing.T) {
	e := &examination{}
	e.judgeSlot("a", "reserved", 1<<30)
	e.judgeSlot("b", "extended", 1<<30+1)
	e.judgeSlot("c", "lost", 1<<40)
	e.judgeSlot("d", "", 3<<30)
	const want = `warn slot a: nothing reads it | start its connector, or drop the slot
FAIL slot b: nothing reads it, and it keeps 1024 MiB of WAL | start its connector, or drop the slot: otherwise the disk fills up
FAIL slot c: it lost its place in the WAL | recreate the slot and its connector; changes that it had not read are in the tables only
FAIL slot d: nothing reads it, and it keeps 3072 MiB of WAL | start its connector, or drop the slot: otherwise the disk fills up`
	if found(e) != want {
		t.Errorf("%s\nwant\n%s", found(e), want)
	}
}

// A database that does not answer is a failure, and one that is not named is left out.
func TestDatabaseThatIsNotThere(t *testing.T) {
	for want, e := range map[string]*examination{
		"FAIL database: no route | " + reach: {Around: Around{NoAnswer: errors.New("no route")}},
		"skip database: not examined: no address was given | set $DATABASE_URL, or write --database": {},
	} {
		if e.database(t.Context()); found(e) != want {
			t.Errorf("%s\nwant %s", found(e), want)
		}
	}
}
