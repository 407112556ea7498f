package verdict

import (
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Whose fault an error is, what the protocol calls it, and what is in doubt after it.
func TestFaultOfATransaction(t *testing.T) {
	call := &wire.Call{Event: "Paid", Message: &wire.Message{}}
	state := func(code string) error { return &pgconn.PgError{Code: code} }
	of := func(h HandlerError) error { h.Call = call; return &h }
	for name, test := range map[string]struct {
		err     error
		records int
		fault   Fault
		event   protocol.Event
		doubt   bool
	}{
		"deadlock":                     {state("40P01"), 2, Nobodys, protocol.Conflict, false},
		"no answer":                    {io.ErrUnexpectedEOF, 2, Nobodys, protocol.Unknown, true},
		"disk full":                    {state("53100"), 2, Nobodys, protocol.Resource, false},
		"lock":                         {state("55P03"), 2, Nobodys, protocol.Conflict, false},
		"value":                        {state("22003"), 2, Record, protocol.Data, false},
		"value, but no record":         {state("22003"), 0, Unexplained, protocol.Data, false},
		"swallowed":                    {ErrRolledBack, 2, Record, protocol.Unknown, false},
		"swallowed, but no record":     {ErrRolledBack, 0, Unexplained, protocol.Unknown, false},
		"missing table":                {state("42P01"), 2, Unexplained, protocol.Fatal, false},
		"pooler":                       {state("26000"), 2, Connection, protocol.Fatal, false},
		"time":                         {state("57014"), 2, Time, protocol.Conflict, false},
		"call: not there":              {of(HandlerError{Err: ErrNotImplemented}), 2, CallMissing, protocol.Conflict, false},
		"call: connection":             {of(HandlerError{Err: io.EOF, Outage: true}), 2, CallCut, protocol.Unknown, true},
		"call: batch is late":          {of(HandlerError{Err: io.EOF, Late: true}), 2, CallLate, protocol.Conflict, true},
		"call: deadlock":               {of(HandlerError{Err: state("40P01")}), 2, CallDisturbed, protocol.Conflict, false},
		"call: missing table":          {of(HandlerError{Err: state("42P01")}), 2, CallUnexplained, protocol.Fatal, false},
		"call: statement takes long":   {of(HandlerError{Err: state("57014")}), 2, CallFailed, protocol.Conflict, false},
		"call: value":                  {of(HandlerError{Err: state("22003")}), 2, CallRefused, protocol.Conflict, false},
		"call: marked permanent":       {of(HandlerError{Err: Permanent(io.EOF)}), 2, CallRefused, protocol.Conflict, false},
		"call: any other error":        {of(HandlerError{Err: errors.New("no")}), 2, CallFailed, protocol.Conflict, false},
		"statement of the user's, 42":  {&Write{Err: state("42P01")}, 2, Unexplained, protocol.Fatal, false},
		"schema changed under a plan":  {&pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, 2, Plans, protocol.Conflict, false},
		"dead letter that was refused": {&Protocol{&pgconn.PgError{Code: "23514", TableName: "idem_dead_letter", ConstraintName: "mine"}}, 1, Record, protocol.Data, false},
	} {
		v := Judge(test.err, test.records)
		if v.Fault != test.fault || v.Event != test.event || v.Doubt != test.doubt {
			t.Errorf("%s: fault %d, event %v, doubt %v; want %d, %v, %v", name, v.Fault, v.Event, v.Doubt, test.fault, test.event, test.doubt)
		}
		if theirs := name == "statement of the user's, 42"; v.Theirs != theirs {
			t.Errorf("%s: of the user's %v", name, v.Theirs)
		}
		if letter := name == "dead letter that was refused"; v.Letter != letter {
			t.Errorf("%s: a refused letter %v", name, v.Letter)
		}
	}
}
