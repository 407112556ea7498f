package operate

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// State is what a database knows of its services at one time. What could not be read is empty, and
// among Unread.
type State struct {
	At        time.Time // by the database's clock
	Role      string    // of the session
	Streams   []Status
	Processes []Process
	Letters   Groups
	Calls     Calls
	Outbox    *Outbox // nil if there is none
	Locks     []Lock  // that hold up sessions of services
	Unread    []Unread
	Problems  []Problem // the worst first
}

// Unread is a part of a State that could not be read.
type Unread struct {
	Part  string // streams, processes, dead letters, effects or outbox
	Table string // that has it
	Err   error
}

// denied reports whether the role lacks a right.
func (u Unread) denied() bool {
	pg, is := errors.AsType[*pgconn.PgError](u.Err)
	return is && pg.Code == "42501"
}

// deniedTable is in a message of the server about a missing right.
var deniedTable = regexp.MustCompile(`^permission denied for table (idem_[a-z_]+)$`)

// denies is the table that the role may not read.
func (u Unread) denies() string {
	if pg, is := errors.AsType[*pgconn.PgError](u.Err); is {
		if m := deniedTable.FindStringSubmatch(pg.Message); m != nil {
			return m[1]
		}
	}
	return u.Table
}

// blocked reports whether a lock kept the part from being read, or may have.
func (u Unread) blocked() bool {
	pg, is := errors.AsType[*pgconn.PgError](u.Err)
	return is && (pg.Code == "55P03" || pg.Code == "57014")
}

// StateOf reads the state of a consumer, or of all consumers if it is "", and judges it. Only if
// nothing can be read it returns an error.
func StateOf(ctx context.Context, db DB, consumer string) (*State, error) {
	s := &State{}
	if _, err := one(ctx, db, []any{&s.At, &s.Role}, `SELECT clock_timestamp(), current_user::text`); err != nil {
		return nil, err
	}
	read := func(part, table string, err error) {
		if err != nil {
			s.Unread = append(s.Unread, Unread{part, table, err})
		}
	}
	all, err := List(ctx, db, "")
	read("streams", "idem_stream", err)
	s.Streams = slices.DeleteFunc(all, func(t Status) bool { return consumer != "" && t.Consumer != consumer })
	s.Processes, err = Processes(ctx, db, consumer)
	read("processes", "idem_process", err)
	s.Letters, err = GroupsOf(ctx, db, Selection{Consumer: consumer})
	read("dead letters", "idem_dead_letter", err)
	s.Calls, err = CallsOf(ctx, db, consumer)
	read("effects", "idem_lease", err)
	s.Outbox, err = FindOutbox(ctx, db)
	read("outbox", "idem_outbox", err)
	if s.locked() || slices.ContainsFunc(s.Unread, Unread.blocked) {
		s.Locks, err = Locks(ctx, db)
		read("locks", "pg_locks", err)
	}
	s.Problems = s.judge()
	return s, nil
}

// Err returns why streams or processes could not be read: without them nothing else is judged. A
// lock that is known, or a missing right, is no error: it is a problem.
func (s *State) Err() error {
	for _, u := range s.Unread {
		if (u.Part == "streams" || u.Part == "processes") && !(u.blocked() && len(s.Locks) > 0) && !u.denied() {
			return u.Err
		}
	}
	return nil
}
