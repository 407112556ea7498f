package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Each small spec of testdata has its problems or, if it has none, what its events become: the
// fields of their structs, what copies share, and each step.
func TestWhatSmallSpecsBecome(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		blocks, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(strings.TrimSuffix(string(blocks), "\n"), "\n----\n") {
			written, want, _ := strings.Cut(block, "\n=> ")
			_, service, problems := Read("s", []byte(written+"\nversion: 1\nconsumer: c\npackage: p\n"), nil)
			var got []string
			for _, d := range problems.Sorted() {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%d:%d %s %s | %s", d.Pos.Line, d.Pos.Col, d.Code, d.Message, d.Hint), " | "))
			}
			if service != nil {
				got = eventsOf(service)
			}
			if got := strings.Join(got, "\n=> "); got != want {
				t.Errorf("%s:\n%s\nwant\n=> %s\ngot\n=> %s", file, written, want, got)
			}
		}
	}
}

// eventsOf are the events of a service, one line each, and their steps.
func eventsOf(s *model.Service) (lines []string) {
	for _, topic := range s.Topics {
		for _, e := range topic.Events {
			line := e.Name + ":"
			for _, f := range e.Fields {
				line += " " + f.Name + namedIn(f.Type)
			}
			if f := e.Effect; f != nil {
				line += fmt.Sprintf("; effect: timeout %s, keep %s, interrupts %v", f.Timeout, f.Keep, f.Interrupts)
				if f.Result != nil {
					line += ", result" + namedIn(model.FieldType{Named: f.Result})
				}
			}
			if e.Key != nil && !e.Key.Offset {
				line += "; compared:"
				for _, f := range e.Key.Compared {
					line += " " + f.Name
				}
			}
			lines = append(lines, line)
			for _, st := range e.Steps {
				lines = append(lines, stepLine(st))
			}
		}
	}
	return lines
}

// namedIn is the named type in a type, with its members.
func namedIn(t model.FieldType) (text string) {
	for t.Elem != nil {
		t = *t.Elem
	}
	if t.Named == nil {
		return ""
	}
	for _, v := range t.Named.Enum {
		text += v.GoName + " "
	}
	for _, m := range t.Named.Fields {
		text += m.Name + "@" + strings.Join(m.Source.Path, ".") + namedIn(m.Type) + " "
	}
	return "<" + t.Named.GoName + " " + t.Named.Naming + ": " + strings.TrimSpace(text) + ">"
}

func stepLine(st *model.Step) string {
	line := st.GoName + ":"
	for _, fact := range []struct {
		is   bool
		name string
	}{{st.Makes, "makes"}, {st.Changes, "changes"}, {st.Removes, "removes"}, {st.Sums, "sums"}, {st.Gathers, "gathers"},
		{st.Facts.Whole, "whole"}, {st.Contended, "contended"}, {st.Collapse, "collapse"}, {st.Many, "many"}} {
		if fact.is {
			line += " " + fact.name
		}
	}
	if st.Each != nil {
		line += " each " + st.Each.Name
	}
	for _, a := range st.Where {
		line += fmt.Sprintf(" where %s=%s", a.Column.Name, valueText(a.Value))
	}
	for _, c := range st.By {
		line += " by " + c.Name
	}
	for _, a := range st.Set {
		line += fmt.Sprintf(" %s %s=%s", []string{"set", "keep", "plus", "minus"}[a.How], a.Column.Name, valueText(a.Value))
	}
	line += fmt.Sprintf("; exists %q, missing %q", st.If.Exists, st.If.Missing)
	if st.If.Newer != nil {
		line += fmt.Sprintf(", newer %s<%s", st.If.Newer.Name, valueText(st.If.Version))
	}
	for _, p := range st.Params() {
		if p.Column == nil {
			line += " $" + valueText(p.Value)
			continue
		}
		line += " $" + p.Column.Name + "=" + valueText(p.Value)
	}
	return line
}

func valueText(v model.Value) string {
	text := []string{"", "field", "result", "each", "const", "now", "position", "sent", "null", "id"}[v.Kind]
	if v.Field != nil {
		text += "." + v.Field.Name
	}
	if v.Const != nil {
		text += "." + v.Const.Text
	}
	return text
}
