package cases_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/cases"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// TestDraftOfEveryEvent: the draft of a case for any event is refused as long as its then is a
// comment. Without the signs of the comments, and without blanks to fill in, it is a whole case,
// which the spec's steps meet: it proposes no row that a handler might write.
func TestDraftOfEveryEvent(t *testing.T) {
	files, _ := filepath.Glob("../../../testdata/golden/accepted/*/idemgen.yaml")
	drafts := 0
	for _, file := range files {
		s := service(t, file)
		for _, topic := range s.Topics {
			for _, e := range topic.Events {
				text := string(cases.Draft(s, e))
				if problems := whole(s, text, nil); problems.Errors() == 0 {
					t.Errorf("%s, %s: a case that says nothing of what must be there is accepted\n%s", file, e.Name, text)
				}
				before, then, _ := strings.Cut(text, "\nthen:\n")
				text = before + "\nthen:\n" + strings.ReplaceAll("\n"+then, "\n#  ", "\n  ")[1:]
				problems := whole(s, blank.ReplaceAllString(text, ""), func(c *cases.Case) {
					leaves(t, s, e, c, text)
					for _, table := range c.Then {
						if e.Handle && !slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Table.Name == table.Name }) {
							t.Errorf("%s, %s: rows of %s, which no step writes, are proposed\n%s", file, e.Name, table.Name, text)
						}
					}
				})
				if e.Handle && strings.HasSuffix(strings.TrimSpace(blank.ReplaceAllString(text, "")), "\nthen:") {
					problems = syntax.Diagnostics{} // nothing but blanks: what the handler leaves is for its author to say
				}
				if e.Handle != strings.Contains(text, "the Go handler of "+e.Name) {
					t.Errorf("%s, %s: who says what the handler leaves?\n%s", file, e.Name, text)
				}
				if problems.Errors() > 0 {
					t.Errorf("%s, %s: %v\n%s", file, e.Name, problems.Sorted(), text)
				}
				drafts++
			}
		}
	}
	if drafts < 100 {
		t.Errorf("%d drafts", drafts)
	}
}

// blank is a table whose rows only the author of a handler knows.
var blank = regexp.MustCompile(`(?m)^  \w+:(?: \.\.\.|\n    - \{(?:\w+: \.\.\.(?:, )?)+\})$\n?`)

func service(t *testing.T, file string) *model.Service {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, bad := syntax.Load("idemgen.yaml", data)
	read, unread := messages.Read(spec, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(filepath.Dir(file), path)) })
	s, more := resolve.Resolve(spec)
	bad.Append(unread)
	if bad.Append(more); s != nil && bad.Errors() == 0 {
		bad.Append(read.Attach(s))
	}
	if bad.Errors() > 0 {
		t.Fatalf("%s: %v", file, bad.Sorted())
	}
	return s
}

// whole reads a case, and gives it to then if there is nothing wrong with it.
func whole(s *model.Service, text string, then func(*cases.Case)) syntax.Diagnostics {
	parsed, problems := syntax.LoadCase("case.yaml", []byte(text))
	if parsed.Broken {
		return problems
	}
	c, more := cases.Resolve(s, oracle.New(s), parsed)
	if problems.Append(more); problems.Errors() == 0 && then != nil {
		then(c)
	}
	return problems
}

// leaves plays a case as the generated test does, without Go code.
func leaves(t *testing.T, s *model.Service, e *model.Event, c *cases.Case, text string) {
	in := oracle.New(s)
	for _, r := range c.Given {
		if err := in.Insert(r); err != nil {
			t.Error(err)
		}
	}
	offsets := map[string]int64{}
	for i, r := range c.Records {
		at := r.Time
		if at.IsZero() {
			at = time.Date(2001, 1, 1, 0, 0, i, 0, time.UTC)
		}
		sent := oracle.Record{Topic: r.Topic, Offset: offsets[r.Topic], Time: at, Result: r.Result}
		sent.Key, sent.Value = seedlog.Packed(e.Topic, r.Key, r.Value)
		for _, h := range r.Headers {
			sent.Headers = append(sent.Headers, oracle.Header{Name: h.Name, Value: seedlog.PackedHeader(e.Topic, h.Name, h.Value)})
		}
		offsets[r.Topic]++
		if out := in.Apply(sent); out.Kind == oracle.Stop || out.DeadLetter() != "" && len(c.DeadLetters) == 0 {
			t.Errorf("%s %s: record %d: %v\n%s", s.Source, e.Name, i, out, text)
		}
	}
	for _, table := range c.Then {
		if rows := in.Values(table.Name); len(table.Columns) > 0 && !slices.EqualFunc(rows, table.Rows, slices.Equal) || len(rows) != table.Count {
			t.Errorf("%s %s: table %s has %q\n%s", s.Source, e.Name, table.Name, rows, text)
		}
	}
}
