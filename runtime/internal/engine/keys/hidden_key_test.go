package keys_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// prepared is a connection on which keys can be read.
func prepared(t *testing.T, db *pgxpool.Pool) *pgx.Conn {
	t.Helper()
	held, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(held.Release)
	conn := held.Conn()
	if err := session.Open(t.Context(), conn, session.Options{}); err != nil {
		t.Fatal(err)
	}
	statements := append(generation.Statements, session.ByIndex)
	if _, err := session.Of(conn.PgConn()).Prepare(t.Context(), conn.PgConn(), statements); err != nil {
		t.Fatal(err)
	}
	return conn
}

// processOf is a process of a consumer, without filters.
func processOf(consumer string) *keys.Process {
	none := func(context.Context) (*pgx.Conn, error) { return nil, errors.New("no filter is built") }
	filters := generation.NewFilters(consumer, 0, none, slog.New(slog.DiscardHandler))
	return &keys.Process{Consumer: consumer, Filters: filters}
}

// A record that was refused after its claim is a duplicate if another partition has claimed its
// key since, whether the generation of that claim is sealed or open. No claim finds it: it is
// read.
func TestHiddenKeyIsReadInEveryGeneration(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "a: put 1 1"))
	rig.Rotate(t, db, c)
	rig.Apply(t, w, rig.Records(1, "b: put 2 2"))

	conn := prepared(t, db)
	memory := keys.New(processOf("test"), idemtype.Partition{}, &wire.Topic{}, nil)
	for offset, name := range []string{"sealed", "open"} {
		var key wire.UUID
		if err := conn.QueryRow(t.Context(), `SELECT key FROM idem_keys WHERE seq = $1`, offset+2).Scan(&key); err != nil {
			t.Fatal(err)
		}
		known := memory.Known(keys.Place{Stream: -1, Sent: true})
		found, err := known.Read(t.Context(), conn, nil, []wire.Key{wire.Key(key)})
		_, is := known.Find(wire.Key(key), false)
		if err != nil || !found || !is {
			t.Errorf("%s: found %t, known %t, %v", name, found, is, err)
		}
		if again, err := known.Read(t.Context(), conn, nil, []wire.Key{wire.Key(key)}); again || err != nil {
			t.Errorf("%s: read twice: %t, %v", name, again, err)
		}
	}
}

// What a read cannot find out is an error: the batch must not be sent as if no key were known. A
// key that was found is asked about once, and its first copy is named.
func TestReadReturnsWhatItCannotFindOut(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Apply(t, rig.Own(t, rig.Service{}.Consumer(t, db)), rig.Records(0, "a: put 1 1"))
	conn := prepared(t, db)
	var key wire.UUID
	var stream int32
	var seq int64
	rig.Do(t, func() error {
		return conn.QueryRow(t.Context(), `SELECT key, stream, seq FROM idem_keys`).Scan(&key, &stream, &seq)
	})
	down := errors.New("down")
	failing := fault.With(t.Context(), func(string) error { return down })
	for name, c := range map[string]struct {
		consumer string
		ctx      context.Context
		place    keys.Place
		found    bool
		err      error
	}{
		"of another stream":    {"test", t.Context(), keys.Place{Stream: -1}, true, nil},
		"of an earlier row":    {"test", t.Context(), keys.Place{Stream: stream, Seq: seq + 1}, true, nil},
		"of the row after":     {"test", t.Context(), keys.Place{Stream: stream, Seq: seq}, false, keys.ErrMoved},
		"of a later row":       {"test", t.Context(), keys.Place{Stream: stream, Seq: seq - 1}, false, keys.ErrMoved},
		"not read":             {"test", failing, keys.Place{Stream: -1}, false, down},
		"without a generation": {"other", t.Context(), keys.Place{Stream: -1}, false, keys.ErrNoGeneration},
	} {
		for kind, read := range map[string]func(*keys.Known) (bool, error){
			"claimed": func(k *keys.Known) (bool, error) {
				return k.Read(c.ctx, conn, []wire.Claim{{Key: wire.Key(key)}}, nil)
			},
			"hidden": func(k *keys.Known) (bool, error) {
				return k.Read(c.ctx, conn, nil, []wire.Key{wire.Key(key)})
			},
		} {
			place := c.place
			place.Sent = true // so that every generation is read
			known := keys.New(processOf(c.consumer), idemtype.Partition{}, &wire.Topic{}, nil).Known(place)
			if found, err := read(known); found != c.found || !errors.Is(err, c.err) {
				t.Errorf("%s, %s: found %t, %v; want %t, %v", name, kind, found, err, c.found, c.err)
			}
			prior, is := known.Find(wire.Key(key), false)
			if is != c.found || is && prior == (wire.Prior{}) {
				t.Errorf("%s, %s: known %t, %+v", name, kind, is, prior)
			}
			if !c.found {
				continue
			}
			if again, err := read(known); again || err != nil {
				t.Errorf("%s, %s: read twice: %t, %v", name, kind, again, err)
			}
			rig.Want(t, name, known.FirstCopy(wire.Key(key)), fmt.Sprintf("in row %d of the ledger of test.v1/0", seq))
		}
	}
}
