package idem

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// loadRows is how many rows of the chain one statement of a load reads: a long window then
// stays below the session's statement_timeout.
const loadRows = 1000

// surveyRows is how many rows a survey looks at, for the same reason. If all of them are old,
// the batches to come move the window on.
const surveyRows = 20_000

// remembered is all that an owner knows of keys: those of its chain from memory, the others
// as they were read.
type remembered struct {
	chain *keyset.Set
	known *known
}

// Find implements [wire.Known].
func (r remembered) Find(key Key, here bool) (wire.Prior, bool) {
	if !here {
		return r.known.find(key)
	}
	print, def, ok := r.chain.Find(key)
	return wire.Prior{Print: print, Def: def}, ok
}

// inChain reports whether the key is one of the chain's.
func (o *owner) inChain(key Key) bool {
	if o.keys == nil {
		return false
	}
	_, _, ok := o.keys.Find(key)
	return ok
}

// remember brings the memory forward to the tail, which is a row of ours.
func (o *owner) remember(r ledger.Row) {
	if o.keys == nil {
		return
	}
	o.keys.Drop(o.tail.Window)
	o.keys.Add(keyset.Row{Seq: o.tail.Seq, Written: o.tail.Written, Keys: r.Keys, Defs: r.Defs})
}

// forget gives the memory back: the owner will not use it again. Any goroutine may call it.
func (o *owner) forget() {
	if o.keys != nil {
		o.keys.Free()
		o.c.memories.CompareAndDelete(o.id, o.keys)
	}
}

// succeed lets the owner's memory count in place of that of an earlier owner in this
// process, which the fence ends.
func (o *owner) succeed() {
	if before, ok := o.c.memories.Swap(o.id, o.keys); ok && before != o.keys {
		before.(*keyset.Set).Free()
	}
}

// window is the first row of the chain that the next append declares still needed: with
// keys in the chain, the first row of a segment that is not older than they must be
// remembered, by the database's clock.
func (o *owner) window() int64 {
	switch {
	case o.keys == nil:
		return max(0, o.tail.Seq+1-windowRows)
	case !o.clock.agrees:
		return o.tail.Window
	}
	return o.keys.Window(o.clock.at, o.topic.Chain, o.tail.Seq+1)
}

// survey says where the window begins when the partition is taken over, before that is done:
// if it is seen that the keys from there on do not fit into the memory, nobody is fenced for
// nothing.
func (o *owner) survey(ctx context.Context, conn *pgxpool.Conn) (window int64, err error) {
	if o.keys == nil {
		return o.window(), nil
	}
	var now time.Time
	var last int64
	var first *int64
	var young, all int
	sent := o.c.now()
	if err := conn.QueryRow(ctx, ledger.SurveySQL, o.stream, o.tail.Window, o.topic.Chain, surveyRows).Scan(&now, &last, &first, &young, &all); err != nil {
		return 0, err
	}
	o.heard(now, sent)
	window = last + 1
	switch {
	case !o.clock.agrees:
		window, young = o.tail.Window, all
	case first != nil:
		window = *first
	}
	o.succeed()
	if !o.c.keyMemory.Fits(young / keyset.EntryBytes) {
		return 0, o.full()
	}
	return window, nil
}

// load builds the memory from the chain, up to our fence: nobody can have appended behind it
// without our noticing.
func (o *owner) load(ctx context.Context) error {
	if o.keys == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life, cancel)()
	conn, err := o.c.acquire(ctx, o.tellWait)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := fault.At(ctx, fault.BeforeLoad); err != nil {
		return err
	}
	start := time.Now()
	for from := o.tail.Window; ; {
		n, last, err := o.loadPart(ctx, conn.Conn().PgConn(), from)
		if ctx.Err() != nil { // the server says only that the statement was cancelled
			return ctx.Err()
		}
		if err != nil {
			return o.haltIfFinal(err)
		}
		if n < loadRows {
			break
		}
		from = last + 1
	}
	o.keys.Loaded()
	o.c.log.Info("the keys of a partition were loaded", "topic", o.id.Topic, "partition", o.id.Number,
		"keys", o.keys.Len(), "from_seq", o.tail.Window, "to_seq", o.tail.Seq, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// loadPart loads the first rows with keys from a row on.
func (o *owner) loadPart(ctx context.Context, conn *pgconn.PgConn, from int64) (n int, last int64, err error) {
	args := [][]byte{ledger.Int4(o.stream), ledger.Int8(from), ledger.Int8(o.tail.Seq), ledger.Int8(loadRows)}
	name, args := session.Of(conn).Bind(chainKeys, args)
	rows := conn.ExecPrepared(ctx, name, args, binaryFormat, binaryFormat)
	fits := true
	for fits && rows.NextRow() {
		v := rows.Values()
		last = int64(binary.BigEndian.Uint64(v[0]))
		fits = o.keys.Load(keyset.Row{
			Seq: last, Written: ledger.Time(v[1]), Keys: v[2], Defs: v[3],
		})
		n++
	}
	_, err = rows.Close()
	if err == nil && !fits {
		err = o.full()
	}
	return n, last, err
}

// room makes sure that the keys of w can be remembered once they are durable. Else the
// partition waits until keys leave the window: none is forgotten before, and none refused.
func (o *owner) room(ctx context.Context, conn *pgxpool.Conn, w *work) error {
	if len(w.keys.Keys) == 0 || o.keys.Reserve(w.keys, o.window()) {
		return nil
	}
	var now time.Time // perhaps a window has passed since the last append
	sent := o.c.now()
	if err := conn.QueryRow(ctx, ledger.ClockSQL).Scan(&now); err != nil {
		return err
	}
	o.heard(now, sent)
	if o.keys.Reserve(w.keys, o.window()) {
		return nil
	}
	return o.full()
}

func (o *owner) full() error {
	return fmt.Errorf("%w: all partitions of this process together may use %d MiB: the partition waits until keys are older than their window; "+
		"raise it with WithKeyMemory, spread the partitions over more processes, or shorten the window", pgerror.ErrKeyMemory, o.c.keyMemory.Limit()>>20)
}
