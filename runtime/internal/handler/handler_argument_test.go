package handler_test

import (
	"context"
	"database/sql/driver"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// What an argument refers to and is not a part of it does not count, and is not read: another
// goroutine may change it. Reading it ends the process, so this is one of its own.
func TestWhatAnArgumentOnlyRefersToDoesNotCount(t *testing.T) {
	t.Parallel()
	const alone = "HANDLER_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %.2000s", err, out)
		}
		return
	}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	db := rig.Database(t)
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		ring := &keyring{keys: map[int]string{}}
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					ring.set(n % 100)
				}
			}
		})
		defer all.Wait()
		defer close(stop)
		rows, err := tx.Query(ctx, `SELECT generate_series(1, 20000)`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			tx.Queue(`SELECT $1::timestamptz, $2::text`, time.Now().In(zone), sealed{ring})
		}
		return rows.Err()
	}}.Consumer(t, db)
	res := rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	rig.Want(t, "applied", res.Applied, 1)
}

type keyring struct {
	mu   sync.Mutex
	keys map[int]string
}

func (k *keyring) set(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[n] = "x"
}

// sealed is a value that encodes itself with a key ring.
type sealed struct{ by *keyring }

func (s sealed) Value() (driver.Value, error) {
	s.by.mu.Lock()
	defer s.by.mu.Unlock()
	return s.by.keys[0], nil
}
