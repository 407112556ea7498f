package idem_test

import (
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A copy with the former key and the present one is a duplicate and still claims the one that
// was not known: a copy with that alone is a duplicate, too, for any owner. It may be all that
// its transaction does.
func TestDuplicateJoinsItsKeys(t *testing.T) {
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
