package generator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/survey"
)

// topicNames are the names that are taken, as they collide in Go: without _ and in small letters.
type topicNames map[string]bool

// eventNames returns a set with the names that no event may have.
func eventNames() topicNames {
	n := topicNames{}
	for _, name := range []string{"Consumer", "Handler", "Option", "Config", "NewConsumer", "StubHandler", "NewTestHandler", "EditTestLog", "Service", "TestCases"} {
		n.free(name)
	}
	return n
}

// free returns the name, or the first one with a number behind it that is not taken.
func (n topicNames) free(name string) string {
	squash := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	unique := name
	for i := 2; n[squash(unique)]; i++ {
		unique = name + "x" + strconv.Itoa(i)
	}
	n[squash(unique)] = true
	return unique
}

// entry returns a free name of a field or table.
func (n topicNames) entry(text, prefix string) string {
	name := entryName(isHump.ReplaceAllString(text, "${1}_$2"), prefix, map[string]bool{})
	if slices.Contains([]string{"each", "result", "format", "log_value"}, name) {
		name = prefix + "_" + name
	}
	return n.free(name)
}

var betweenWords = regexp.MustCompile(`[^A-Za-z0-9]+`)

// event returns a free name of an event. Of a Java class only the last name counts.
func (n topicNames) event(text string) string {
	if last := text[strings.LastIndexByte(text, '.')+1:]; last != text && last != "" && last[0] >= 'A' && last[0] <= 'Z' {
		text = last
	}
	var name strings.Builder
	for _, word := range betweenWords.Split(text, -1) {
		if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	if name.Len() == 0 {
		return n.free("Received")
	}
	return n.free(name.String()[:min(name.Len(), 50)])
}

// event writes an event, and the table of its rows: its key, the record key and its fields.
func (w *topicWriter) event(e *survey.Event, events, tables topicNames) {
	out, table := scaffold.TopicEvent{Name: events.event(e.Type), Records: e.Records}, scaffold.TopicTable{}
	if e.Type != "" {
		out.Type = yamlWord(e.Type)
		table.Name = tables.entry(out.Name, "t")
	} else {
		table.Name = tables.entry(w.Topic, "t")
	}
	out.Table = table.Name
	if !w.shared {
		of := []*survey.Candidate{}
		if e.Key != nil {
			of = append(of, e.Key)
		}
		out.Key = w.key(of)
	}
	field := func(name, text, column, note string) {
		out.Fields = append(out.Fields, scaffold.TopicField{Name: name, Text: text, Note: note})
		if !slices.ContainsFunc(table.Columns, func(c scaffold.Column) bool { return c.Name == name }) {
			table.Columns = append(table.Columns, scaffold.Column{Name: name, Type: column})
		}
	}
	switch {
	case e.Key == nil:
		partition, offset := w.field("\x00kafka_partition"), w.field("\x00kafka_offset")
		table.Primary = partition + ", " + offset
		field(partition, "{type: int32, record: partition}", "integer", "")
		field(offset, "{type: int64, record: offset}", "bigint", "")
	case e.Key.Header != "":
		table.Primary = w.field("\x00" + e.Key.Header)
		field(table.Primary, "{type: string, header: "+yamlWord(e.Key.Header)+"}", "text", "")
	default:
		table.Primary = w.field(e.Key.Member)
		table.Columns = append(table.Columns, scaffold.Column{Name: table.Primary, Type: columnType(e.Key.Type, false)})
	}
	if w.part.Name != "" && w.part.Name != table.Primary {
		table.Columns = append(table.Columns, scaffold.Column{Name: w.part.Name, Type: columnType(w.part.Type, false)})
	}
	for _, f := range e.Fields {
		w.member(f, e, field)
	}
	if e.Open {
		out.Notes = append(out.Notes, "Its values have too many member names to be fields, so the value is one field. Decide which")
		out.Notes = append(out.Notes, "members you need; map(T) reads an object whose member names are data.")
		field(w.field("\x00body"), "{type: json, record: value}", "jsonb", "")
	}
	for i, name := range e.Null {
		if e.Null[i] = strconv.Quote(name); i == 0 {
			out.Notes = append(out.Notes, "")
		}
	}
	if len(e.Null) > 0 {
		out.Notes[len(out.Notes)-1] = "Left out, because null in every record: " + strings.Join(e.Null, ", ") + "."
	}
	if e.Records < 20 {
		out.Notes = append(out.Notes, fmt.Sprintf("Only %s: decide which fields may be missing, and write optional T for them.", counted(e.Records)))
	}
	w.out.Events, w.out.Tables = append(w.out.Events, out), append(w.out.Tables, table)
}

// member writes a field of an event.
func (w *topicWriter) member(f survey.Field, e *survey.Event, field func(name, text, column, note string)) {
	name, text, note := w.field(f.Member), f.Type, ""
	if f.Optional {
		text, note = "optional "+text, fmt.Sprintf("in %d of %d records", f.Records, e.Records)
	}
	if name != f.Member {
		text = fmt.Sprintf("{type: %s, path: %s}", text, pathWord(f.Member))
	}
	if f.Type == "float64" {
		note = strings.TrimPrefix(note+"; decide: decimal, if it is an amount", "; ")
	}
	field(name, text, columnType(f.Type, f.Optional), note)
}
