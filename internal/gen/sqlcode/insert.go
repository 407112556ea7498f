package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func init() {
	verbs["insert"] = func(s *model.Step) (string, error) {
		in, err := newInsertion(s)
		if err != nil {
			return "", err
		}
		if s.If.Exists == "skip" {
			in.Conflict = idents(s.By)
		}
		return in.counted()
	}
}

// insertion is an INSERT as its template prints it; every name in it is quoted where needed.
type insertion struct {
	step     *model.Step
	sent     []string // items of Select that the events fill
	number   string   // column that numbers the events; "" if there is none
	Table    string
	Alias    string // "" if nothing names the table
	Columns  []string
	Select   []string // in the order of Columns
	From     string   // "" if the select list makes the rows
	Distinct []string
	Order    []string
	Conflict []string // the unique key by which a row may be there already
	Update   []string // what is done to that row then; nothing if empty
	Guard    string   // if_newer
	Twice    *twice   // the rows of the events, if the statement reads them twice
}

// twice are rows under a name.
type twice struct {
	Name string
	Rows []string
}

func newInsertion(s *model.Step) (*insertion, error) {
	in := &insertion{step: s, Table: tableIdent(s.Table)}
	if s.Table.InDatabase() == "excluded" {
		in.Alias = "t" // excluded is also what Postgres calls the refused row
	}
	list := selection{step: s}
	if p := s.Params()[0]; p.Column == nil { // every value is fixed: positions say how many rows
		in.From, in.number = param(1, s.TypeOf(p.Value), nil)+" AS n", "n"
	}
	for _, a := range s.Set {
		name := columnIdent(a.Column)
		in.Columns = append(in.Columns, name)
		if a.Value.Sent() {
			list.add(a, name)
			in.sent = append(in.sent, list.items[len(list.items)-1])
			continue
		}
		text, err := typedFixed(a)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, text+" AS "+name)
	}
	if id := s.OutboxID(); id != nil {
		name := columnIdent(id)
		in.Columns = append(in.Columns, name)
		list.add(model.Assign{Column: id, Value: model.Value{Kind: model.EventIDValue}}, name)
		in.sent = append(in.sent, list.items[len(list.items)-1])
	}
	in.Select = list.items
	in.order()
	return in, nil
}

func (in *insertion) statement() (string, error) { return render("insert", in) }

// order sorts rows by the key whose index entries they lock, so that two transactions
// lock in one order; rows whose key the database makes keep the order of the events.
func (in *insertion) order() {
	for _, c := range in.step.By {
		if slices.ContainsFunc(in.step.Set, func(a model.Assign) bool { return a.Column == c }) {
			in.Order = append(in.Order, columnIdent(c))
		}
	}
	if len(in.Order) < len(in.step.By) {
		in.Order = append(in.Order, in.position())
	}
}

// position is the place of a row among those of the events.
func (in *insertion) position() string {
	if in.number != "" {
		return in.number
	}
	first := in.step.Params()[0]
	return "generate_subscripts($1::" + paramType(in.step.TypeOf(first.Value), first.Column) + "[], 1)"
}

// typedFixed is a value that is not sent, with its type, which a select list does not know.
func typedFixed(a model.Assign) (string, error) {
	switch a.Value.Kind {
	case model.NowValue:
		return "now()", nil
	case model.NullValue:
		return "NULL::" + castType(a.Column.Type), nil
	}
	return typedLiteral(a.Column.Type, a.Value.Const)
}
