package generator

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/gocode"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/output"
	"github.com/idemgen/idemgen/generator/sqlcode"
)

// externalTables renders what makes the tables of others in the databases of tests.
func (u *unit) externalTables() error {
	tables := slices.DeleteFunc(slices.Clone(u.service.Tables), func(t *model.Table) bool { return !t.External })
	if len(tables) == 0 {
		return nil
	}
	sql, err := sqlcode.ExternalTables(tables, func(c *model.Column) []string { return textsOf(u.service, c) })
	if err != nil {
		return fmt.Errorf("%s: %w", u.Path, err)
	}
	u.files = append(u.files, output.File{
		Path: gocode.ExternalFile, Policy: output.Owned,
		Data: []byte("-- " + output.Marker + "\n-- Tables that the migrations do not make, as the spec has them, for the databases of tests.\n" + sql),
	})
	return nil
}

// textsOf are the texts that the spec gives a column: constants, and those of enums.
func textsOf(s *model.Service, c *model.Column) (texts []string) {
	add := func(text string) {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, t := range s.Topics {
		for _, e := range t.Events {
			for _, step := range e.Steps {
				for _, a := range slices.Concat(step.Set, step.Where) {
					switch v := a.Value; {
					case a.Column != c:
					case v.Kind == model.ConstValue:
						add(v.Const.Text)
					case v.Field != nil && v.Field.Type.Named != nil:
						for _, constant := range v.Field.Type.Named.Enum {
							add(constant.Text)
						}
					}
				}
			}
		}
	}
	return texts
}
