package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
)

// An event may have copies in several partitions. If the database lost commits of one partition, a
// copy in another may be called although its event was. So calls that must not be repeated wait
// until all partitions have applied their records again: then keys and outcomes are known.

// elsewhere is what a process knows of partitions that apply again what the database lost.
type elsewhere struct {
	reading sync.Mutex // held while the rest is read

	mu       sync.Mutex
	compared map[string]bool // topics of which all partitions were compared with Kafka
	behind   []idemtype.Partition
	asked    time.Time // when behind was read; zero if that must be done
	found    int       // how often something was found to be lost
}

// askAgain is how long a process uses what it has read of other processes' partitions.
const askAgain = time.Second

// elsewhere returns what a call that must not be repeated waits for; "" for nothing.
func (o *Owner) elsewhere(ctx context.Context) (string, error) {
	if o.p.topic.Window == 0 { // copies are in the same partition
		return "", nil
	}
	e := &o.p.process.elsewhere
	e.reading.Lock()
	defer e.reading.Unlock()
	if err := ctx.Err(); err != nil { // others have read for long
		return "", err
	}
	behind, found, current := e.known(o.p.id.Topic)
	if !current {
		var err error
		if behind, err = o.readElsewhere(ctx, found); err != nil {
			return "", err
		}
	}
	for _, other := range behind {
		if other.Topic == o.p.id.Topic && other.Number != o.p.id.Number {
			return fmt.Sprintf("%s/%d, which applies again what the database lost, and may have a duplicate of the event", other.Topic, other.Number), nil
		}
	}
	return "", nil
}

// known returns what was read last, and whether it is current.
func (e *elsewhere) known(topic string) (behind []idemtype.Partition, found int, current bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.behind, e.found, e.compared[topic] && time.Since(e.asked) < askAgain
}

// lost notes that commits were found to be lost: those of other partitions may be, too.
func (e *elsewhere) lost() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.compared, e.found = nil, e.found+1
}

// readElsewhere returns the partitions of the consumer that apply again what the database lost.
// When the process has not compared the topic's partitions with Kafka yet, it does so: some may be
// taken over later.
func (o *Owner) readElsewhere(ctx context.Context, found int) ([]idemtype.Partition, error) {
	ctx, cancel := context.WithTimeout(ctx, assignTimeout)
	defer cancel()
	s, e, asked := o.p.process, &o.p.process.elsewhere, time.Now()
	marks, err := o.marksElsewhere(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := s.Pool.Acquire(ctx, func(error) {})
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	if err := o.compareElsewhere(ctx, conn.Conn(), marks); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, ledger.BehindSQL, s.Service.Consumer)
	if err != nil {
		return nil, err
	}
	behind, err := pgx.CollectRows(rows, pgx.RowToStructByPos[idemtype.Partition])
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.found == found {
		if e.compared == nil {
			e.compared = map[string]bool{}
		}
		e.behind, e.asked, e.compared[o.p.id.Topic] = behind, asked, true
	}
	return behind, nil
}

// marksElsewhere returns the marks of the topic's other partitions, as far as they must be
// compared.
func (o *Owner) marksElsewhere(ctx context.Context) (map[int32]ledger.Mark, error) {
	e, id := &o.p.process.elsewhere, o.p.id
	e.mu.Lock()
	compared := e.compared[id.Topic]
	e.mu.Unlock()
	if compared || o.committed == nil {
		return nil, nil
	}
	commits, err := o.committed(ctx)
	marks := map[int32]ledger.Mark{}
	for number, c := range commits {
		if m, ours := ledger.ReadMark(c.Offset, c.Metadata); ours && number != id.Number {
			marks[number] = m
		}
	}
	return marks, err
}

// compareElsewhere compares other partitions of the topic with their marks. Whether rows without
// records are gone matters to their owners only.
func (o *Owner) compareElsewhere(ctx context.Context, conn *pgx.Conn, marks map[int32]ledger.Mark) error {
	if len(marks) == 0 {
		return nil
	}
	s, id := o.p.process, o.p.id
	chains, err := chain.Tails(ctx, conn, s.Service.Consumer, id.Topic, o.chain.Topic(), slices.Collect(maps.Keys(marks)))
	if err != nil {
		return err
	}
	for number, c := range chains {
		m := marks[number]
		if max(m.Next, m.High) <= c.Next() {
			continue
		}
		missing, is, err := c.Compare(ctx, conn, []ledger.Mark{m}, true)
		if err != nil {
			return err
		}
		if is && !missing.Known {
			s.wentBack(idemtype.Partition{Topic: id.Topic, Number: number}, missing)
		}
	}
	return nil
}
