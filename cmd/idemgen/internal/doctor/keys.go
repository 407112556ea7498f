package doctor

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// countPatience is how long the keys of one generation may be counted.
const countPatience = 5 * time.Minute

// keys counts the keys of every sealed generation: a restore may have lost some.
func (e *examination) keys(ctx context.Context) error {
	if e.Schema["keys"] == 0 || e.lacks(ctx, "idem_key_gen") {
		return nil
	}
	sealed, err := operate.SealedKeys(ctx, e.Database, e.Consumer)
	if err != nil {
		return err
	}
	whole := 0
	for i := range sealed {
		s := &sealed[i]
		limited, cancel := context.WithTimeout(ctx, countPatience)
		lost, err := s.Lost(limited, e.Database)
		cancel()
		if err != nil {
			return err
		}
		if lost > 0 {
			e.add(Failure, "keys", manual("keys-lost"), "generation %d has %d of its %d keys, in table idem_keys_%[1]d: a restore lost the others, and duplicates of their events would take effect again", s.Number, s.Keys-lost, s.Keys)
			continue
		}
		whole++
	}
	if whole > 0 {
		e.add(OK, "keys", "", "%s of keys, with all that were counted when they were sealed", count(whole, "sealed generation"))
	}
	return nil
}
