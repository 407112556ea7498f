package sqlcode

import (
	"fmt"
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

// AlterColumns changes columns of a table to what they are in the model, in one pass.
func AlterColumns(t *model.Table, all []Alteration) (string, error) {
	var actions []string
	for _, a := range all {
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
				return "", fmt.Errorf("table %s, column %s: %w", t.Name, a.Column.Name, err)
			}
			act("SET DEFAULT " + text)
		}
	}
	return "ALTER TABLE " + tableIdent(t) + "\n    " + strings.Join(actions, ",\n    ") + ";", nil
}

// KeyName is the name of a key or index of a table; suffix is key, idx or fkey.
func KeyName(t *model.Table, columns []*model.Column, suffix string) string {
	return constraintName(t.InDatabase(), columns, suffix)
}

// AddUnique adds a unique key while nothing else uses the table.
func AddUnique(t *model.Table, key []*model.Column) string {
	return "ALTER TABLE " + tableIdent(t) + " ADD CONSTRAINT " + ident(constraintName(t.InDatabase(), key, "key")) +
		" UNIQUE (" + list(idents(key)) + ");"
}

// UseUniqueIndex makes a unique key of the index of [ConcurrentUniqueIndex].
func UseUniqueIndex(t *model.Table, key []*model.Column) string {
	name := ident(constraintName(t.InDatabase(), key, "key"))
	return "ALTER TABLE " + tableIdent(t) + " ADD CONSTRAINT " + name + " UNIQUE USING INDEX " + name + ";"
}

// AddIndex makes an index while nothing writes to the table.
func AddIndex(t *model.Table, columns []*model.Column) string {
	return createIndex("INDEX", t, columns, "idx")
}

// ConcurrentIndex makes an index while others write. It cannot run in a transaction.
func ConcurrentIndex(t *model.Table, columns []*model.Column) string {
	return createIndex("INDEX CONCURRENTLY", t, columns, "idx")
}

// ConcurrentUniqueIndex makes the index of a unique key while others write. It cannot run in a
// transaction.
func ConcurrentUniqueIndex(t *model.Table, key []*model.Column) string {
	return createIndex("UNIQUE INDEX CONCURRENTLY", t, key, "key")
}

// DropConcurrently removes what a ConcurrentIndex (suffix idx) or a ConcurrentUniqueIndex
// (suffix key) has left that failed.
func DropConcurrently(t *model.Table, columns []*model.Column, suffix string) string {
	return "DROP INDEX CONCURRENTLY IF EXISTS " + inSchema(t, constraintName(t.InDatabase(), columns, suffix)) + ";"
}

func createIndex(what string, t *model.Table, columns []*model.Column, suffix string) string {
	return "CREATE " + what + " " + ident(constraintName(t.InDatabase(), columns, suffix)) + " ON " + tableIdent(t) + " (" + list(idents(columns)) + ");"
}

// AddForeignKey adds a foreign key that holds for new rows; [ValidateForeignKey] looks at those
// that are there.
func AddForeignKey(t *model.Table, fk model.ForeignKey) string {
	return "ALTER TABLE " + tableIdent(t) + " ADD " + foreignKeyLine(ident(constraintName(t.InDatabase(), fk.Columns, "fkey")), fk) + " NOT VALID;"
}

// ValidateForeignKey checks the rows that were there before a foreign key, while others write.
func ValidateForeignKey(t *model.Table, fk model.ForeignKey) string {
	return "ALTER TABLE " + tableIdent(t) + " VALIDATE CONSTRAINT " + ident(constraintName(t.InDatabase(), fk.Columns, "fkey")) + ";"
}
