package generator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/cases"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/scaffold"
	"github.com/idemgen/idemgen/schema"
)

// NewCase is what a case of a spec is made of.
type NewCase struct {
	Name  string // "": that of the first event without Go code, if there is one and no case yet
	Event string // "": the one for which a case is wanted most

	sample bool // the spec is the sample of Init, whose Go code is written and has a case, too
}

// Case is Generate for one spec, with a draft of a case. A case of that name that is there already
// is an error.
func Case(ctx context.Context, s Spec, c NewCase) (*Result, error) {
	if !caseName.MatchString(c.Name) {
		return &Result{}, fmt.Errorf("%q is not a valid name of a case: %s", c.Name, caseRule)
	}
	return generate(ctx, []Spec{s}, false, &c, func(u *unit) ([]output.File, error) { return u.cases.drafted(), nil })
}

// addCase drafts a case.
func addCase(u *unit, c NewCase) error {
	event, err := u.cases.first(u.service), error(nil)
	if c.Name != "" {
		event, err = eventOf(u, c.Event)
	}
	if err != nil || event == nil {
		return err
	}
	draft := caseFile{name: cmp.Or(c.Name, caseNameOf(event)), new: true}
	draft.path = u.folder.Show(draft.file())
	if _, err := u.folder.Read(draft.file()); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s exists; idemgen case replaces nothing", draft.path), err)
	}
	draft.content = cases.Draft(u.service, event)
	draft.read(u, oracle.New(u.service))
	u.cases = append(u.cases, &draft)
	if draft.unsaid {
		u.note("%s is a draft, and refused until it is whole: say under then what the Go code does, and remove the line draft\n", draft.path)
	}
	if c.sample {
		return addSample(u)
	}
	return nil
}

// addSample adds the case of the sample's Go code.
func addSample(u *unit) (err error) {
	c := caseFile{new: true}
	if c.name, c.content, err = scaffold.SampleCase(); err != nil {
		return err
	}
	c.path = u.folder.Show(c.file())
	c.read(u, oracle.New(u.service))
	u.cases = append(u.cases, &c)
	return nil
}

// eventOf finds an event by its name.
func eventOf(u *unit, name string) (*model.Event, error) {
	if name == "" {
		if e := u.cases.next(u.service); e != nil {
			return e, nil
		}
		return nil, errors.New("the spec has no event that a case could hold")
	}
	var names []string
	for _, t := range u.service.Topics {
		for _, e := range t.Events {
			if e.Name == name {
				return e, nil
			}
			names = append(names, e.Name)
		}
	}
	hint := schema.DidYouMean(name, names)
	if hint == "" {
		hint = "events: " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("%s has no event %q; %s", u.Path, name, hint)
}

// caseNameOf is the name of an event as that of a case: OrderPaid becomes order_paid.
func caseNameOf(e *model.Event) string {
	var b strings.Builder
	letters := []rune(e.Name)
	for i, c := range letters {
		if i > 0 && unicode.IsUpper(c) && !unicode.IsUpper(letters[i-1]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	name := b.String()
	return name[:min(len(name), 41)]
}
