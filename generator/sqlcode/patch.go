package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
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
	in.From, in.Alias = free("e", func(name string) bool { return name == s.Table.InDatabase() }), "t"
	list := selection{step: s, flags: true}
	for i, a := range s.Set {
		if !a.Value.Sent() {
			continue
		}
		name := columnIdent(a.Column)
		list.add(a, name)
		in.Select[i] = name
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
			in.Update[at] = name + " = " + patched(in.excludedKey()+" IN (SELECT "+bare(idents(s.By))+" FROM "+in.From+" WHERE "+flag+")", "excluded."+name, "t."+name)
		}
	}
	if s.If.Newer != nil && !slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == s.If.Newer }) {
		list.add(model.Assign{Column: s.If.Newer, Value: s.If.Version}, columnIdent(s.If.Newer))
	}
	in.Asked = &asked{in.From, list.items}
	return nil
}

// excludedKey is the key of the row that an event would have made.
func (in *insertion) excludedKey() string {
	var names []string
	for _, name := range idents(in.step.By) {
		names = append(names, "excluded."+name)
	}
	if len(names) == 1 {
		return names[0]
	}
	return "(" + bare(names) + ")"
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
