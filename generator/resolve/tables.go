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

func (r *resolver) tableNames() []string {
	var names []string
	for _, t := range r.spec.Tables {
		names = append(names, t.Name.Value)
	}
	return names
}

// unknownTable reports a table that is not declared (E205), unless it is near one whose
// name was refused.
func (r *resolver) unknownTable(at schema.Text) {
	near := r.tables[schema.Closest(at.Value, r.tableNames())]
	if at.Value == "" || near != nil && near.spec.Broken || r.spec.Broken && len(r.spec.Tables) == 0 {
		return
	}
	r.fail(at.Pos, "E205", "unknown table "+quote(at.Value), choices(at.Value, "tables", r.tableNames()))
}

func (r *resolver) resolveTables() {
	for _, spec := range r.spec.Tables {
		t := &table{spec: spec, broken: spec.Broken, model: &model.Table{
			Name: spec.Name.Value, GoName: goNameOf(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc),
			Unlogged: spec.Unlogged != nil && spec.Unlogged.Value,
		}}
		r.tables[spec.Name.Value] = t
		for _, c := range spec.Columns {
			t.columns = append(t.columns, r.resolveColumn(t, c))
			t.model.Columns = append(t.model.Columns, t.columns[len(t.columns)-1].model)
		}
	}
	for _, spec := range r.spec.Tables {
		r.resolveTableKeys(r.tables[spec.Name.Value])
	}
	for _, spec := range r.spec.Tables {
		for _, fk := range spec.ForeignKeys {
			r.resolveForeignKey(r.tables[spec.Name.Value], fk)
		}
	}
}

func (r *resolver) resolveColumn(t *table, spec *schema.Column) *column {
	c := &column{spec: spec, table: t, broken: spec.Broken, model: &model.Column{
		Name: spec.Name.Value, Doc: docOf(spec.Doc), Nullable: spec.Type.Nullable,
	}}
	if spec.Type.Text == "" {
		c.broken = true
		return c
	}
	ct, ok := columnType(spec.Type.Word)
	if !ok {
		r.fail(spec.Type.Pos, "E610", "unknown column type "+quote(spec.Type.Text), unknownColumnHint(spec.Type))
		c.broken = true
		return c
	}
	c.model.Type = ct
	if spec.Default != nil {
		c.model.Default = r.columnDefault(c)
	}
	if spec.Identity != nil && spec.Identity.Value {
		c.model.Identity = r.checkIdentity(c)
	}
	return c
}

// columnDefault reads the default of a column: now(), gen_random_uuid() or a constant.
func (r *resolver) columnDefault(c *column) *model.Default {
	text, ct := c.spec.Default, c.model.Type
	for _, f := range []struct {
		call string
		kind model.ColKind
	}{{"now()", model.ColTimestamptz}, {"gen_random_uuid()", model.ColUUID}} {
		if text.Value != f.call {
			continue
		}
		if ct.Kind != f.kind {
			r.fail(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", f.call, c.is(), c.spec.Type.Word),
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
		r.fail(text.Pos, "E304", fmt.Sprintf("default %s does not fit %s of type %s", quote(text.Value), c.is(), c.spec.Type.Word), string(why))
		return nil
	}
	return &model.Default{Const: &model.Constant{Text: norm}}
}

func (r *resolver) checkIdentity(c *column) bool {
	fail := func(message, hint string) bool {
		r.fail(c.spec.Identity.Key, "E610", message, hint)
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
func (r *resolver) columnList(t *table, list *schema.Texts, what string) (columns []*column, complete bool) {
	complete = true
	for i, name := range list.Items {
		if slices.ContainsFunc(list.Items[:i], func(x schema.Text) bool { return x.Value == name.Value }) {
			r.fail(name.Pos, "E107", fmt.Sprintf("column %s appears twice in %s", quote(name.Value), what), "name it once")
			complete = false
			continue
		}
		c := r.lookupColumn(t, name)
		if c == nil || c.broken {
			complete = false
			continue
		}
		columns = append(columns, c)
	}
	return columns, complete
}

// lookupColumn finds a column or reports E206. Of a broken table it stays silent.
func (r *resolver) lookupColumn(t *table, name schema.Text) *column {
	c := t.column(name.Value)
	if c == nil && !t.broken {
		r.fail(name.Pos, "E206", fmt.Sprintf("table %s has no column %s", quote(t.spec.Name.Value), quote(name.Value)),
			choices(name.Value, "columns", t.columnNames()))
	}
	return c
}
