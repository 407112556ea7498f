package generator

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/evolution"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// Before is an earlier version of a spec.
type Before struct {
	Spec
	State     []byte // content of its state file; nil if there was none
	StatePath string // for messages
}

// Plan describes the consequences of changes of a spec.
type Plan struct {
	Refusal                    // if a version has errors; there are then no changes
	Changes []evolution.Change // breaking changes first
}

// Refusal holds the errors of a spec.
type Refusal struct {
	Problems    string       // errors, ready to print
	Summary     string       // number of errors, in words
	Diagnostics []Diagnostic // the errors as data
}

// Refused reports whether the spec has errors.
func (r *Refusal) Refused() bool { return r.Problems != "" }

// load reads a spec. It returns nil if the spec has errors.
func (r *Refusal) load(s Spec) *model.Service {
	_, service, problems := s.resolve(proof.Files{})
	if problems.Errors() > 0 {
		found := &Result{}
		found.report([]*source{{Spec: s, problems: problems}})
		*r = Refusal{found.Problems, found.Summary, found.Diagnostics}
		return nil
	}
	service.Source = path.Base(s.Path)
	return service
}

// PlanOf compares a spec, as it is on disk, with an earlier version of it. It writes nothing. It
// returns an error if a file cannot be read.
func PlanOf(before Before, now Spec) (*Plan, error) {
	plan := &Plan{}
	old := plan.version(before.Spec)
	if plan.Refused() {
		return plan, nil
	}
	var known []state.Migration
	if before.State != nil {
		var err error
		if old.State, err = state.Read(before.StatePath, before.State); err != nil {
			return plan, err
		}
		known = old.State.Migrations
	}
	new := plan.version(now)
	if plan.Refused() {
		return plan, nil
	}
	var err error
	if new.ByHand, err = byHand(known, now, new.Service); err != nil {
		return plan, err
	}
	new.State = state.Next(old.State, new.Service)
	plan.Changes = evolution.Compare(old, new)
	return plan, nil
}

// byHand returns the tables and columns that migrations of the team's own change, and the names of
// these files: those of the folder that the state of the version before does not have.
func byHand(known []state.Migration, now Spec, service *model.Service) (map[string]string, error) {
	folder, err := output.Open(filepath.FromSlash(path.Dir(now.Path)))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := folder.List(service.Migrations.Dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, e := range entries {
		_, _, down, ok := formatOf(service).Read(e.Name())
		if e.IsDir() || down || !ok || slices.ContainsFunc(known, func(m state.Migration) bool { return m.Name == e.Name() }) {
			continue
		}
		content, err := folder.Read(path.Join(service.Migrations.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if output.Marked(content) {
			continue
		}
		for _, h := range handedBy(e.Name(), content) {
			files[h.subject] = h.file
		}
	}
	return files, nil
}

// version reads a spec. It returns the zero value if the spec has errors.
func (p *Plan) version(s Spec) evolution.Version {
	service := p.load(s)
	if service == nil {
		return evolution.Version{}
	}
	root, _ := syntax.Parse(s.Content) // it was parsed before
	return evolution.Version{Spec: root, Service: service, State: state.Next(nil, service)}
}
