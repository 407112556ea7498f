package verdict

import (
	"errors"
	"fmt"
	"net"
)

// probe is never part of an error.
type probe struct{ error }

// Readable returns an error of the service's code unchanged, unless one of its methods panics, as
// methods of a nil pointer do. Then it returns an error that says so.
func Readable(err error) (readable error) {
	if err == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			readable = fmt.Errorf("it returned an error of type %T that cannot be read: one of its methods panics", err)
		}
	}()
	_ = err.Error()
	_ = errors.Is(err, probe{})
	_, _ = errors.AsType[probe](err)
	if e, ok := errors.AsType[net.Error](err); ok {
		e.Timeout()
	}
	return err
}
