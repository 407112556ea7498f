// Package generator is the pipeline from specs to generated files. Nothing is written before all
// files of all specs have been rendered:
//
//	Spec -> read -> source -> readHistory -> history -> render -> files -> compare -> Result
//
// Each stage is a package of its own; this package connects them. It must not import the runtime,
// except internal/pgtable, which holds facts about tables. Package eventkey computes keys with
// runtime/wire, as the service does.
package generator

import (
	"errors"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/gopkg"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// SpecFile is the default name of a spec file.
const SpecFile = scaffold.SpecFile

// Spec is one spec file.
type Spec struct {
	Path    string // as given, slash-separated; messages begin with it
	Content []byte
	// File reads another file of the same version, by its path relative to the spec; nil means
	// that files are read from disk.
	File func(path string) ([]byte, error)
}

// Result is the outcome of a run: problems, and the files that it would write. Close it.
type Result struct {
	Problems    string          // errors of the specs, ready to print; "" if there are none
	Summary     string          // number of errors, in words; "" if there are none
	Diagnostics []Diagnostic    // the problems as data
	Refused     bool            // a spec has errors: there are no changes
	Changes     []output.Change // in the order of the specs
	Notes       string          // what to do after the changes are applied, in sentences; "" if nothing
	folders     []*output.Folder
	sources     []*source // none if a spec is not in order
}

// Generate runs the pipeline and writes nothing; [Result.Apply] does. It returns an error if a
// file cannot be read, or if a file that idemgen did not generate has the name of a generated one.
// Errors of specs are in the result.
func Generate(specs []Spec) (*Result, error) {
	return generate(specs, false, nil)
}

// generate is like Generate. sample says that the spec is the sample of Init. more returns
// additional files for a spec.
func generate(specs []Spec, sample bool, more func(*source, []output.File) ([]output.File, error)) (_ *Result, err error) {
	result := &Result{}
	defer func() {
		if err != nil {
			err = errors.Join(err, result.Close())
		}
	}()

	// Read the specs and their state files and migrations.
	sources, errs := make([]*source, len(specs)), make([]error, len(specs))
	for i, spec := range specs {
		if sources[i], errs[i] = read(spec); sources[i] == nil {
			return result, errs[i]
		}
		result.folders = append(result.folders, sources[i].folder)
	}
	apart(sources)
	histories := make([]*history, len(specs))
	for i, s := range sources {
		h, err := readHistory(s)
		histories[i], errs[i] = h, errors.Join(errs[i], err)
	}
	err = errors.Join(append(errs, oneFolderEach(sources))...)
	if result.report(sources); err != nil || result.Refused {
		return result, err
	}
	result.sources = sources

	// Render all files of all specs.
	files := make([][]output.File, len(specs))
	for i, s := range sources {
		files[i], errs[i] = render(s, histories[i])
	}
	if err := errors.Join(errs...); err != nil {
		return result, err
	}
	for i, s := range sources {
		hand, err := gopkg.Load(s.folder.Abs("."), output.Marked)
		if err != nil {
			return result, err
		}
		starters, notes, err := starterFiles(s, hand, files[i], sample)
		errs[i] = errors.Join(s.fits(hand, files[i]), err)
		files[i] = append(files[i], starters...)
		result.Notes += histories[i].note(s.Path) + notes
	}
	if err := errors.Join(errs...); err != nil {
		return result, err
	}

	// Compare them with the files on disk.
	for i, s := range sources {
		if more != nil {
			around, err := more(s, files[i])
			if err != nil {
				return result, err
			}
			files[i] = append(files[i], around...)
		}
		changes, err := output.Compare(s.folder, files[i])
		result.Changes = append(result.Changes, changes...)
		errs[i] = err
	}
	return result, errors.Join(errs...)
}

// report collects the problems of specs and cases.
func (r *Result) report(sources []*source) {
	var text strings.Builder
	count := 0
	r.Diagnostics = nil
	for _, f := range inFiles(sources) {
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

// Apply writes the changes to disk.
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

// Close releases the open folders.
func (r *Result) Close() error {
	var errs []error
	for _, f := range r.folders {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
