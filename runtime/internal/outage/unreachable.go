package outage

// Unreachable says that there is no connection to the database, and why, in words that are
// the same at the next try.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string {
	words := Words(e.Err)
	if words == "" {
		words = e.Err.Error()
	}
	return "no connection to the database: " + words
}

// Unwrap is the cause.
func (e *Unreachable) Unwrap() error { return e.Err }
