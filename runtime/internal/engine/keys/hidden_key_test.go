package keys_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

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

	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := session.Open(t.Context(), conn.Conn(), session.Options{}); err != nil {
		t.Fatal(err)
	}
	pg := conn.Conn().PgConn()
	if _, err := session.Of(pg).Prepare(t.Context(), pg, append(generation.Statements, session.ByIndex)); err != nil {
		t.Fatal(err)
	}
	none := func(context.Context) (*pgx.Conn, error) { return nil, errors.New("no filter is built") }
	process := &keys.Process{Consumer: "test", Filters: generation.NewFilters("test", 0, none, slog.New(slog.DiscardHandler))}
	memory := keys.New(process, idemtype.Partition{}, &wire.Topic{}, nil)
	for offset, name := range []string{"sealed", "open"} {
		var key wire.UUID
		if err := conn.QueryRow(t.Context(), `SELECT key FROM idem_keys WHERE seq = $1`, offset+2).Scan(&key); err != nil {
			t.Fatal(err)
		}
		known := memory.Known(keys.Place{Stream: -1, Sent: true})
		found, err := known.Read(t.Context(), conn.Conn(), nil, []wire.Key{wire.Key(key)})
		_, is := known.Find(wire.Key(key), false)
		if err != nil || !found || !is {
			t.Errorf("%s: found %t, known %t, %v", name, found, is, err)
		}
		if again, err := known.Read(t.Context(), conn.Conn(), nil, []wire.Key{wire.Key(key)}); again || err != nil {
			t.Errorf("%s: read twice: %t, %v", name, again, err)
		}
	}
}
