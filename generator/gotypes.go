package generator

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/generator/gopkg"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// goTypes finds the Go types of their own that the services of a run name. Packages are loaded
// only if there are any, and all at once.
func goTypes(ctx context.Context, units []*unit) error {
	var asked []gopkg.Type
	for _, u := range units {
		if u.service == nil {
			continue
		}
		for _, t := range u.service.GoTypes {
			asked = append(asked, asks(u, t))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	found, err := gopkg.Types(ctx, asked)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.service == nil {
			continue
		}
		for _, t := range u.service.GoTypes {
			is := found[asks(u, t)]
			t.Package, t.Parses = is.Package, is.Parses
			if is.Flaw != "" {
				u.problems.Add(goTypeAt(u, t), "E314", fmt.Sprintf("Go type %s.%s: %s", t.Path, t.Name, is.Flaw), is.Hint)
			}
		}
	}
	return nil
}

// asks is a Go type and what values of its kind need.
func asks(u *unit, t *model.GoType) gopkg.Type {
	needs := goNeeds[t.Kind]
	return gopkg.Type{Folder: u.folder.Abs("."), Path: t.Path, Name: t.Name, Basic: needs.basic, Parse: needs.parse}
}

// goNeeds are, by kind, the underlying type to which values convert, and whether a parser may
// read them. A parser may refuse texts: it is for kinds whose every value is a text that the
// generated tests know how to write. A number of days or microseconds converts to no number, which
// could count anything.
var goNeeds = map[model.Kind]struct {
	basic string
	parse bool
}{
	model.String:         {basic: "string"},
	model.UUID:           {basic: "[16]byte", parse: true},
	model.Bool:           {basic: "bool"},
	model.Int32:          {basic: "int32"},
	model.Int64:          {basic: "int64"},
	model.Float64:        {basic: "float64"},
	model.Decimal:        {parse: true},
	model.Timestamp:      {basic: "time.Time", parse: true},
	model.LocalTimestamp: {parse: true},
	model.Date:           {parse: true},
	model.Bytes:          {basic: "[]byte"},
	model.JSON:           {basic: "[]byte"},
}

// goTypeAt is where the spec names a Go type.
func goTypeAt(u *unit, t *model.GoType) (at schema.Pos) {
	for _, e := range u.parsed.Types {
		if e.Go != nil && e.Name.Value == t.Entry {
			return e.Go.Pos
		}
	}
	return at
}
