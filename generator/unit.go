package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// unit is one spec on its way through the pipeline.
type unit struct {
	Spec
	folder    *output.Folder
	parsed    *syntax.Spec
	problems  syntax.Diagnostics
	service   *model.Service      // nil if the spec is not in order
	old, next *state.State        // old is nil at the first run
	changes   []state.TableChange // those that a migration is written for
	sample    bool                // the spec is the sample of Init, whose Go code is written and has a case
	cases     []*caseFile
	schemas   proof.Files // that the spec names
	ledger    ledger
	files     []output.File
	notes     strings.Builder // what generate has to say beside the problems
}

func (u *unit) note(format string, args ...any) { fmt.Fprintf(&u.notes, format, args...) }

func open(s Spec) (*unit, error) {
	folder, err := output.Open(filepath.FromSlash(path.Dir(s.Path)))
	if err != nil {
		return nil, err
	}
	return &unit{Spec: s, folder: folder}, nil
}

// take keeps what became of the spec: a model, or problems.
func (u *unit) take(service *model.Service) error {
	if u.problems.Errors() > 0 {
		return nil
	}
	u.service = service
	err := errors.Join(u.checkExamples(), readCases(u))
	return err
}

// checkExamples reads the sample records. Each must decode (E114).
func (u *unit) checkExamples() error {
	if u.service.Examples == "" {
		return nil
	}
	at := u.parsed.Examples.Pos
	data, err := u.folder.Read(u.service.Examples)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		u.problems.Add(at, "E114", fmt.Sprintf("examples: no such file %q", u.service.Examples), "the path is relative to this spec")
		return nil
	case err != nil:
		return err
	}
	for _, bad := range proof.Of(u.service).CheckExamples(data) {
		u.problems.Add(at, "E114", bad.Error(), "")
	}
	return nil
}

// apart refuses a second service in a folder: a folder is one Go package.
func apart(units []*unit) {
	first := map[string]*unit{}
	for _, u := range units {
		dir := u.folder.Abs(".")
		if other := first[dir]; other != nil {
			at := syntax.Pos{Line: 1, Col: 1, Width: 1}
			if u.parsed.Consumer != nil {
				at = u.parsed.Consumer.Pos
			}
			u.problems.Add(at, "E812", fmt.Sprintf("%q is a service spec in this folder too", path.Base(other.Path)),
				"a folder is one Go package: give each spec a folder of its own")
			continue
		}
		first[dir] = u
	}
}
