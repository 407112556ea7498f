package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["append"] = func(s *model.Step) (string, error) {
		n, err := newNumbering(s)
		if err != nil {
			return "", err
		}
		insert, err := n.insert()
		if err != nil {
			return "", err
		}
		return render("append", struct {
			*numbering
			Insert string
		}{n, insert})
	}
}

// numbering is a statement that appends rows to streams, as its templates print it. It numbers the
// events of a batch within their streams, and reads the last position of each stream once. Every
// name in it is quoted where needed.
type numbering struct {
	step     *model.Step
	Events   string   // the events, one row each
	Columns  []string // of Events
	Source   string
	Asked    string   // which of Source's rows the step is for; all if empty
	Streams  string   // the streams of Events
	Stream   []string // the columns that name one
	Last     []string // of Streams
	Expected bool     // the events say which positions they must get
	names             // that no column has
}

type names struct {
	Position string
	Place    string // of an event among those of its stream
	LastName string // of the last position that is there
}

func newNumbering(s *model.Step) (*numbering, error) {
	own := func(name string) bool { return name == s.Table.InDatabase() || name == "t" }
	n := &numbering{step: s, Events: free("e", own), Streams: free("s", own), Stream: idents(s.Stream.Columns)}
	unused := func(name string) string {
		return ident(free(name, func(name string) bool { return hasColumn(s.Table, name) }))
	}
	n.names = names{columnIdent(s.Stream.Position), unused("place"), unused("last")}
	ordinal := unused("ordinal")
	var stream []string // the values that name a stream
	for _, a := range s.Set {
		names := slices.Contains(s.Stream.Columns, a.Column)
		n.Expected = n.Expected || a.Column == s.Stream.Position && a.Value.Sent()
		if !a.Value.Sent() && !names {
			continue
		}
		value, err := sentOrFixed(s, a)
		if err != nil {
			return nil, err
		}
		n.Columns = append(n.Columns, named(value, columnIdent(a.Column)))
		if names {
			stream = append(stream, value)
		}
	}
	n.Columns = append(n.Columns, "row_number() OVER (PARTITION BY "+list(stream)+" ORDER BY "+ordinal+") AS "+n.Place)
	n.Source, n.Asked = events(s, n.Events, unused("one"), ordinal), asked(s)
	n.Last = append(slices.Clone(n.Stream), "coalesce((SELECT max(t."+n.Position+") FROM "+tableIdent(s.Table)+" AS t WHERE "+n.inStream()+"), 0) AS "+n.LastName)
	return n, nil
}

// inStream is the condition by which a row of the table is one of a stream.
func (n *numbering) inStream() string {
	var on []string
	for _, c := range n.Stream {
		on = append(on, "t."+c+" = "+n.Events+"."+c)
	}
	return all(0, on)
}

func (n *numbering) insert() (string, error) {
	data := struct {
		Table, Events, Streams       string
		Names, Values, Stream, Order []string
	}{Table: tableIdent(n.step.Table), Events: n.Events, Stream: n.Stream}
	if !n.Expected {
		data.Streams = n.Streams
	}
	for _, a := range n.step.Set {
		name := columnIdent(a.Column)
		value := name
		switch {
		case a.Value.Kind == model.NextValue:
			value = n.LastName + " + " + n.Place + " AS " + name
		case !a.Value.Sent() && !slices.Contains(n.step.Stream.Columns, a.Column):
			text, err := typedFixed(a)
			if err != nil {
				return "", err
			}
			value = text + " AS " + name
		}
		data.Names, data.Values = append(data.Names, name), append(data.Values, value)
	}
	data.Order = append(slices.Clone(n.Stream), n.Place)
	return render("append_insert", data)
}

// Done, Quoted and QuotedPosition are for the refusal.
func (n *numbering) Done() string {
	return free("i", func(name string) bool { return name == n.step.Table.InDatabase() })
}
func (n *numbering) Quoted() string         { return quote(n.step.Table.Name) }
func (n *numbering) QuotedPosition() string { return quote(n.step.Stream.Position.Name) }
