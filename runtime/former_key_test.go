package idem_test

import (
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A copy with the former key and the present one is a duplicate and still claims the one that
// was not known: a copy with that alone is a duplicate, too, for any owner. It may be all that
// its transaction does.
func TestDuplicateJoinsItsKeys(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"shared": "", "chain": "@"} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			c := service{edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }}.consumer(t, db)
			want(t, "former key", apply(t, own(t, c), records(0, at+"f: add 1 1")), idem.Result{Applied: 1})
			want(t, "both keys", apply(t, own(t, c), records(1, at+"k<f: add 1 1")), idem.Result{Duplicates: 1})
			want(t, "present key", apply(t, own(t, c), records(2, at+"k: add 1 1")), idem.Result{Duplicates: 1})
			want(t, "in one batch", apply(t, own(t, c), records(3, at+"g: add 2 2", at+"l<g: add 2 2", at+"l: add 2 2")), idem.Result{Applied: 1, Duplicates: 2})
			want(t, "rows", table(t, db), "1=1 2=2")
			want(t, "dead letters", letters(t, db), "")
		})
	}
}

// Of the keys that a record gives, the first one that is known says whether it is a duplicate
// or a conflict, wherever each was claimed: a former key that another partition claimed counts
// before the record's own key that this owner remembers.
func TestFirstKnownKeyDecides(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	places := []string{"this owner", "an earlier owner", "another partition", "another partition, sealed", "this partition, sealed", "the same batch"}
	type pair struct{ former, own string }
	var pairs []pair
	for _, f := range places {
		for _, k := range places {
			pairs = append(pairs, pair{f, k})
		}
	}
	// Former key f<i> holds value 1, own key k<i> value 2, of row i.
	claims := func(i int, place string) (texts []string) {
		if pairs[i].former == place {
			texts = append(texts, fmt.Sprintf("f%d: put %d 1", i, i))
		}
		if pairs[i].own == place {
			texts = append(texts, fmt.Sprintf("k%d: put %d 2", i, i))
		}
		return texts
	}
	next := []int64{0, 0}
	give := func(w *idem.Writer, partition int, texts ...string) idem.Result {
		msgs := records(next[partition], texts...)
		next[partition] += int64(len(msgs))
		return apply(t, w, msgs)
	}
	claimed := func(w *idem.Writer, partition int, place string) {
		var texts []string
		for i := range pairs {
			texts = append(texts, claims(i, place)...)
		}
		want(t, place, give(w, partition, texts...), idem.Result{Applied: int64(len(texts))})
	}
	claimed(own(t, c), 0, "this partition, sealed")
	other := ownPartition(t, c, 1)
	claimed(other, 1, "another partition, sealed")
	rotate(t, db, c)
	claimed(own(t, c), 0, "an earlier owner")
	w := own(t, c)
	claimed(w, 0, "this owner")
	claimed(other, 1, "another partition")
	for i, p := range pairs {
		texts := claims(i, "the same batch")
		name := fmt.Sprintf("former key from %s, own key from %s", p.former, p.own)
		// Each in a batch of its own: what one looks for, the other would find known.
		got := give(w, 0, append(texts, fmt.Sprintf("k%d<f%d: put %d 1", i, i, i))...)
		want(t, name+", content of the former key", got, idem.Result{Applied: int64(len(texts)), Duplicates: 1})
		got = give(w, 0, fmt.Sprintf("k%d<f%d: put %d 2", i, i, i))
		want(t, name+", content of the own key", got, idem.Result{Conflicts: 1})
	}
}

// A record is no conflict that halts before its former keys were looked for.
func TestFormerKeyIsLookedForBeforeAConflictHalts(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{policy: wire.FailurePolicy{Stop: true}}.consumer(t, db)
	apply(t, ownPartition(t, c, 1), records(0, "f: put 1 1", "g: put 1 3"))
	w := own(t, c)
	apply(t, w, records(0, "k: put 1 2"))
	want(t, "first", apply(t, w, records(1, "k<f: put 1 1")), idem.Result{Duplicates: 1})
	want(t, "behind others", apply(t, w, records(2, "put 9 9", "k<f: put 1 1", "put 8 8")), idem.Result{Applied: 2, Duplicates: 1})
	_, err := w.Apply(t.Context(), records(5, "k<g: put 1 2"))
	want(t, "offset", wantError[*idem.HaltedError](t, err).Offset, 5)
}
