package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
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
		return in.statement()
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
	branch
}

// branch is what an insert has beside that if its step tells or asks.
type branch struct {
	Asked     string   // which of From's rows the step is for; all if empty
	Returning []string // which rows were written; empty if nobody asks
	events    string   // the rows that were sent
}

func newInsertion(s *model.Step) (*insertion, error) {
	in := &insertion{step: s, Table: tableIdent(s.Table)}
	if s.Table.InDatabase() == "excluded" {
		in.Alias = "t" // excluded is also what Postgres calls the refused row
	}
	list := selection{step: s}
	switch p := s.Params()[0]; {
	case s.Tells || s.Asks:
		in.from()
	case p.Column == nil: // every value is fixed: positions say how many rows
		in.From, in.number = param(1, s.TypeOf(p.Value), nil)+" AS n", "n"
	}
	for _, a := range s.Set {
		name := columnIdent(a.Column)
		in.Columns = append(in.Columns, name)
		switch {
		case !a.Value.Sent():
		case s.Tells:
			list.items = append(list.items, name)
			continue
		case s.Asks:
			value, err := sentOrFixed(s, a)
			if err != nil {
				return nil, err
			}
			list.items = append(list.items, named(value, name))
			in.sent = append(in.sent, list.items[len(list.items)-1])
			continue
		default:
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
	in.Select = list.items
	in.order()
	return in, nil
}

// from is where the rows of a step come from that tells or asks.
func (in *insertion) from() {
	s := in.step
	own := func(name string) bool { return name == s.Table.InDatabase() || name == in.Alias }
	in.events = free("e", own)
	in.number = ident(free("ordinal", func(name string) bool { return hasColumn(s.Table, name) }))
	in.From, in.Asked = events(s, in.events, "", ""), asked(s)
	if s.Tells {
		in.From, in.number = in.events, numberName(s)
	}
}

// statement is the whole statement: one that tells has the rows of its events and the insert as
// parts.
func (in *insertion) statement() (string, error) {
	s := in.step
	if !s.Tells {
		return render("insert", in)
	}
	done := free("i", func(name string) bool { return name == s.Table.InDatabase() })
	columns, err := sent(s)
	if err != nil {
		return "", err
	}
	var on []string
	for _, c := range s.By {
		name := columnIdent(c)
		in.Returning = append(in.Returning, name)
		if assignTo(s.Set, c).Value.Sent() {
			on = append(on, done+"."+name+" = "+in.events+"."+name)
		}
	}
	insert, err := render("insert", in)
	if err != nil {
		return "", err
	}
	tell, err := tell(s, in.events, exists(done, on))
	if err != nil {
		return "", err
	}
	return render("insert_told", map[string]any{
		"Events": in.events, "Columns": append(columns, numberName(s)), "Source": events(s, in.events, "", ""), "Done": done, "Insert": insert, "Tell": tell,
	})
}

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
		if in.Asked != "" {
			in.From = events(in.step, in.events, "", in.number)
		}
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
