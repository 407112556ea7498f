package idem

import (
	"context"
	"time"
)

// Overdue is the error of a handler's call under the name of the limit that was over, where ctx
// is the call's.
func Overdue(ctx context.Context, c *Consumer, err error) error {
	return (&owner{c: c}).overdue(ctx, "event_timeout", time.Hour, "", err)
}
