//go:build !unix

package redistest

import (
	"context"
	"errors"
)

var errSystem = errors.New("Redis servers run on Unix only")

func fetched(context.Context) (string, error) { return "", errSystem }
