package sqlcode

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// inSchema names something in the schema of a table.
func inSchema(t *model.Table, name string) string {
	if t.Schema == "" {
		return ident(name)
	}
	return ident(t.Schema) + "." + ident(name)
}

// Names of the database are given to what follows, without schemas; what a table or column of
// the model is called there, the model tells.

// RenameTable gives a table its name.
func RenameTable(from string, t *model.Table) string {
	return "ALTER TABLE " + inSchema(t, from) + " RENAME TO " + ident(t.InDatabase()) + ";"
}

// RenameColumn gives a column its name.
func RenameColumn(t *model.Table, from string, c *model.Column) string {
	return "ALTER TABLE " + tableIdent(t) + " RENAME COLUMN " + ident(from) + " TO " + columnIdent(c) + ";"
}

// RenameKey gives a key or index the name that it would have in a new database. From are the
// table and the columns that it is named after; suffix is pkey, key, idx or fkey.
func RenameKey(t *model.Table, table string, from, to []string, suffix string) string {
	was, is := objectName(table, from, suffix), objectName(t.InDatabase(), to, suffix)
	if was == is {
		return ""
	}
	if suffix == "fkey" {
		return "ALTER TABLE " + tableIdent(t) + " RENAME CONSTRAINT " + ident(was) + " TO " + ident(is) + ";"
	}
	return "ALTER INDEX " + inSchema(t, was) + " RENAME TO " + ident(is) + ";" // and its constraint
}

// RenameNumbers gives the sequence of an identity column the name that it would have in a new
// database.
func RenameNumbers(t *model.Table, table, from, to string) string {
	was, is := sequenceName(table, from), sequenceName(t.InDatabase(), to)
	if was == is {
		return ""
	}
	return "ALTER SEQUENCE " + inSchema(t, was) + " RENAME TO " + ident(is) + ";"
}

// sequenceName is the name that Postgres gives to the sequence of an identity column: the
// longer of the two names is cut first.
func sequenceName(table, column string) string {
	for room := maxName - len("__seq"); len(table)+len(column) > room; {
		if len(table) > len(column) {
			table = table[:len(table)-1]
		} else {
			column = column[:len(column)-1]
		}
	}
	return table + "_" + column + "_seq"
}

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
		act("TYPE " + columnType(a.Column.Type))
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

// AddIndex makes an index.
func AddIndex(t *model.Table, columns []*model.Column) string {
	return "CREATE INDEX " + ident(constraintName(t.InDatabase(), columns, "idx")) + " ON " + tableIdent(t) + " (" + list(idents(columns)) + ");"
}

// AddForeignKey adds a foreign key.
func AddForeignKey(t *model.Table, fk model.ForeignKey) string {
	return "ALTER TABLE " + tableIdent(t) + " ADD " + foreignKeyLine(ident(constraintName(t.InDatabase(), fk.Columns, "fkey")), fk) + ";"
}
