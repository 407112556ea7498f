package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/idemgen/idemgen/generator/evolution"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// Before is an earlier version of a spec.
type Before struct {
	Spec
	// Files are those around it, relative to its folder: the state, if generate had run, and the
	// libraries that it imports.
	Files schema.Files
}

// Plan is what the changes of a spec mean.
type Plan struct {
	Changes     []evolution.Change // those that break first
	Problems    string             // errors of a version, ready to print; then there are no changes
	Summary     string             // how many they are
	Diagnostics []Diagnostic       // the same for machines
}

// Refused reports whether a version is not in order.
func (p *Plan) Refused() bool { return p.Problems != "" }

// PlanOf compares a spec, as it is on disk, with an earlier version of it, and writes nothing. An
// error is about files that cannot be read.
func PlanOf(before Before, now Spec) (*Plan, error) {
	u, err := open(now)
	if err != nil {
		return nil, err
	}
	defer u.folder.Close()
	plan := &Plan{}
	old, err := plan.version(before.Spec, before.Files)
	if err != nil || plan.Refused() {
		return plan, err
	}
	data, err := before.Files.Read(state.File)
	switch {
	case errors.Is(err, fs.ErrNotExist): // generate had not run
	case err != nil:
		return plan, err
	default:
		if old.State, err = state.Read(before.Files.Show(state.File), data); err != nil {
			return plan, err
		}
	}
	new, err := plan.version(now, u.folder)
	if err != nil || plan.Refused() {
		return plan, err
	}
	new.State = state.Next(old.State, new.Service)
	plan.Changes = evolution.Compare(old, new, sqlcode.FormatOf(new.Service.Migrations.Format).Alone())
	return plan, nil
}

// version reads a spec and what it imports.
func (p *Plan) version(s Spec, files schema.Files) (evolution.Version, error) {
	libraries := &schema.Libraries{}
	parsed, problems, err := libraries.Load(s.Path, s.Content, files)
	if err != nil {
		return evolution.Version{}, err
	}
	if parsed.Library {
		return evolution.Version{}, fmt.Errorf("%s is a library, which has no records and no keys of its own: plan the specs that import it", s.Path)
	}
	service, more := resolve.Resolve(parsed)
	problems.Append(more)
	if problems.Errors() > 0 {
		r := &Result{}
		r.report([]*unit{{Spec: s, problems: problems, libraries: libraries}}, false)
		p.Problems, p.Summary, p.Diagnostics = r.Problems, r.Summary, r.Diagnostics
		return evolution.Version{}, nil
	}
	service.Source = path.Base(s.Path)
	root, _ := schema.Parse(s.Content) // it was parsed before
	return evolution.Version{Spec: root, Service: service, State: state.Next(nil, service)}, nil
}
