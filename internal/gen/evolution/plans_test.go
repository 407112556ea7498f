package evolution

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/plans.txt")

// testdata/plans.txt has the whole plan of each of many changes of testdata/idemgen.yaml:
//
//	# what changes
//	< text that is replaced
//	> by this one
//	verdict: change
//	    why
//	    to do: what to do
//
// A plan has one line for one change, and names the change, its meaning and what to do about it.
func TestPlans(t *testing.T) {
	spec := read(t, "testdata/idemgen.yaml")
	before := read(t, "testdata/plans.txt")
	var after strings.Builder
	old := load(t, spec)
	for _, part := range strings.Split(before, "\n\n") {
		var edits []string
		for _, line := range strings.Split(part, "\n") {
			switch text := strings.ReplaceAll(line[min(2, len(line)):], `\n`, "\n"); {
			case strings.HasPrefix(line, "# "):
				after.WriteString(line + "\n")
			case strings.HasPrefix(line, "< "):
				if strings.Count(spec, text) != 1 {
					t.Errorf("%d times %q", strings.Count(spec, text), text)
				}
				after.WriteString(line + "\n")
				edits = append(edits, text)
			case strings.HasPrefix(line, ">"):
				after.WriteString(line + "\n")
				edits = append(edits, text)
			}
		}
		new := load(t, strings.NewReplacer(edits...).Replace(spec))
		changes := Compare(old, new)
		if contradict(changes) {
			t.Errorf("two lines contradict each other: %q", changes)
		}
		for _, c := range changes {
			fmt.Fprintf(&after, "%s: %s\n    %s\n", c.Verdict, c.What, c.Why)
			if c.Do != "" {
				fmt.Fprintf(&after, "    to do: %s\n", c.Do)
			}
		}
		after.WriteString("\n")
	}
	got := strings.TrimSuffix(after.String(), "\n")
	if *update {
		if err := os.WriteFile("testdata/plans.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != before {
		was, is := strings.Split(before, "\n"), strings.Split(got, "\n")
		for i := range was {
			if i >= len(is) || was[i] != is[i] {
				t.Fatalf("line %d of testdata/plans.txt:\n%s\nis now\n%s", i+1, was[i], append(is, "", "")[min(i, len(is))])
			}
		}
		t.Fatalf("the plans have further lines:\n%s", strings.Join(is[len(was):], "\n"))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}
