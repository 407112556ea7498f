package rig

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// SlowCalls counts the calls of each row. Calls for rows 1 to 9 use up a transaction's share
// of its time, so that it ends before the next one; others take no time.
type SlowCalls struct {
	Calls map[int32]int
}

// SlowBatch is the batch_timeout of [SlowCalls].
const SlowBatch = 3 * time.Second

func (s *SlowCalls) handle(ctx context.Context, tx idem.Tx, row int32) error {
	s.Calls[row]++
	if row < 10 {
		time.Sleep(SlowBatch/3 + 50*time.Millisecond)
	}
	_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
	return err
}

// Service is a spec whose handler counts its calls.
func (s *SlowCalls) Service(edit ...func(*wire.Service)) Service {
	s.Calls = map[int32]int{}
	return Service{Handle: s.handle, Policy: Impatient, Edit: func(spec *wire.Service) {
		spec.Limits.BatchTimeout = SlowBatch
		for _, e := range edit {
			e(spec)
		}
	}}
}
