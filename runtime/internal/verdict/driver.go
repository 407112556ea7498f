package verdict

import "strings"

// WithoutValue hides the value in an error of the driver about a value that does not fit its
// column. The driver's own text quotes the value, and a handler's error becomes a dead letter's
// reason. Such errors have no type.
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
	return &sealed{where + "the driver cannot encode a value of a statement", err}
}
