package cases

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// givenRow is a row on its way.
type givenRow struct {
	row model.Row
	pos syntax.Pos
}

// given are the rows that are there before, parents before children.
func (r *reader) given() []model.Row {
	var rows []givenRow
	for _, t := range r.spec.Given {
		table := r.table(t.Name)
		if table == nil {
			continue
		}
		for _, row := range t.Rows {
			if whole, ok := r.row(table, row); ok {
				rows = append(rows, givenRow{whole, row.Pos})
			}
		}
	}
	depth := depths(r.service.Tables)
	slices.SortStableFunc(rows, func(a, b givenRow) int { return depth[a.row.Table] - depth[b.row.Table] })
	var out []model.Row
	for _, g := range rows {
		if err := r.in.Insert(g.row); err != nil {
			r.report.Add(g.pos, "E152", fmt.Sprintf("this row of %s cannot exist: %v", wording.Quote(g.row.Table.Name), err), "")
			continue
		}
		out = append(out, g.row)
	}
	return out
}

// row reads a row of given. A column that it leaves out takes its default or NULL.
func (r *reader) row(t *model.Table, row syntax.CaseRow) (out model.Row, ok bool) {
	out.Table, ok = t, true
	values := map[*model.Column]model.Value{}
	for _, cell := range row.Cells {
		c := r.column(t, cell.Column)
		if c == nil {
			ok = false
			continue
		}
		if c.ByDatabase() {
			r.report.Add(cell.Column.Pos, "E152", fmt.Sprintf("column %s of %s is filled only by the database", wording.Quote(c.Name), wording.Quote(t.Name)), "leave it out")
			ok = false
			continue
		}
		value, fine := r.value(c, cell.Value)
		ok = fine && ok
		values[c] = value
	}
	for _, c := range t.Columns {
		value, named := values[c]
		switch {
		case named:
			out.Set = append(out.Set, model.Assign{Column: c, Value: value})
		case !c.Nullable && !c.ByDatabase() && c.Default == nil && ok:
			r.report.Add(row.Pos, "E152", fmt.Sprintf("the row of %s lacks column %s, which has no default and cannot be NULL", wording.Quote(t.Name), wording.Quote(c.Name)), "give it a value")
			return out, false
		}
	}
	return out, ok
}

// then is what must be in a table.
func (r *reader) then(t *syntax.CaseTable) (out Table) {
	table := r.table(t.Name)
	if table == nil {
		return out
	}
	out.Name, out.Count = table.Name, len(t.Rows)
	if t.Count != nil {
		out.Count = int(t.Count.Value)
	}
	if len(t.Rows) == 0 {
		return out
	}
	columns := r.compared(table, t)
	out.Columns = model.ColumnNames(columns)
	for _, row := range t.Rows {
		cells := make([]string, len(columns))
		for _, cell := range row.Cells {
			at := slices.IndexFunc(columns, func(c *model.Column) bool { return c.Name == cell.Column.Value })
			if at < 0 {
				continue // reported
			}
			cells[at] = r.shown(columns[at], cell.Value)
		}
		if at := slices.Index(cells, ""); at >= 0 {
			r.report.Add(row.Pos, "E154", fmt.Sprintf("the row lacks column %s, which another row of %s has", wording.Quote(columns[at].Name), wording.Quote(t.Name.Value)), "name the same columns in all rows of a table")
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// asGiven is what must be in the tables if nothing happens: the rows of given.
func (r *reader) asGiven() (out []Table) {
	for _, t := range r.service.Tables {
		table := Table{Name: t.Name, Columns: r.in.Columns(t.Name), Rows: r.in.Values(t.Name)}
		if table.Count = len(table.Rows); len(table.Columns) == 0 {
			table.Rows = nil // they are counted
		}
		out = append(out, table)
	}
	return out
}

// compared are the columns that the rows name.
func (r *reader) compared(table *model.Table, t *syntax.CaseTable) (columns []*model.Column) {
	fixed := r.in.Columns(table.Name)
	for _, row := range t.Rows {
		for _, cell := range row.Cells {
			c := r.column(table, cell.Column)
			switch {
			case c == nil || slices.Contains(columns, c):
			case !slices.Contains(fixed, c.Name):
				r.report.Add(cell.Column.Pos, "E154", fmt.Sprintf("column %s of %s is filled by the database, so its value is not known in advance", wording.Quote(c.Name), wording.Quote(table.Name)), "leave it out")
			default:
				columns = append(columns, c)
			}
		}
	}
	slices.SortFunc(columns, func(a, b *model.Column) int {
		return slices.Index(table.Columns, a) - slices.Index(table.Columns, b)
	})
	return columns
}

// shown is a value of then in the form of expected rows; never "".
func (r *reader) shown(c *model.Column, n *syntax.Node) string {
	value, ok := r.value(c, n)
	if !ok || value.Kind == model.NullValue {
		return "NULL"
	}
	if raw, ok := documentIn(c, n); ok { // of bytes too, JSON is compared as JSON
		c, value = &model.Column{Name: c.Name, Type: model.ColType{Kind: model.ColJSON}}, constant(raw)
	}
	text, err := oracle.Constant(c, value.Const.Text)
	if err != nil { // what typeword takes and the oracle does not
		r.unfit(c, n, value.Const.Text, err.Error())
		return "NULL"
	}
	return text
}

func (r *reader) column(t *model.Table, name syntax.Text) *model.Column {
	for _, c := range t.Columns {
		if c.Name == name.Value {
			return c
		}
	}
	r.report.Add(name.Pos, "E206", fmt.Sprintf("table %s has no column %s", wording.Quote(t.Name), wording.Quote(name.Value)), syntax.Choices(name.Value, "columns", model.ColumnNames(t.Columns)))
	return nil
}

// value reads a column's value: a constant as the spec has it, null, for an array column a list,
// for a JSON column anything, for bytes base64 or JSON.
func (r *reader) value(c *model.Column, n *syntax.Node) (model.Value, bool) {
	null := model.Value{Kind: model.NullValue}
	if n.Null() {
		if !c.Nullable {
			r.report.Add(n.Pos, "E152", "column "+wording.Quote(c.Name)+" cannot be NULL", "")
		}
		return null, c.Nullable
	}
	text := n.Text
	if raw, ok := documentIn(c, n); ok {
		return constant(base64.StdEncoding.EncodeToString([]byte(raw))), true
	}
	switch {
	case c.Type.Kind == model.ColJSONB || c.Type.Kind == model.ColJSON:
		if n.Kind != syntax.ScalarNode {
			text = untyped(n)
		}
	case c.Type.Kind == model.ColArray && n.Kind == syntax.ListNode:
		text = arrayText(n)
		if _, err := oracle.Constant(c, text); err != nil {
			r.unfit(c, n, text, err.Error())
			return null, false
		}
		return constant(text), true
	case n.Kind != syntax.ScalarNode:
		r.report.Add(n.Pos, "E106", fmt.Sprintf("column %s must be a constant, not a %s", wording.Quote(c.Name), map[syntax.NodeKind]string{syntax.MapNode: "map", syntax.ListNode: "list"}[n.Kind]), "")
		return null, false
	}
	normal, why := typeword.ColumnConstant(c.Type, text)
	if why != typeword.Fits {
		hint := string(why)
		if c.Type.Kind == model.ColBytea {
			hint += "; JSON is a map or a list"
		}
		r.unfit(c, n, text, hint)
		return null, false
	}
	if c.Type.Kind == model.ColNamed && !slices.Contains(r.texts[c], normal) {
		r.texts[c] = append(r.texts[c], normal)
	}
	return constant(normal), true
}

// documentIn is the JSON that a case gives a bytea column: a map, a list, or the text of either,
// which base64 never is.
func documentIn(c *model.Column, n *syntax.Node) (raw string, ok bool) {
	switch {
	case c.Type.Kind != model.ColBytea:
		return "", false
	case n.Kind != syntax.ScalarNode:
		return untyped(n), true
	}
	return n.Text, isDocument([]byte(n.Text))
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(text []byte) bool {
	first := bytes.TrimLeft(text, " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[') && json.Valid(text)
}

func constant(text string) model.Value {
	return model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: text}}
}

func (r *reader) unfit(c *model.Column, n *syntax.Node, text, why string) {
	r.report.Add(n.Pos, "E304", fmt.Sprintf("constant %s does not fit column %s of type %s", wording.Quote(text), wording.Quote(c.Name), c.Type), why)
}

// arrayText is a list as Postgres writes an array.
func arrayText(n *syntax.Node) string {
	var parts []string
	for _, item := range n.Items {
		if item.Null() {
			parts = append(parts, "NULL")
			continue
		}
		parts = append(parts, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(item.Text)+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// depths says how many parents stand above each table: rows are inserted in this order.
func depths(tables []*model.Table) map[*model.Table]int {
	depth := map[*model.Table]int{}
	for range tables { // as many rounds as a chain can be long
		for _, t := range tables {
			for _, fk := range t.ForeignKeys {
				if fk.References != t {
					depth[t] = min(max(depth[t], depth[fk.References]+1), len(tables))
				}
			}
		}
	}
	return depth
}
