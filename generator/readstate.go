package generator

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// readState reads what earlier runs left and finds out what a migration has to add. What
// no migration is written for becomes E607.
func (u *unit) readState() error {
	if u.service == nil {
		return nil
	}
	name := u.folder.Show(state.File)
	data, err := u.folder.Read(state.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if u.old, err = state.Read(name, data); err != nil {
			return err
		}
		if err := u.sameService(name); err != nil {
			return err
		}
	}
	if u.ledger, err = u.readLedger(); err != nil {
		return err
	}
	u.next = state.Next(u.old, u.service)
	u.service.Identity = model.Identity{Writes: u.next.Identity, Knows: u.next.Knows}
	u.tableChanges()
	u.keyChanges()
	return nil
}

// sameService refuses a state that speaks of another service.
func (u *unit) sameService(name string) error {
	if u.old.Source != u.service.Source {
		if _, err := u.folder.Read(u.old.Source); err == nil { // else the spec was renamed
			return fmt.Errorf("%s is of %s, which is in the same folder as %s: a folder is one Go package, give each spec a folder of its own",
				name, u.folder.Show(u.old.Source), u.Path)
		}
	}
	if u.old.Consumer != u.service.Consumer {
		return fmt.Errorf("%s is of consumer %q, %s says %q: under a new name the consumer has an empty ledger, reads every topic from "+
			"start_from and applies again what the old name has applied; to go on with its ledger, write %s again; if the new one is wanted, change the name in %s too",
			name, u.old.Consumer, u.Path, u.service.Consumer, u.old.Consumer, name)
	}
	return nil
}
