package devices

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// Reading counts a reading for its device, and keeps its temperature.
func (Service) Reading(ctx context.Context, tx idem.Tx, e Reading) error {
	tag, err := tx.Exec(ctx, `UPDATE devices SET readings = readings + 1, temperature = $2 WHERE device_id = $1`, e.DeviceID, e.Temperature)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return idem.Permanent(fmt.Errorf("device %s does not exist", e.DeviceID))
	}
	return nil
}
