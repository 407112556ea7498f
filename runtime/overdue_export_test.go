package idem

import (
	"context"
	"time"
)

// Overdue is the error of a handler's call under the name of the limit that was over.
func Overdue(c *Consumer, err error) error {
	return (&owner{c: c}).overdue(context.Background(), "event_timeout", time.Hour, "", err)
}
