package devices

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// Reading counts a reading for its device, and keeps its temperature.
func (Service) Reading(ctx context.Context, tx idem.Tx, e Reading) error {
	tag, err := tx.Exec(ctx, update, e.DeviceID, e.Temperature)
	if err != nil {
		return err
	}
	return known(tag, e)
}

// Queueing implements Handler as Service does, but queues its statements.
type Queueing struct{}

// Reading does what that of Service does.
func (Queueing) Reading(_ context.Context, tx idem.Tx, e Reading) error {
	tx.Queue(update, e.DeviceID, e.Temperature).Exec(func(tag pgconn.CommandTag) error { return known(tag, e) })
	return nil
}

const update = `UPDATE devices SET readings = readings + 1, temperature = $2 WHERE device_id = $1`

func known(tag pgconn.CommandTag, e Reading) error {
	if tag.RowsAffected() == 0 {
		return idem.Permanent(fmt.Errorf("device %s does not exist", e.DeviceID))
	}
	return nil
}
