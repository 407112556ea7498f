package syntax

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// told compares the problems of each text in a file of testdata with those below it. In a text, ␉
// is a tab, and ⏹ at its end leaves the last line without a newline.
func told(t *testing.T, file string, problems func(text string) Diagnostics) {
	t.Helper()
	blocks, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(strings.TrimSuffix(string(blocks), "\n"), "\n----\n") {
		written, want, _ := strings.Cut(block, "\n=> ")
		text := strings.TrimSuffix(strings.ReplaceAll(written, "␉", "\t")+"\n", "⏹\n")
		var got []string
		ds := problems(text)
		for _, d := range ds.Sorted() {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%d:%d+%d %s %s | %s", d.Pos.Line, d.Pos.Col, d.Pos.Width, d.Code, d.Message, d.Hint), " | "))
		}
		if got := strings.Join(got, "\n=> "); got != want {
			t.Errorf("%s:\n%s\nwant\n=> %s\ngot\n=> %s", file, written, want, got)
		}
	}
}

// What is told of a file that YAML, or this language of it, does not allow, and nothing of others.
func TestWhatIsToldOfYAML(t *testing.T) {
	told(t, "testdata/yaml.txt", func(text string) Diagnostics {
		n, ds := Parse([]byte(text))
		if s, _ := Load("x.yaml", []byte(text)); n == nil && !s.Broken {
			t.Errorf("a spec of %q is not broken", text)
		}
		return ds
	})
}

// What is told of cases.
func TestWhatIsToldOfCases(t *testing.T) {
	told(t, "testdata/cases.txt", func(text string) Diagnostics {
		_, ds := LoadCase("x.yaml", []byte(text))
		return ds
	})
}

// What is told of sections that are refused, in front of a spec that is whole without them.
func TestWhatIsToldOfSections(t *testing.T) {
	whole := func(text string) Diagnostics {
		spec := text
		for _, line := range []string{"version: 1", "consumer: a", "package: a", "topics: {t: {events: {E: {handle: true}}}}"} {
			if key, _, _ := strings.Cut(line, ":"); !strings.Contains("\n"+text, "\n"+key+":") {
				spec += line + "\n"
			}
		}
		_, ds := Load("x.yaml", []byte(spec))
		return ds
	}
	for _, of := range []string{"names", "topics", "tables", "steps"} {
		told(t, "testdata/"+of+".txt", whole)
	}
}
