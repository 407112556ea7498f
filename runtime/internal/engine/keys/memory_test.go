package keys_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// levels is a log that keeps the levels of its lines only.
type levels []slog.Level

func (l *levels) Enabled(context.Context, slog.Level) bool { return true }
func (l *levels) Handle(_ context.Context, r slog.Record) error {
	*l = append(*l, r.Level)
	return nil
}
func (l *levels) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *levels) WithGroup(string) slog.Handler      { return l }

// alone is the memory of one partition in its process, without a database. All that was appended
// before seen was read.
func alone(topic wire.Topic, seen *time.Time) (m *keys.Memory, of *keys.Process, log *levels) {
	log = &levels{}
	of = &keys.Process{Budget: keyset.NewBudget(1 << 20), Now: time.Now, Log: slog.New(log)}
	return keys.New(of, idemtype.Partition{Topic: "t", Number: 3}, &topic, func() time.Time { return *seen }), of, log
}

// entry is a key of the chain, with its fingerprint.
func entry(key wire.Key, print byte) []byte { return append(key[:], 0, 0, 0, print) }

var hourInChain = wire.Topic{Chain: time.Hour}

// The clocks agree if the database's time is at most the tolerance before the question, or after
// the answer. The log tells when they no longer do, and when they do again; once each.
func TestClocksAgreeWithinTheTolerance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := time.Now()
		time.Sleep(time.Minute)
		now := time.Now()
		slow, fast := sent.Add(-maintain.ClockTolerance), now.Add(maintain.ClockTolerance)
		for want, heard := range map[string][]time.Time{
			"[]":                      {now, slow, fast},
			"[ERROR]":                 {slow.Add(-1), fast.Add(1), now.Add(24 * time.Hour)},
			"[ERROR INFO]":            {fast.Add(1), fast, slow},
			"[ERROR INFO ERROR]":      {slow.Add(-1), slow, slow.Add(-1)},
			"[ERROR INFO ERROR INFO]": {fast.Add(1), now, fast.Add(1), now, now},
		} {
			m, _, log := alone(hourInChain, new(time.Time))
			for _, at := range heard {
				m.Heard(at, sent)
			}
			rig.Want(t, "levels in the log", fmt.Sprint(*log), want)
		}
		for hears, topic := range map[string]wire.Topic{"[]": {}, "[ERROR]": {Window: time.Hour}} {
			m, _, log := alone(topic, new(time.Time))
			m.Heard(fast.Add(1), sent)
			rig.Want(t, "levels in the log", fmt.Sprint(*log), hears)
		}
	})
}

// A key leaves the memory a window after it was written, by the time that was read up to: not
// while that is unknown, not by a clock that differs, and not before a record is as late.
func TestWindowEndsByWhatWasRead(t *testing.T) {
	t.Parallel()
	const kept, gone = 7, 8
	late := []time.Duration{2 * time.Hour}
	for name, c := range map[string]struct {
		read    time.Duration // since the key was written
		unread  bool
		skew    time.Duration   // of the database's clock, when it was heard
		records []time.Duration // their times, since the key was written
		untimed bool
		want    int64
	}{
		"inside":                   {read: time.Hour - 1, records: late, want: kept},
		"outside":                  {read: time.Hour, records: late, want: gone},
		"by the database's clock":  {read: time.Hour - time.Minute, skew: time.Minute, records: late, want: gone},
		"an early record":          {read: time.Hour, records: []time.Duration{time.Hour - 1}, want: kept},
		"a record in time":         {read: time.Hour, records: []time.Duration{time.Hour}, want: gone},
		"an early one after it":    {read: time.Hour, records: []time.Duration{time.Hour, 0}, want: gone},
		"no record has a time":     {read: time.Hour, untimed: true, want: gone},
		"one of them has a time":   {read: time.Hour, records: []time.Duration{0}, untimed: true, want: gone},
		"none came":                {read: time.Hour, want: kept - 2},
		"nothing was read":         {unread: true, records: late, want: kept - 2},
		"the clocks do not agree":  {read: time.Hour, skew: 6 * time.Minute, records: late, want: kept - 2},
		"neither read nor a clock": {unread: true, skew: 6 * time.Minute, records: late, want: kept - 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen time.Time
			m, process, _ := alone(hourInChain, &seen)
			written := time.Now()
			tail := ledger.Tail{Seq: kept, Window: kept - 2, Written: written}
			m.Forward(tail, ledger.Row{Keys: entry(wire.Key{1}, 9)}, nil)
			time.Sleep(time.Minute)
			m.Heard(time.Now().Add(c.skew), time.Now())
			time.Sleep(time.Minute) // the time that was read up to counts from when the clock was heard
			if !c.unread {
				seen = written.Add(c.read)
			}
			for _, at := range c.records {
				process.Times.Note(&wire.Message{Time: written.Add(at)})
			}
			if c.untimed {
				process.Times.Note(&wire.Message{})
			}
			rig.Want(t, name, m.Window(tail), c.want)
			m.Forward(ledger.Tail{Seq: kept + 1, Window: m.Window(tail)}, ledger.Row{}, nil)
			if _, _, ok := m.Find(wire.Key{1}); ok != (c.want <= kept) {
				t.Errorf("%s: the key is in the memory: %t", name, ok)
			}
		})
	}
}

// Without keys in the chain, a fixed number of rows is kept, that of the next append included.
func TestWindowWithoutKeysInTheChain(t *testing.T) {
	t.Parallel()
	m, _, _ := alone(wire.Topic{Window: time.Hour}, new(time.Time))
	for tail, want := range map[int64]int64{0: 0, 99: 0, 100: 1, 1000: 901} {
		rig.Want(t, fmt.Sprint("window behind ", tail), m.Window(ledger.Tail{Seq: tail}), want)
	}
	window, err := m.Measure(t.Context(), nil, 1, ledger.Tail{Seq: 1000}, true)
	if window != 901 || err != nil {
		t.Errorf("measured %d, %v", window, err)
	}
	if _, _, ok := m.Find(wire.Key{1}); ok || m.InChain() {
		t.Error("there are keys in the chain")
	}
	m.Free()
}

// How far the partition was read is worth recording if keys depend on it, and if it is known.
func TestProgressIsDue(t *testing.T) {
	t.Parallel()
	seen, never := time.Now(), time.Time{}
	for name, c := range map[string]struct {
		topic wire.Topic
		seen  *time.Time
		want  bool
	}{
		"keys in the chain":      {hourInChain, &seen, true},
		"keys of all partitions": {wire.Topic{Window: time.Hour}, &seen, true},
		"no keys":                {wire.Topic{}, &seen, false},
		"not known":              {hourInChain, &never, false},
	} {
		m, _, _ := alone(c.topic, c.seen)
		rig.Want(t, name, m.KeepDue(), c.want)
		if !c.want {
			rig.Do(t, func() error { return m.Keep(t.Context(), nil, 1, ledger.Tail{}) })
		}
	}
}

// A row is refused if there is no memory for its keys, with the limit; one without keys needs
// none. The memory that was freed is there for others.
func TestMemoryForTheKeysOfARow(t *testing.T) {
	t.Parallel()
	m, process, _ := alone(hourInChain, new(time.Time))
	many := keyset.Row{Seq: 1, Keys: make([]byte, 30_000*keyset.EntryBytes)}
	rig.Do(t, func() error { return m.Reserve(ledger.Tail{}, many) })
	never := func() time.Time { return time.Time{} }
	other := keys.New(process, idemtype.Partition{Topic: "t", Number: 4}, &hourInChain, never)
	rig.WantText(t, other.Reserve(ledger.Tail{}, many), "all partitions of this process together may use 1 MiB")
	rig.Do(t, func() error { return other.Reserve(ledger.Tail{}, keyset.Row{}) })
	m.Free()
	rig.Want(t, "bytes in use", process.Budget.Used(), 0)
	rig.Do(t, func() error { return other.Reserve(ledger.Tail{}, many) })
	shared, _, _ := alone(wire.Topic{Window: time.Hour}, new(time.Time))
	rig.Do(t, func() error { return shared.Reserve(ledger.Tail{}, keyset.Row{}) })
}

// A key that was claimed for all partitions is known by its row; a key of the chain only there.
func TestFirstCopyOfARememberedKey(t *testing.T) {
	t.Parallel()
	m, _, _ := alone(wire.Topic{Chain: time.Hour, Window: time.Hour}, new(time.Time))
	here, anywhere, unknown := wire.Key{1}, wire.Key{2}, wire.Key{3}
	row := ledger.Row{Keys: entry(here, 9), Defs: append(ledger.Int4(4), ledger.Int4(1)...)}
	m.Forward(ledger.Tail{Seq: 6, Written: time.Now()}, row, []wire.Claim{{Key: anywhere, Def: 5, Print: 8}})
	known := m.Known(keys.Place{Stream: 1, Seq: 7})
	rig.Want(t, "a key of the chain", known.FirstCopy(here), "in an earlier batch of t/3")
	rig.Want(t, "a recent key", known.FirstCopy(anywhere), "in row 6 of the ledger of t/3")
	rig.Want(t, "another key", known.FirstCopy(unknown), "in the same batch")
	for _, c := range []struct {
		key   wire.Key
		here  bool
		prior wire.Prior
		ok    bool
	}{
		{here, true, wire.Prior{Def: 4, Print: 9}, true}, {here, false, wire.Prior{}, false},
		{anywhere, false, wire.Prior{Def: 5, Print: 8}, true}, {anywhere, true, wire.Prior{}, false},
		{unknown, true, wire.Prior{}, false}, {unknown, false, wire.Prior{}, false},
	} {
		prior, ok := known.Find(c.key, c.here)
		if prior != c.prior || ok != c.ok {
			t.Errorf("key %d, in the chain %t: %+v, %t", c.key[0], c.here, prior, ok)
		}
	}
}

// Claims are sent in the order of their keys, whatever the order of the records, which stays;
// and those that stay are not released.
func TestClaimsAreSorted(t *testing.T) {
	t.Parallel()
	m, _, _ := alone(wire.Topic{Window: time.Hour}, new(time.Time))
	known := m.Known(keys.Place{Stream: 3, Seq: 7})
	claims := []wire.Claim{
		{Key: wire.Key{2}, Def: 22, Print: 222},
		{Key: wire.Key{1}, Def: 11, Print: 111},
		{Key: wire.Key{3}, Def: 33, Print: 333},
	}
	var rows wire.Rows
	for _, i := range []int{1, 0, 2} {
		r := rows.Row()
		r.UUID(wire.UUID(claims[i].Key))
		r.Int4(int32(claims[i].Def))
		r.Int4(int32(claims[i].Print))
	}
	var released wire.Rows
	released.Row().UUID(wire.UUID{2})
	released.Row().UUID(wire.UUID{3})
	generation, place := ledger.Int4(0), [][]byte{ledger.Int4(3), ledger.Int8(7)}
	token := make([]byte, 16) // of no generation: none was read
	claimed := slices.Concat([][]byte{generation, token}, place, rows.Seal(nil))
	rig.Want(t, "claims", fmt.Sprintf("%x", known.Claim(claims)[0].Args), fmt.Sprintf("%x", claimed))
	undone := slices.Concat([][]byte{generation}, place, released.Seal(nil))
	rig.Want(t, "released", fmt.Sprintf("%x", known.Release(claims, claims[1:2])[0].Args), fmt.Sprintf("%x", undone))
	rig.Want(t, "the first record's claim", claims[0].Key, wire.Key{2})
	if len(known.Claim(nil))+len(known.Release(claims, claims)) > 0 {
		t.Error("a statement about no keys")
	}
}
