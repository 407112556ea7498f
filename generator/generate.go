// Package generator is the pipeline from specs to files: read, resolve, read what
// earlier runs wrote, render, compare with what is on disk. It goes one way, and nothing
// is written before everything of every spec is rendered.
//
// The stages are packages of their own; this one only leads from one to the next. It must
// not import the runtime, but for its room of plain facts about tables, internal/pgtable. Package
// eventkey makes keys with runtime/wire, as the service does.
package generator

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// SpecFile is the usual name of a spec.
const SpecFile = scaffold.SpecFile

// Spec is one spec file.
type Spec struct {
	Path    string // as it was given, slash-separated: messages begin with it
	Content []byte
	// File reads another file of the same version, by its path from the spec; nil reads from disk.
	File func(path string) ([]byte, error)
}

// Result is what a run found, and what it would write. Close it.
type Result struct {
	Problems    string          // errors of the specs, ready to print; "" if there are none
	Summary     string          // how many errors that are; "" if the specs are in order
	Diagnostics []Diagnostic    // the same for machines
	Refused     bool            // a spec is not in order: there are no changes
	Changes     []output.Change // in the order of the specs
	Notes       string          // what to know once the changes are applied, in prose; "" if nothing
	folders     []*output.Folder
	units       []*unit
}

// Generate runs the pipeline and writes nothing. An error is about files: one that cannot be read,
// or is in the way.
func Generate(ctx context.Context, specs []Spec) (*Result, error) {
	return generate(ctx, specs, false, nil)
}

// generate is Generate, perhaps of the sample of Init, with more files for each spec.
func generate(ctx context.Context, specs []Spec, sample bool, more func(*unit) ([]output.File, error)) (_ *Result, err error) {
	result := &Result{}
	defer func() {
		if err != nil {
			err = errors.Join(err, result.Close())
		}
	}()
	units := make([]*unit, len(specs))
	for i, s := range specs {
		if units[i], err = open(s); err != nil {
			return result, err
		}
		units[i].sample = sample
		result.folders = append(result.folders, units[i].folder)
	}
	err = read(units)
	apart(units)
	err = errors.Join(err, each(units, (*unit).readState), oneFolderEach(units))
	result.report(units)
	if err != nil || result.Refused {
		return result, err
	}
	result.units = slices.Clone(units)
	checkHandWritten := handWritten(ctx, units)
	if err := each(units, (*unit).render); err != nil {
		return result, err
	}
	if err := checkHandWritten(); err != nil {
		return result, err
	}
	err = each(units, func(u *unit) error {
		if more != nil {
			files, err := more(u)
			if err != nil {
				return err
			}
			u.files = append(u.files, files...)
		}
		changes, err := output.Compare(u.folder, u.files)
		result.Changes = append(result.Changes, changes...)
		result.Notes += u.notes.String()
		return err
	})
	return result, err
}

// each calls do for every unit and joins the errors, so that one run tells all.
func each(units []*unit, do func(*unit) error) error {
	var errs []error
	for _, u := range units {
		errs = append(errs, do(u))
	}
	return errors.Join(errs...)
}

// report collects what the authors of specs and cases must read.
func (r *Result) report(units []*unit) {
	var text strings.Builder
	count := 0
	r.Diagnostics = nil
	for _, f := range inFiles(units) {
		_ = f.problems.Print(&text, f.path, f.content) // a strings.Builder takes everything
		r.Diagnostics = append(r.Diagnostics, diagnostics(f.path, f.problems)...)
		count += f.problems.Errors()
	}
	r.Summary = ""
	if r.Refused = count > 0; r.Refused {
		r.Summary = syntax.Summary(count)
	}
	r.Problems = text.String()
}

// Apply writes the changes.
func (r *Result) Apply() error { return output.Apply(r.Changes) }

// Removed returns the paths of the files that Apply removes.
func (r *Result) Removed() []string {
	var paths []string
	for _, c := range r.Changes {
		if c.Op == output.Remove {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// Close releases the folders.
func (r *Result) Close() error {
	var errs []error
	for _, f := range r.folders {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
