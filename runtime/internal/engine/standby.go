package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// standby is what a partition without a memory knows about the chain that it waits for.
type standby struct {
	a       assignment   // the last one
	stream  int32        // 0 while the partition has none
	seen    ledger.Tail  // the last known row; zero while there is none
	mark    *ledger.Mark // of the last owner that read the chain
	rivals  rivals
	others  *chain.Counts // of the other chains, if the partition could not begin because of them; otherwise nil
	acted   wire.UUID     // the tail for which an operator's permission was given: it is valid once
	may     *permission   // how Standby ended; nil if it must be called first
	again   bool          // an operator's permission was given for a row that may be older
	waited  bool          // a record arrived late, and its owner was given time to apply it
	patient time.Time     // stalled transactions are not terminated before this time
}

// permission is the permission to take over.
type permission struct {
	event protocol.Event // Quiet or Operator
	given time.Time
}

// begin saves the stream, the tail and the mark of a memory that was discarded.
func (s *standby) begin(o *Owner) {
	s.stream, s.seen, s.may = o.chain.Stream(), o.chain.Tail(), nil
	if m := o.mark(); m != nil {
		s.mark = m
	}
}

const (
	mostPause  = 3 * time.Second
	leastPause = 10 * time.Millisecond
)

// Standby reads the chain from time to time, until the partition may be taken over.
func (p *Partition) Standby(ctx context.Context) (idemtype.TakeOver, error) {
	wait := p.standby.rivals.quiet(p.process)
	wait += rand.N(wait/4 + 1)
	pause := min(max(wait/20, leastPause), mostPause)
	if p.State() == protocol.Halted && !backoff.Sleep(ctx, pause) {
		return idemtype.TakeOver{}, ctx.Err()
	}
	for since := time.Now(); ; {
		state := p.State()
		switch state {
		case protocol.Off:
			return idemtype.TakeOver{}, p.fenced(givenUp)
		case protocol.Standby, protocol.Halted:
		default:
			// The chain changed, but no other owner has it.
			return idemtype.TakeOver{Now: true}, nil
		}
		s := &p.standby
		blind := s.seen.Token == wire.UUID{}
		moved, operator, err := p.readChain(ctx)
		at := idemtype.Position{Offset: s.seen.Next, Epoch: s.seen.Epoch}
		switch {
		case err != nil: // Health tells already that the partition is halted
		case operator:
			s.may, s.acted = &permission{protocol.Operator, time.Now()}, s.seen.Token
			s.again = blind || !moved
			return idemtype.TakeOver{At: at, Now: true}, nil
		case moved:
			since, s.waited = time.Now(), false
		case state == protocol.Standby && time.Since(since) >= wait:
			s.may, s.again = &permission{protocol.Quiet, time.Now()}, false
			return idemtype.TakeOver{At: at}, nil
		}
		if err == nil {
			if err := fault.At(ctx, fault.StandingBy); err != nil {
				return idemtype.TakeOver{}, err
			}
		}
		if !backoff.Sleep(ctx, pause) {
			return idemtype.TakeOver{}, ctx.Err()
		}
	}
}

// readChain reads the rows that were appended after the last row seen. moved means that the tail
// is another row. operator means that an operator appended, that an owner handed the partition
// back and no owner has taken it since, or that the partition is halted and the row seen is gone.
// If no row was seen before, the tail counts as an operator's row.
func (p *Partition) readChain(ctx context.Context) (moved, operator bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, assignTimeout)
	defer cancel()
	db, err := p.process.Pool.Open(ctx)
	if err != nil {
		return false, false, err
	}
	s, consumer := &p.standby, p.process.Service.Consumer
	if s.stream == 0 { // halted because it has no chain: an operator may have begun one
		err := db.QueryRow(ctx, ledger.StreamSQL, consumer, p.id.Topic, s.a.TopicID, p.id.Number).Scan(&s.stream)
		if errors.Is(err, pgx.ErrNoRows) && s.others != nil { // or confirmed the topic's partitions
			n, err := chain.Others(ctx, db, consumer, p.id, s.a.TopicID)
			return false, err == nil && n != *s.others, err
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
	}
	t, err := chain.Tail(ctx, db, s.stream)
	if errors.Is(err, pgx.ErrNoRows) && p.State() == protocol.Halted && s.seen.Token != (wire.UUID{}) {
		s.stream, s.seen = 0, ledger.Tail{} // it went back to before the chain
		return true, true, nil
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	state := p.State()
	moved = t.Token != s.seen.Token
	switch {
	case state == protocol.Halted && moved && (t.Seq <= s.seen.Seq || s.seen.Kind == ledger.Pause && t.Kind != ledger.Pause):
		operator = true // the database went back: what the partition halted for may be gone
	case t.Token == s.acted: // nothing was appended since
	case s.seen.Token == wire.UUID{}:
		operator = true
	case state == protocol.Standby && t.Writer == ledger.HandBack: // and no owner has taken it since
		operator = true
	default:
		operator = s.seen.Token != s.acted && s.seen.Writer == ledger.Person
		if moved {
			operator, err = operatorSince(ctx, db, s.stream, s.seen.Seq, operator, state == protocol.Standby)
		}
	}
	if err == nil {
		s.seen = t
		p.lag.At(t.Next, time.Now())
	}
	return moved, operator, err
}

// operatorSince reports whether an operator appended after a row; before reports whether that row
// was an operator's. If taken is true, an operator's row does not count if a fence follows it.
func operatorSince(ctx context.Context, db *pgxpool.Pool, stream int32, seq int64, before, taken bool) (found bool, err error) {
	found = before
	rows, err := db.Query(ctx, ledger.SinceSQL, stream, seq)
	if err != nil {
		return false, err
	}
	var kind, writer byte
	_, err = pgx.ForEachRow(rows, []any{&kind, &writer}, func() error {
		found = writer == ledger.Person || found && !(taken && kind == ledger.Fence)
		return nil
	})
	return found, err
}

// enter takes the step with which a take-over begins. A partition in STANDBY or HALTED needs the
// permission that Standby gave.
func (p *Partition) enter(ctx context.Context, a assignment) error {
	p.standby.a = a
	state, why := p.at()
	switch state {
	case protocol.Off:
		return p.step(protocol.Assigned, nil)
	case protocol.Fencing: // again, after an error
		return nil
	case protocol.Standby, protocol.Halted:
		return p.leaveStandby(ctx, why)
	}
	if err := p.step(protocol.Revoked, nil); err != nil { // the Source doubts its position
		return err
	}
	return p.step(protocol.Assigned, nil)
}

// mayBeApplied is called if a record arrived during STANDBY: the owner, if there is one, gets time
// to apply it.
const mayBeApplied = "a record came just now, which another owner may be applying"

func (p *Partition) leaveStandby(ctx context.Context, why error) error {
	s := &p.standby
	may := s.may
	if s.may = nil; may == nil {
		return why
	}
	if p.State() == protocol.Standby {
		quiet := may.event == protocol.Quiet
		moved, operator, err := p.readChain(ctx)
		switch {
		case err != nil:
			return err
		case moved && (quiet || !operator):
			s.waited = false
			return p.fenced("another owner is at work")
		case quiet && !s.waited && time.Since(may.given) > p.standby.rivals.quiet(p.process):
			s.waited = true
			return p.fenced(mayBeApplied)
		}
		if quiet {
			s.patient = time.Now().Add(p.standby.rivals.quiet(p.process))
		}
	}
	s.waited = false
	return p.step(may.event, why) // why is kept until the take-over succeeds
}

// checkPermission checks whether the permission is still valid, for a partition that has a
// permission and waits for a record.
func (p *Partition) checkPermission(ctx context.Context) error {
	fenced := p.fenced("the ledger has changed, or the partition must be taken over first")
	if p.State() != protocol.Standby || p.standby.may == nil {
		return fenced
	}
	if moved, operator, err := p.readChain(ctx); err != nil || !moved && !operator {
		return nil // Health tells already that the partition is halted
	}
	p.standby.may = nil
	return fenced
}
