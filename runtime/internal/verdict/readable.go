package verdict

import (
	"errors"
	"fmt"
	"net"
)

// probe is in no error.
type probe struct{ error }

// Readable is an error that the service's code returned, unless a method of it panics, as those
// of a nil pointer do: then it is an error that says so.
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
