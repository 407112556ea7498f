package generation

import "fmt"

// flaw says why the table of a generation cannot be used, as after a restore of some tables only.
// The migrations and the functions that they make never leave one behind.
type flaw string

const (
	missing flaw = "missing" // or it is not a partition of idem_keys
	keyless flaw = "keyless" // it has no primary key
	closed  flaw = "closed"  // it is sealed, and its generation is open
)

// UnfitError means that the table of a generation cannot be used: claims in it fail, or duplicates
// of the events whose keys were there would take effect again.
type UnfitError struct {
	Number int32
	Flaw   flaw
}

func (e *UnfitError) Error() string {
	switch e.Flaw {
	case missing:
		return fmt.Sprintf("idem_key_gen has generation %d of keys, but idem_keys_%[1]d is missing, or is not a partition of idem_keys; make it, as the role that owns idem_keys, "+
			"and restore its rows from the backup: CREATE TABLE idem_keys_%[1]d PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (%[1]d); ALTER TABLE idem_keys_%[1]d REPLICA IDENTITY FULL", e.Number)
	case keyless:
		return fmt.Sprintf("idem_keys_%d lacks its primary key; make it: ALTER TABLE idem_keys_%[1]d ADD PRIMARY KEY (key)", e.Number)
	}
	return fmt.Sprintf("generation %d of keys is open in idem_key_gen, but its table idem_keys_%[1]d is sealed: restore idem_key_gen and all tables of keys from one backup", e.Number)
}

// Fits returns an [UnfitError] if the table of a generation cannot be used.
func (l List) Fits() error {
	for _, g := range l {
		if g.flaw != "" {
			return &UnfitError{g.Number, g.flaw}
		}
	}
	return nil
}
