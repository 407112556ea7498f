package verdict

import "strings"

// WithoutValue removes the value from an error of the driver about a value that does not fit its
// parameter. The driver's text quotes the value, and a handler's error becomes the reason of a
// dead letter. Such errors have no type.
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
