package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// The process that does the upkeep knows how many dead letters are open, by class; the others do
// not say that there are none.
func TestOpenDeadLettersAreCounted(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Handle: func(context.Context, idem.Tx, int32) error { return idem.Permanent(errors.New("refused")) }}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "call 1", "call 2", "nonsense"))
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('another', 'a', gen_random_uuid(), 0);
		INSERT INTO idem_dead_letter (stream, offs, seq, state, reason) SELECT stream, 1, 1, 'd', 'database: x' FROM idem_stream WHERE consumer = 'another'`)
	rig.Want(t, "before the upkeep", fmt.Sprint(c.Stats().OpenDead), "map[]")
	if err := c.Upkeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "after it", fmt.Sprint(c.Stats().OpenDead), "map[decode:1 handler:2]")
	if c.Stats().OpenDead == nil || (rig.Service{}).Consumer(t, db).Stats().OpenDead != nil {
		t.Error("who counted is not told apart")
	}
}
