package rig

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/testleases"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Keyed makes records whose record key is what stands before a "/": "a/put 1 1".
func Keyed(from int64, texts ...string) []idem.Message {
	var plain []string
	var keys [][]byte
	for _, text := range texts {
		key, rest, found := strings.Cut(text, "/")
		if !found {
			key, rest = "", text
		}
		plain, keys = append(plain, rest), append(keys, []byte(key))
	}
	msgs := Records(from, plain...)
	for i, key := range keys {
		if len(key) > 0 {
			msgs[i].Key = key
		}
	}
	return msgs
}

// InEachStore runs a test with leases in Postgres and in memory; the long run does so in Redis,
// too, whose store keeps the same contract (leasetest).
func InEachStore(t *testing.T, terms wire.EffectTerms, test func(t *testing.T, db *pgxpool.Pool, p *Provider, s Service, leases func() string)) {
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		db := Database(t)
		var p Provider
		test(t, db, &p, p.Service(terms), func() string { return Leases(t, db) })
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		db := Database(t)
		var p Provider
		var store memlease.Store
		test(t, db, &p, p.ServiceWith(&store, terms), func() string { return strings.ReplaceAll(OutsideStates(&store), "d", "c") })
	})
	t.Run("Redis", func(t *testing.T) {
		longtest.Skip(t)
		t.Parallel()
		db := Database(t)
		var p Provider
		store := testleases.InRedis(t, db)
		test(t, db, &p, p.ServiceWith(store, terms), func() string {
			fields, err := store.(idemtest.LeaseStore).Fields(t.Context(), Query(t, db, `SELECT replace(id::text, '-', '') FROM idem_schema`)+":test", p.Key)
			if err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(fields["state"], "d", "c")
		})
	})
}

// Settled runs the owner until each request has an answer. The owner waits only a few
// milliseconds for the call of an effect before it continues with other requests, so on a busy
// machine one batch is not enough.
func Settled(t *testing.T, db *pgxpool.Pool, w *Writer) {
	t.Helper()
	WaitFor(t, "each request has an answer", func() bool {
		Apply(t, w, nil)
		return Query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE asked IS NOT NULL`) == "0"
	})
}

// GiveResult asks to replay the letter of an offset of partition 0, with the result of its effect.
func GiveResult(t testing.TB, db *pgxpool.Pool, offset int64, result string) {
	t.Helper()
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: Topic, Offset: offset}})
	if err == nil {
		_, err = operate.Ask(t.Context(), db, found[:1], "replay", []byte(result), operate.By{Operator: "ann", Reason: "found out"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Ask asks the owner of partition 0 about the dead letter of an offset.
func Ask(t testing.TB, db *pgxpool.Pool, verb string, offset int64) {
	t.Helper()
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: "test", Topic: Topic, Offset: offset}})
	if err == nil {
		_, err = operate.Ask(t.Context(), db, found[:1], verb, nil, operate.By{Operator: "ann", Reason: "mended"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// LettersNow are the letters as "offset state answer", in order.
func LettersNow(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return Query(t, db, `SELECT coalesce(string_agg(offs || ' ' || state::text || coalesce(' ' || asked::text || '?', '') || coalesce(' ' || answer, ''), ', ' ORDER BY offs, seq), '') FROM idem_dead_letter`)
}

// WantText wants an error whose text has the parts.
func WantText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got error %v, want one with %q", err, part)
		}
	}
}
