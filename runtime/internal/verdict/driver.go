package verdict

import "strings"

// driverError is an error of the driver about a value that does not fit its column. The
// driver's own text quotes the value, and a handler's error becomes a dead letter's reason.
type driverError struct {
	where string
	error
}

func (e *driverError) Error() string {
	return e.where + "the driver cannot encode a value of a statement"
}
func (e *driverError) Unwrap() error { return e.error }

// WithoutValue hides the value in an error of the driver. Such errors have no type.
func WithoutValue(err error) error {
	if err == nil {
		return nil
	}
	where, _, quotes := strings.Cut(err.Error(), "unable to encode")
	if !quotes {
		return err
	}
	if !strings.HasPrefix(where, "failed to encode args[") {
		where = ""
	}
	return &driverError{where, err}
}
