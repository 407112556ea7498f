package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func isPatch(a model.Assign) bool { return a.Value.Patch() }

// sentFlag names what says of a column whether the event holds its value.
func sentFlag(t *model.Table, c *model.Column) string {
	return free(c.InDatabase()+"_sent", func(name string) bool { return hasColumn(t, name) })
}

// patched is what a row that is there gets for a column: what the event sent, or what it has.
func patched(sent, value, stored string) string {
	return "CASE WHEN " + sent + " THEN " + value + " ELSE " + stored + " END"
}

// patch lets rows that are there keep what an event does not hold. A row that ON CONFLICT finds
// knows nothing of the event but its values, so it asks the events by its key.
func (in *insertion) patch() error {
	s := in.step
	in.readTwice()
	for i, a := range s.Set {
		name := columnIdent(a.Column)
		if a.Value.Sent() {
			in.Select[i] = name
		}
		if !isPatch(a) {
			continue
		}
		flag := ident(sentFlag(s.Table, a.Column))
		if a.Column.Default != nil {
			initial, err := defaultOf(a.Column)
			if err != nil {
				return err
			}
			in.Select[i] = patched(flag, name, initial) + " AS " + name
		}
		if at := slices.Index(in.Update, name+" = excluded."+name); at >= 0 {
			in.Update[at] = name + " = " + patched(in.anySent(flag), "excluded."+name, "t."+name)
		}
	}
	return nil
}

// readTwice gives the rows of the events a name.
func (in *insertion) readTwice() {
	s := in.step
	in.Alias = "t"
	in.Twice = &twice{Name: free("e", func(name string) bool { return name == s.Table.InDatabase() })}
	in.From = in.Twice.Name
	list := selection{step: s}
	for _, p := range s.Params() {
		list.add(p, columnIdent(p.Column))
	}
	in.Twice.Rows = list.items
}

// sentKeys are the columns of the row's key that tell events apart: constants do not, as all
// events have them.
func (in *insertion) sentKeys() (names []string) {
	for _, a := range in.step.Set {
		if a.Value.Sent() && slices.Contains(in.step.By, a.Column) {
			names = append(names, columnIdent(a.Column))
		}
	}
	return names
}

// anySent asks whether an event of the row holds a value.
func (in *insertion) anySent(flag string) string {
	names := in.sentKeys()
	var made []string
	for _, name := range names {
		made = append(made, "excluded."+name)
	}
	switch from := " FROM " + in.From + " WHERE " + flag + ")"; len(names) {
	case 0:
		return "EXISTS (SELECT" + from
	case 1:
		return made[0] + " IN (SELECT " + names[0] + from
	default:
		return "(" + bare(made) + ") IN (SELECT " + bare(names) + from
	}
}

// bare lists names on one line.
func bare(names []string) string {
	out := ""
	for i, name := range names {
		if i > 0 {
			out += ", "
		}
		out += name
	}
	return out
}

// defaultOf is what the database puts into a column that an INSERT leaves out.
func defaultOf(c *model.Column) (string, error) {
	if c.Default.Const != nil {
		return typedLiteral(c.Type, c.Default.Const)
	}
	return c.Default.Func, nil
}
