package resolve

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// eachImport calls known for every import of the files, with the names by which places tell the
// files apart.
func eachImport(files []*schema.Spec, known func(file, alias, library string)) {
	for _, f := range files {
		for _, i := range f.Imports {
			if i.Library != nil {
				known(i.Alias.Pos.File, i.Alias.Value, i.Library.File)
			}
		}
	}
}

// notImported reports a name whose alias no import has (E210): once for an alias that nobody
// declared, and wherever it is for one that is misspelt. It stays silent of names in a library
// that was refused, which is told already, and returns false for all others.
func notImported(report *schema.Diagnostics, files []*schema.Spec, what, name string, at schema.Pos) bool {
	alias := schema.AliasOf(name)
	if alias == "" {
		return false
	}
	var aliases []string
	for _, f := range files {
		for _, i := range f.Imports {
			switch {
			case i.Alias.Pos.File != at.File:
			case strings.EqualFold(i.Alias.Value, alias) && i.Refused:
				return true
			case i.Alias.Value == alias && i.Library != nil:
				return i.Library.Broken
			default:
				aliases = append(aliases, i.Alias.Value)
			}
		}
	}
	if near := schema.Closest(alias, aliases); near != "" {
		report.Add(at, "E210", "unknown "+what+" "+wording.Quote(name), fmt.Sprintf("did you mean %q?", near+name[len(alias):]))
	} else {
		report.AddOnce(at, "E210", "no import has the alias "+wording.Quote(alias), fmt.Sprintf("declare it: import: {%s: <file>}, with the path of the library", alias))
	}
	return true
}

// markTables finds the tables of libraries that the service has to do with.
func markTables(d *draft.Service) {
	of := map[*model.Table]*draft.Table{}
	for _, t := range d.Tables.All {
		of[t.Model] = t
	}
	var mark func(t *draft.Table)
	mark = func(t *draft.Table) {
		if t.Used {
			return
		}
		t.Used = true
		for _, fk := range t.Model.ForeignKeys {
			mark(of[fk.References])
		}
	}
	for _, t := range d.Tables.All {
		if !t.Imported || !t.Model.External && d.Spec.Consumer != nil {
			mark(t)
		}
	}
	for _, st := range d.Steps() {
		mark(st.Table)
	}
}

// markTypes finds the types of libraries that the service uses: of its events, its record keys,
// and its own types, with all that these hold.
func markTypes(d *draft.Service) {
	of, ofGo, ofCodec := map[*model.Type]*draft.Type{}, map[*model.GoType]*draft.Type{}, map[model.Codec]*draft.Type{}
	for _, t := range d.Types.All {
		of[t.Model] = t
		if t.Is.Go != nil && t.Spec.Go != nil {
			ofGo[t.Is.Go] = t
		}
		if t.Is.Codec != nil && t.Spec.Coded() {
			ofCodec[*t.Is.Codec] = t
		}
	}
	seen := map[*model.Type]bool{}
	var fields func([]*model.Field)
	mark := func(ft model.FieldType) {
		for ft.Elem != nil {
			ft = *ft.Elem
		}
		if t := ofGo[ft.Go]; t != nil {
			t.Used = true
		}
		if ft.Codec != nil && ofCodec[*ft.Codec] != nil {
			ofCodec[*ft.Codec].Used = true
		}
		if ft.Named == nil || seen[ft.Named] {
			return
		}
		seen[ft.Named] = true
		if t := of[cmp.Or(ft.Named.First, ft.Named)]; t != nil {
			t.Used = true
		}
		fields(ft.Named.Fields)
	}
	fields = func(all []*model.Field) {
		for _, f := range all {
			mark(f.Type)
		}
	}
	for _, t := range d.Types.All {
		if !t.Imported {
			fields(t.Model.Fields)
		}
	}
	for _, t := range d.Topics {
		if t.Key != nil {
			for _, p := range t.Key.Parts {
				if p.Part != nil {
					mark(p.Part.Type)
				}
			}
		}
	}
	for _, e := range d.Events() {
		fields(e.Model.Fields)
	}
}
