package sqlcode

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Alteration says what of a column changes.
type Alteration struct {
	Column                  *model.Column // as it becomes
	Type, Nullable, Default bool
}

// AlterColumn changes a column to what it is in the model.
func AlterColumn(t *model.Table, a Alteration) string {
	var actions []string
	act := func(text string) { actions = append(actions, "ALTER COLUMN "+columnIdent(a.Column)+" "+text) }
	if a.Type {
		to := columnType(a.Column.Type)
		if k := a.Column.Type; k.Kind == model.ColParsed || k.Elem == model.ColParsed { // of texts as well
			to += " USING " + columnIdent(a.Column) + "::" + to
		}
		act("TYPE " + to)
	}
	if a.Nullable {
		act("DROP NOT NULL")
	}
	if a.Default {
		text, err := defaultText(a.Column)
		if err != nil {
			text = "..."
		}
		act("SET DEFAULT " + text)
	}
	return "ALTER TABLE " + tableIdent(t) + " " + strings.Join(actions, ", ") + ";"
}

// AddUnique adds a unique key.
func AddUnique(t *model.Table, key []*model.Column) string {
	return "ALTER TABLE " + tableIdent(t) + " ADD CONSTRAINT " + ident(constraintName(t.InDatabase(), key, "key")) +
		" UNIQUE (" + list(idents(key)) + ");"
}

// AddForeignKey adds a foreign key.
func AddForeignKey(t *model.Table, fk model.ForeignKey) string {
	return "ALTER TABLE " + tableIdent(t) + " ADD " + foreignKeyLine(ident(constraintName(t.InDatabase(), fk.Columns, "fkey")), fk) + ";"
}
