package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// table is an entry of tables. In a broken one columns or keys may be missing.
type table struct {
	spec    *schema.Table
	model   *model.Table
	columns []*column
	broken  bool
	// foreignKeys are those of the model, with where they stand.
	foreignKeys []foreignKey
}

type foreignKey struct {
	columns []*column
	pos     schema.Pos
}

// column is a column of a table. Of a broken one only the name is known.
type column struct {
	spec   *schema.Column
	model  *model.Column
	table  *table
	broken bool
}

// is names the column in a message: `column "total" of "orders"`.
func (c *column) is() string {
	return fmt.Sprintf("column %s of %s", quote(c.spec.Name.Value), quote(c.table.spec.Name.Value))
}

// complete reports whether no part of the table was refused.
func (t *table) complete() bool {
	return !t.broken && !slices.ContainsFunc(t.columns, func(c *column) bool { return c.broken })
}

func (t *table) column(name string) *column {
	for _, c := range t.columns {
		if c.spec.Name.Value == name {
			return c
		}
	}
	return nil
}

// of returns the working copy of a column of the model.
func (t *table) of(c *model.Column) *column {
	return t.columns[slices.IndexFunc(t.columns, func(x *column) bool { return x.model == c })]
}

func (t *table) columnNames() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.spec.Name.Value)
	}
	return names
}

// tables are the entries of tables.
type tables struct {
	all    []*table // in spec order
	byName map[string]*table
	// unknown says that the map of tables was refused, so that a name that is missing proves nothing.
	unknown bool
}

func (ts *tables) names() []string {
	var names []string
	for _, t := range ts.all {
		names = append(names, t.spec.Name.Value)
	}
	return names
}

// unknownTable reports a table that is not declared (E205), unless it is near one whose
// name was refused.
func unknownTable(report *schema.Diagnostics, tables *tables, at schema.Text) {
	near := tables.byName[schema.Closest(at.Value, tables.names())]
	if at.Value == "" || near != nil && near.spec.Broken || tables.unknown {
		return
	}
	report.Add(at.Pos, "E205", "unknown table "+quote(at.Value), choices(at.Value, "tables", tables.names()))
}

func resolveTables(report *schema.Diagnostics, spec *schema.Spec) *tables {
	ts := &tables{byName: map[string]*table{}, unknown: spec.Broken && len(spec.Tables) == 0}
	for _, spec := range spec.Tables {
		t := &table{spec: spec, broken: spec.Broken, model: &model.Table{
			Name: spec.Name.Value, GoName: goNameOf(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc),
			Unlogged: spec.Unlogged != nil && spec.Unlogged.Value,
		}}
		ts.all, ts.byName[spec.Name.Value] = append(ts.all, t), t
		for _, c := range spec.Columns {
			t.columns = append(t.columns, resolveColumn(report, t, c))
			t.model.Columns = append(t.model.Columns, t.columns[len(t.columns)-1].model)
		}
	}
	for _, t := range ts.all {
		resolveTableKeys(report, t)
	}
	for _, t := range ts.all {
		for _, fk := range t.spec.ForeignKeys {
			resolveForeignKey(report, ts, t, fk)
		}
	}
	return ts
}

func resolveColumn(report *schema.Diagnostics, t *table, spec *schema.Column) *column {
	c := &column{spec: spec, table: t, broken: spec.Broken, model: &model.Column{
		Name: spec.Name.Value, Doc: docOf(spec.Doc), Nullable: spec.Type.Nullable,
	}}
	if spec.Type.Text == "" {
		c.broken = true
		return c
	}
	ct, ok := columnType(spec.Type.Word)
	if !ok {
		report.Add(spec.Type.Pos, "E610", "unknown column type "+quote(spec.Type.Text), unknownColumnHint(spec.Type))
		c.broken = true
		return c
	}
	c.model.Type = ct
	if spec.Default != nil {
		c.model.Default = columnDefault(report, c)
	}
	if spec.Identity != nil && spec.Identity.Value {
		c.model.Identity = checkIdentity(report, c)
	}
	return c
}

// columnDefault reads the default of a column: now(), gen_random_uuid() or a constant.
func columnDefault(report *schema.Diagnostics, c *column) *model.Default {
	text, ct := c.spec.Default, c.model.Type
	for _, f := range []struct {
		call string
		kind model.ColKind
	}{{"now()", model.ColTimestamptz}, {"gen_random_uuid()", model.ColUUID}} {
		if text.Value != f.call {
			continue
		}
		if ct.Kind != f.kind {
			report.Add(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", f.call, c.is(), c.spec.Type.Word),
				fmt.Sprintf("%s fills %s", f.call, columnWordOf[f.kind]))
			return nil
		}
		return &model.Default{Func: f.call}
	}
	norm, why := columnConstant(ct, text.Value)
	if why != fits && isNow(text.Value) {
		why = "for the time of the insert write now(), in a timestamptz column"
	}
	if why != fits {
		report.Add(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", quote(text.Value), c.is(), c.spec.Type.Word), string(why))
		return nil
	}
	return &model.Default{Const: &model.Constant{Text: norm}}
}

func checkIdentity(report *schema.Diagnostics, c *column) bool {
	fail := func(message, hint string) bool {
		report.Add(c.spec.Identity.Key, "E610", message, hint)
		return false
	}
	switch k := c.model.Type.Kind; {
	case k != model.ColSmallint && k != model.ColInteger && k != model.ColBigint:
		return fail(fmt.Sprintf("identity numbers rows, but %s is %s", c.is(), c.spec.Type.Word), "use smallint, integer or bigint")
	case c.model.Nullable:
		return fail(fmt.Sprintf("identity fills %s in every row, so it cannot be nullable", c.is()), `drop "nullable"`)
	case c.spec.Default != nil:
		return fail(fmt.Sprintf("%s has both identity and default", c.is()), "keep one of them")
	}
	return true
}

// columnList looks up the columns of a key and reports unknown and repeated ones
// (E206, E107). Complete is false if one is missing or broken.
func columnList(report *schema.Diagnostics, t *table, list *schema.Texts, what string) (columns []*column, complete bool) {
	complete = true
	for i, name := range list.Items {
		if slices.ContainsFunc(list.Items[:i], func(x schema.Text) bool { return x.Value == name.Value }) {
			report.Add(name.Pos, "E107", fmt.Sprintf("column %s appears twice in %s", quote(name.Value), what), "name it once")
			complete = false
			continue
		}
		c := lookupColumn(report, t, name)
		if c == nil || c.broken {
			complete = false
			continue
		}
		columns = append(columns, c)
	}
	return columns, complete
}

// lookupColumn finds a column or reports E206. Of a broken table it stays silent.
func lookupColumn(report *schema.Diagnostics, t *table, name schema.Text) *column {
	c := t.column(name.Value)
	if c == nil && !t.broken {
		report.Add(name.Pos, "E206", fmt.Sprintf("table %s has no column %s", quote(t.spec.Name.Value), quote(name.Value)),
			choices(name.Value, "columns", t.columnNames()))
	}
	return c
}
